"""Stored entries: what an earlier version wrote is still read."""

import json
from datetime import UTC, datetime

import pytest

from chatops_bot.domain.model import Reasoning, Usage
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import ModelSaid
from chatops_bot.stores.codec import entry_from, entry_text, proposal_from, proposal_text

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


OLD_PROPOSAL = {
    "id": "prop_1", "code": "K7QFAB", "session": {"platform": "slack", "workspace": "T1", "channel": "C1", "thread": "1.1"},
    "turn_id": "turn_1", "call_id": "c1", "tool": "pause_task", "effect": "write", "arguments": {"task_id": 3, "action": "pause"},
    "plan": {
        "target": "task #3", "summary": {"zh": "暂停", "en": "pause"}, "changes": [{"field": "status", "before": "enabled", "after": None}],
        "risk": "low", "preconditions": {"status": "enabled"}, "details": [[{"zh": "负载", "en": "payload"}, "echo hi"]],
    },
    "risk": "low", "requester_id": "U1", "requester_name": "奥斯卡", "language": "zh", "created_at": "2026-03-02T14:32:00Z",
    "expires_at": "2026-03-02T15:32:00Z", "digest": "d", "state": "applied", "revision": 3, "card": None, "shown_revision": -1,
    "decided_by_id": "U2", "decided_by_name": "Ana", "decided_by_role": "approver", "decided_at": "2026-03-02T14:33:00Z",
    "finished_at": "2026-03-02T14:33:01Z", "outcome": {"status": "disabled", "verified": True}, "outcome_text": "已暂停",
}  # fmt: skip
"""As version 0.3 wrote it: one decision, no seal over tool and rules."""


@pytest.mark.case("hitl-C26")
def test_a_proposal_of_an_earlier_version_is_read_and_loses_nothing_on_the_way_back():
    proposal = proposal_from(json.dumps(OLD_PROPOSAL), "prop_1")
    assert proposal.state is ProposalState.APPLIED
    assert (proposal.tool_hash, proposal.votes, proposal.quorum) == ("", (), 1)
    written = json.loads(proposal_text(proposal))
    kept = {name: written[name] for name in OLD_PROPOSAL if name != "plan"}
    assert kept == {name: value for name, value in OLD_PROPOSAL.items() if name != "plan"}
    assert written["plan"] == {**OLD_PROPOSAL["plan"], "inverse": None}  # type: ignore[dict-item]  # a mapping
    assert proposal_from(json.dumps(written), "prop_1") == proposal
