"""Stored entries: what an earlier version wrote is still read."""

import json
from datetime import UTC, datetime

from chatops_bot.domain.model import Reasoning, Usage
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import ModelSaid
from chatops_bot.stores.codec import entry_from, entry_text

SAID = ModelSaid(
    "turn_1",
    datetime(2026, 3, 2, 14, 32, tzinfo=UTC),
    "text",
    Reasoning("", "reasoning_content", '{"reasoning_details": []}'),
    (ToolCall("c", "look", "{}", '{"extra_content": {}}'),),
    "m at host",
    Usage(9, 2, 4, 1),
)


def test_a_model_message_comes_back_as_it_was():
    assert entry_from(entry_text(SAID)) == SAID


def test_a_bare_reasoning_text_is_dropped_since_nobody_knows_whose_it_was():
    written = json.loads(entry_text(SAID))
    old = {key: written[key] for key in ("turn_id", "at", "text", "kind")}
    old |= {"reasoning": "hm", "calls": [{"id": "c", "name": "look", "arguments": "{}"}]}
    said = entry_from(json.dumps(old))
    assert isinstance(said, ModelSaid)
    assert (said.text, said.reasoning, said.model, said.usage) == ("text", Reasoning(), "", Usage())
