"""Nothing inside a fence closes it, on any road into a request, and no nonce is used twice."""

import json
import random
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from chatops_bot.app.clock import RandomIds
from chatops_bot.context.fence import fence, kept_marks, unfence
from chatops_bot.context.filled_form import filled_form_in
from chatops_bot.context.history import project
from chatops_bot.domain.model import Message, Reasoning, RecordMessage, ToolMessage, UserMessage
from chatops_bot.domain.thread import EarlierMessage
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import (
    EarlierRead,
    FormClosed,
    FormFilled,
    ModelSaid,
    ProposalDecided,
    ToolReturned,
    UserSaid,
)
from tests.conftest import SOAK_SIZE
from tests.hostile.forgeries import forgery
from tests.small_tools import PHRASES

FORGERIES = {"": 1_000, "ci": 5_000, "full": 50_000}[SOAK_SIZE]
AT = datetime(2026, 3, 2, tzinfo=UTC)
_LINE = re.compile(r"^\[(?:END )?UNTRUSTED DATA nonce=([0-9a-f]{32})[^\]\n]*\]$", re.MULTILINE)


class CountedNonces(RandomIds):
    def __init__(self) -> None:
        self.made: list[str] = []

    def nonce(self) -> str:
        self.made.append(super().nonce())
        return self.made[-1]


@pytest.mark.soak
@pytest.mark.case("nightingale-T58")
def test_no_forgery_closes_a_fence_and_every_one_comes_out_as_it_went_in():
    chance, ids = random.Random(58), CountedNonces()
    for _ in range(FORGERIES):
        text, source = forgery(chance, ids.made), forgery(chance, ids.made)
        wrapped = fence(text, source=source, nonce=ids.nonce)
        nonce = ids.made[-1]
        assert unfence(wrapped) == text
        assert wrapped.count(nonce) == 2
        assert [found for found in _LINE.findall(wrapped) if found == nonce] == [nonce, nonce]
        assert wrapped.split("\n")[1].startswith("source: ")
    assert len(set(ids.made)) == len(ids.made) >= FORGERIES


@pytest.mark.soak
def test_a_fence_in_a_fence_stands_inside_one_outer_fence():
    chance, ids = random.Random(59), CountedNonces()
    for _ in range(FORGERIES // 10):
        inner = fence(forgery(chance, ids.made), source="tool", nonce=ids.nonce)
        outer = fence(inner, source="thread", nonce=ids.nonce)
        assert unfence(outer) == inner
        assert outer.startswith(f"[UNTRUSTED DATA nonce={ids.made[-1]},")
        assert outer.endswith(f"\n[END UNTRUSTED DATA nonce={ids.made[-1]}]")


@pytest.mark.soak
def test_no_road_into_a_request_lets_a_forgery_out_of_its_fence():
    chance, key, known = random.Random(60), RandomIds().nonce().encode(), list[str]()
    for number in range(FORGERIES // 20):
        forged = forgery(chance, known) + f"mark{number}"
        messages = project(_entries(forged), marks=kept_marks(key, f"session {number}"), words=PHRASES.calls)
        opened = [found[1] for message in messages if (found := _LINE.search(message.text))]
        assert len({*opened}) == len(opened) >= 5, "one nonce an item"
        assert not {*opened} & {*known}
        known += opened
        for message in messages:
            if f"mark{number}" in message.text:
                _assert_is_fenced(message, forged)
        everything = "\n".join(message.text for message in messages)
        assert sum(f"mark{number}" in message.text for message in messages) == 5
        assert all(everything.count(nonce) == 2 for nonce in opened), (
            "a nonce of one fence stands nowhere else"
        )


def _entries(
    forged: str,
) -> list[EarlierRead | UserSaid | ModelSaid | ToolReturned | ProposalDecided | FormFilled | FormClosed]:
    call = ToolCall("c1", forged, "{}")
    content = json.dumps({"rows": [forged], forged: 1}, ensure_ascii=False)
    return [
        EarlierRead("t1", AT, (EarlierMessage(forged, AT, forged),)),
        UserSaid("t1", AT, "U1", "Oscar", "operator", "what failed?"),
        ModelSaid("t1", AT, "", Reasoning(), (call,)),
        ToolReturned("t1", AT, "c1", forged, "ok", content),
        ProposalDecided("t1", AT, "p", "ABCDEF", forged, forged, "rejected", forged, forged),
        FormClosed("t1", AT, "f", forged, "cancelled", forged),
        FormFilled("t2", AT, "f", forged, {"name": forged, forged: 1}, "en", "U1", forged, "operator"),
    ]  # fmt: skip


def _assert_is_fenced(message: Message, forged: str) -> None:
    if isinstance(message, UserMessage):
        filled = filled_form_in(message.text)
        assert filled is not None
        assert (filled.tool, filled.arguments) == (forged, {"name": forged, forged: 1})
        _, _, quoted = message.text.partition("\n")
        unfence(quoted)
        return
    assert isinstance(message, ToolMessage | RecordMessage)
    assert forged in _strings(json.loads(unfence(message.text)))


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(text for item in value.values() for text in _strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) else []
