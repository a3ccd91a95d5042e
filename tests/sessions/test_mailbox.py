"""One turn at a time in a session, in the order in which people wrote; sessions do not wait for each other."""

import asyncio
from collections import defaultdict

import pytest

from chatops_bot.domain.session import SessionKey
from chatops_bot.sessions.mailbox import Mailboxes, TurnInput
from tests.small_tools import OSCAR

HERE, THERE = SessionKey("slack", "T1", "C1", "1.1"), SessionKey("slack", "T1", "C1", "2.2")


class Turns:
    """Plays turns that begin at once and end when the test says so."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.begun: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.may_end: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def conduct(self, turn: TurnInput) -> None:
        self.events.append(f"begin {turn.text}")
        self.begun[turn.text].set()
        try:
            await self.may_end[turn.text].wait()
            self.events.append(f"end {turn.text}")
        except asyncio.CancelledError:
            self.events.append(f"cancel {turn.text}")
            raise

    async def is_begun(self, text: str) -> None:
        await asyncio.wait_for(self.begun[text].wait(), 5)


def asked(text: str, session: SessionKey = HERE) -> TurnInput:
    return TurnInput(f"turn_{text}", session, OSCAR, text)


@pytest.fixture
def turns() -> Turns:
    return Turns()


async def test_a_message_that_comes_during_a_turn_waits_and_order_is_kept(turns: Turns):
    boxes = Mailboxes(turns.conduct)
    for text in ("first", "second", "third"):
        boxes.put(asked(text))
    await turns.is_begun("first")
    assert turns.events == ["begin first"]
    for text in ("third", "second", "first"):
        turns.may_end[text].set()
    await turns.is_begun("third")
    await boxes.cut(5)
    assert turns.events[:5] == ["begin first", "end first", "begin second", "end second", "begin third"]


async def test_two_sessions_run_side_by_side(turns: Turns):
    boxes = Mailboxes(turns.conduct)
    turns.may_end["there"].set()
    boxes.put(asked("here"))
    boxes.put(asked("there", THERE))
    await turns.is_begun("there")
    await boxes.cut(5)
    assert turns.events == ["begin here", "begin there", "end there", "cancel here"]


async def test_a_session_that_came_to_rest_takes_the_next_message(turns: Turns):
    boxes = Mailboxes(turns.conduct)
    for text in ("one", "two"):
        turns.may_end[text].set()
        boxes.put(asked(text))
        await turns.is_begun(text)
    await boxes.cut(5)
    assert turns.events[:3] == ["begin one", "end one", "begin two"]


async def test_closing_cancels_what_runs_drops_what_waits_and_takes_nothing_more(turns: Turns):
    boxes = Mailboxes(turns.conduct)
    boxes.put(asked("runs"))
    boxes.put(asked("waits"))
    await turns.is_begun("runs")
    await boxes.cut(5)
    boxes.put(asked("late"))
    assert turns.events == ["begin runs", "cancel runs"]
