"""An answer's messages: each is posted once, whatever happens while it is on its way."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.context.history import unanswered
from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import Reasoning
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.session import MessageRef, RunningTurn, TurnOutcome
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import ModelSaid, UserSaid
from chatops_bot.domain.turn_event import CallStarted, Rested, TextStreamed
from chatops_bot.domain.view import Modal, View
from chatops_bot.ports import Place, PlatformLimits
from chatops_bot.rendering.turn_view import TurnView
from chatops_bot.sessions.answer import AnswerMessage, page_key
from chatops_bot.sessions.mailbox import TurnInput, stored_input
from chatops_bot.sessions.recovery import RESUMED_WITHIN, recover_turns
from chatops_bot.stores.sqlite import SqliteStore
from tests.small_tools import OSCAR, SESSION

PLACE = Place(SESSION.channel, SESSION.thread)
TURN = "turn_1"


@dataclass
class Wall:
    """A platform in memory. A post stands at once; its reply comes when `replies` is set. `refusal` is raised instead."""

    limits: PlatformLimits = field(default_factory=lambda: PlatformLimits(text_chars=100, edit_interval=0))
    posted: list[str] = field(default_factory=list)
    shown: dict[str, View] = field(default_factory=dict)
    replies: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    refusal: PlatformError | None = None
    refused: int = 0

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        if self.refusal is not None:
            self.refused += 1
            self.changed.set()
            raise self.refusal
        self.posted.append(key)
        self.shown[key] = view
        self.changed.set()
        await self.replies.wait()
        return MessageRef(place.channel, key)

    async def find(self, place: Place, key: str) -> MessageRef | None:
        return MessageRef(place.channel, key) if key in self.shown else None

    def edit(self, ref: MessageRef, view: View) -> None:
        self.shown[ref.id] = view
        self.changed.set()

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        self.edit(ref, view)
        return ref

    async def link(self, ref: MessageRef) -> str:
        raise AssertionError("nothing is linked to")

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        raise AssertionError("nobody is whispered to")

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        raise AssertionError("no dialog is opened")

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        raise AssertionError("no dialog is open")

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        return ThreadExcerpt()

    async def has_posted(self, count: int) -> None:
        await self._until(lambda: len(self.posted) >= count)

    async def has_refused(self, count: int) -> None:
        await self._until(lambda: self.refused >= count)

    async def comes_to_show(self, text: str) -> None:
        await self._until(lambda: text in str(self.shown))

    async def _until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not is_so():
                self.changed.clear()
                await self.changed.wait()


class Everybody:
    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        return Person(user_id, user_id, Role.OPERATOR)


@dataclass
class Stage:
    wall: Wall
    store: SqliteStore
    view: TurnView
    answer: AnswerMessage
    clock: ManualClock
    path: Path

    async def recovered(self) -> tuple[int, list[TurnInput]]:
        """What the next process finds of this one, which is no more."""
        await self.store.aclose()
        self.store = await SqliteStore.open(self.path, self.clock)
        return await recover_turns(self.store, self.wall, Everybody(), Policy(), self.clock)

    async def comes_to_rest(self) -> None:
        self.answer.show(Rested(TurnOutcome.STOPPED, ""))
        resting = asyncio.create_task(self.answer.rest())
        self.wall.replies.set()
        await resting
        await self.answer.finish()


@pytest.fixture
async def stage(tmp_path: Path, clock: ManualClock):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    wall = Wall()
    view = TurnView("en", wall.limits.text_chars, stop_value=TURN)
    await store.turns.begin(RunningTurn(TURN, SESSION, None, "en", view.snapshot()))
    answer = AnswerMessage(wall, store.turns, TURN, PLACE, view, clock)
    stage = Stage(wall, store, view, answer, clock, tmp_path / "bot.db")
    yield stage
    await stage.store.aclose()


async def test_a_turn_stopped_while_its_first_message_is_on_its_way_has_one_message(stage: Stage):
    opening = asyncio.create_task(stage.answer.open())
    await stage.wall.has_posted(1)
    opening.cancel()
    await asyncio.wait({opening})
    await stage.comes_to_rest()
    assert stage.wall.posted == [page_key(TURN, 0)]


async def test_a_turn_that_rests_while_its_next_message_is_on_its_way_has_each_once(stage: Stage):
    stage.wall.replies.set()
    await stage.answer.open()
    stage.wall.replies.clear()
    stage.answer.show(TextStreamed("word " * 30))
    await stage.wall.has_posted(2)
    await stage.comes_to_rest()
    assert stage.wall.posted == [page_key(TURN, 0), page_key(TURN, 1)]


async def test_a_first_message_that_is_refused_is_the_callers_to_know(stage: Stage):
    stage.wall.refusal = PlatformError("no", "restricted_action")
    with pytest.raises(PlatformError):
        await stage.answer.open()
    stage.wall.refusal = None
    await stage.comes_to_rest()
    assert stage.wall.posted == [page_key(TURN, 0)]


async def test_recovery_brings_every_message_of_a_long_answer_to_its_end(stage: Stage, clock: ManualClock):
    stage.wall.replies.set()
    await stage.answer.open()
    stage.answer.show(TextStreamed("word " * 50))
    await stage.wall.has_posted(3)
    await stage.answer.rest()  # all that is left when the process dies here is the store and the wall
    assert await stage.recovered() == (1, [])
    assert stage.wall.posted == [page_key(TURN, number) for number in range(3)]
    assert await stage.store.turns.running() == []
    stage.view.interrupted()
    assert list(stage.wall.shown.values()) == list(stage.view.pages())


async def test_recovery_posts_the_end_of_a_turn_that_never_showed_anything(stage: Stage, clock: ManualClock):
    stage.wall.replies.set()
    assert await stage.recovered() == (1, [])
    assert stage.wall.posted == [page_key(TURN, 0)]
    (entry,) = await stage.store.transcripts.load(SESSION)
    assert getattr(entry, "outcome", None) is TurnOutcome.INTERRUPTED


async def test_recovery_shows_a_turn_that_had_rested_as_it_rested(stage: Stage, clock: ManualClock):
    stage.wall.replies.set()
    await stage.answer.open()
    stage.answer.show(Rested(TurnOutcome.ANSWERED, "Two tasks failed."))
    await stage.answer.rest()
    await stage.recovered()
    assert list(stage.wall.shown.values()) == list(stage.view.pages())
    (entry,) = await stage.store.transcripts.load(SESSION)
    assert (getattr(entry, "outcome", None), getattr(entry, "body", None)) == (
        TurnOutcome.ANSWERED,
        "Two tasks failed.",
    )


async def test_a_model_that_says_nothing_is_seen_to_be_waited_for(stage: Stage, clock: ManualClock):
    answer = AnswerMessage(stage.wall, stage.store.turns, TURN, PLACE, stage.view, clock, heartbeat=0.005)
    stage.wall.replies.set()
    await answer.open()
    for seconds, said in (
        (9, "Working…"),
        (1, "Still waiting for the model, 10 s"),
        (15, "Still waiting for the model, 20 s"),
    ):
        clock.advance(timedelta(seconds=seconds))
        await stage.wall.comes_to_show(said)
    answer.show(TextStreamed("It was the disk. "))
    await stage.wall.comes_to_show("It was the disk.")
    assert "Still waiting" not in str(stage.wall.shown)
    clock.advance(timedelta(seconds=31))
    await stage.wall.comes_to_show("Still waiting for the model, 30 s")
    assert "It was the disk." in str(stage.wall.shown)
    answer.show(CallStarted("c1", "look", Phrase("查找", "looking")))
    clock.advance(timedelta(seconds=60))
    await stage.wall.comes_to_show("looking…")
    assert "Still waiting" not in str(stage.wall.shown)
    answer.show(Rested(TurnOutcome.ANSWERED, "It was the disk."))
    await answer.rest()
    await answer.finish()


async def test_a_turn_that_waits_is_shown_and_keeps_its_message_when_it_starts(stage: Stage):
    stage.wall.replies.set()
    stage.answer.wait(2)
    await stage.wall.comes_to_show("Waiting – 2 before this")
    stage.answer.wait(1)
    await stage.wall.comes_to_show("Waiting – 1 before this")
    await stage.answer.open()
    await stage.wall.comes_to_show("Working…")
    await stage.comes_to_rest()
    assert stage.wall.posted == [page_key(TURN, 0)]


async def test_a_waiting_message_that_was_refused_is_posted_when_the_turn_starts(stage: Stage):
    stage.wall.replies.set()
    stage.wall.refusal = PlatformError("no", "restricted_action")
    stage.answer.wait(1)
    await stage.wall.has_refused(1)
    stage.wall.refusal = None
    await stage.answer.open()
    await stage.comes_to_rest()
    assert stage.wall.posted == [page_key(TURN, 0)]


def accepted(clock: ManualClock, **changes: Any) -> RunningTurn:
    asked = replace(TurnInput("turn_2", SESSION, OSCAR, "what failed?", "1.2", clock.now()), **changes)
    snapshot = TurnView("en", 100, stop_value="turn_2").snapshot()
    return RunningTurn("turn_2", SESSION, None, "en", snapshot, stored_input(asked))


async def test_recovery_hands_back_what_never_started_and_nothing_else(stage: Stage, clock: ManualClock):
    stage.wall.replies.set()
    await stage.store.turns.begin(accepted(clock))
    clock.advance(RESUMED_WITHIN / 2)
    closed, (waiting,) = await stage.recovered()
    assert closed == 1
    assert (waiting.turn_id, waiting.text, waiting.resumed) == ("turn_2", "what failed?", True)
    assert waiting.author == await Everybody().person(OSCAR.id)
    said = UserSaid("turn_2", clock.now(), OSCAR.id, "Oscar", "operator", "what failed?")
    await stage.store.transcripts.append(SESSION, [said])
    assert await stage.recovered() == (1, [])


@pytest.mark.parametrize("asked_as", [Role.VIEWER, Role.ADMIN])
async def test_what_starts_again_may_do_no_more_than_then_and_no_more_than_today(
    stage: Stage, clock: ManualClock, asked_as: Role
):
    stage.wall.replies.set()
    await stage.store.turns.begin(accepted(clock, author=replace(OSCAR, role=asked_as)))
    _, (waiting,) = await stage.recovered()
    assert (await Everybody().person(OSCAR.id)).role is Role.OPERATOR
    assert waiting.author.role is {Role.VIEWER: Role.VIEWER, Role.ADMIN: Role.OPERATOR}[asked_as]


async def test_recovery_closes_a_question_that_is_too_old_to_start(stage: Stage, clock: ManualClock):
    stage.wall.replies.set()
    await stage.store.turns.begin(accepted(clock))
    clock.advance(RESUMED_WITHIN + timedelta(seconds=1))
    assert await stage.recovered() == (2, [])


async def test_recovery_answers_the_calls_of_a_turn_that_died(stage: Stage, clock: ManualClock):
    stage.wall.replies.set()
    call = ToolCall("c1", "look", "{}")
    await stage.store.transcripts.append(SESSION, [ModelSaid(TURN, clock.now(), "", Reasoning(), (call,))])
    await stage.recovered()
    entries = await stage.store.transcripts.load(SESSION)
    assert unanswered(entries, TURN) == []
    assert [entry.kind for entry in entries] == ["model", "tool", "end"]
