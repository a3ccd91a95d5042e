"""One turn at a time in a session, in the order in which people wrote; sessions do not wait for each other."""

import asyncio
import contextlib
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.session import SessionKey
from chatops_bot.sessions.ending import LETTING_GO_SECONDS
from chatops_bot.sessions.mailbox import WAITING_LIMIT, Mailboxes, TurnInput, restored_input, stored_input
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


async def test_everybody_who_waits_is_told_how_many_are_before_them(turns: Turns):
    told: list[tuple[str, int]] = []
    boxes = Mailboxes(turns.conduct, lambda turn, ahead: told.append((turn.text, ahead)))
    for text in ("first", "second", "third"):
        boxes.put(asked(text))
    await turns.is_begun("first")
    assert told[-1] == ("third", 2)
    assert ("second", 1) in told
    turns.may_end["first"].set()
    await turns.is_begun("second")
    assert told[-1] == ("third", 1)
    assert "first" not in dict(told)
    await boxes.cut(5)


async def test_what_waits_can_be_taken_back_and_what_runs_cannot(turns: Turns):
    boxes = Mailboxes(turns.conduct)
    for text in ("first", "second", "third"):
        boxes.put(asked(text))
    await turns.is_begun("first")
    assert boxes.running(HERE) == asked("first")
    assert boxes.find(HERE, "turn_second") == asked("second")
    assert boxes.withdraw(asked("second"))
    assert not boxes.withdraw(asked("second"))
    assert not boxes.withdraw(asked("first"))
    turns.may_end["first"].set()
    await turns.is_begun("third")
    assert turns.events == ["begin first", "end first", "begin third"]
    assert boxes.find(HERE, "turn_first") is None
    assert boxes.running(THERE) is None
    await boxes.cut(5)


async def test_a_session_takes_only_so_many(turns: Turns):
    boxes = Mailboxes(turns.conduct)
    boxes.put(asked("runs"))
    await turns.is_begun("runs")
    for number in range(WAITING_LIMIT):
        assert not boxes.is_full(HERE)
        boxes.put(asked(str(number)))
    assert boxes.is_full(HERE)
    assert not boxes.is_full(THERE)
    await boxes.cut(5)


async def test_closing_lets_what_runs_end_and_keeps_what_waits_for_the_next_process(turns: Turns):
    boxes = Mailboxes(turns.conduct)
    boxes.put(asked("runs"))
    boxes.put(asked("waits"))
    await turns.is_begun("runs")
    closing = asyncio.create_task(boxes.close(5))
    turns.may_end["runs"].set()
    await closing
    boxes.put(asked("late"))
    assert turns.events == ["begin runs", "end runs"]
    assert [turn.text for turn in boxes.left_waiting()] == ["waits", "late"]


async def test_a_turn_that_ignores_its_end_is_let_go_of():
    async def hangs(turn: TurnInput) -> None:
        begun.set()
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                stubborn.append(turn.text)
                if len(stubborn) > 1:
                    raise

    begun, released, stubborn = asyncio.Event(), asyncio.Event(), list[str]()
    boxes = Mailboxes(hangs)
    boxes.put(asked("stubborn"))
    await asyncio.wait_for(begun.wait(), 5)
    await boxes.close(0.01)
    async with asyncio.timeout(5):
        await boxes.cut(0.05)
    assert stubborn == ["stubborn", "stubborn"]


async def test_a_turn_that_takes_no_notice_at_all_cannot_hold_up_the_end():
    async def deaf(turn: TurnInput) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        begun.set()
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    begun, released, tasks = asyncio.Event(), asyncio.Event(), list[asyncio.Task[Any]]()
    boxes = Mailboxes(deaf)
    boxes.put(asked("deaf"))
    await asyncio.wait_for(begun.wait(), 5)
    cutting = asyncio.create_task(boxes.cut(0.05))
    try:
        done, _ = await asyncio.wait({cutting}, timeout=0.05 + LETTING_GO_SECONDS + 10)
        assert done == {cutting}
    finally:
        released.set()
        await asyncio.wait({cutting, *tasks})


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(list(Role)))
def test_an_input_comes_back_as_it_was_stored(text: str, name: str, role: Role):
    turn = TurnInput("turn_1", HERE, Person("U1", name, role), text, "1.2", datetime(2026, 3, 2, tzinfo=UTC))
    assert restored_input(stored_input(turn)) == turn
