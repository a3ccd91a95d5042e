"""An answer's messages: each is posted once, whatever happens while it is on its way."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.session import MessageRef, RunningTurn, TurnOutcome
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.turn_event import Rested, TextStreamed
from chatops_bot.domain.view import View
from chatops_bot.ports import Place, PlatformLimits
from chatops_bot.rendering.turn_view import TurnView
from chatops_bot.sessions.answer import AnswerMessage, page_key
from chatops_bot.sessions.recovery import recover_turns
from chatops_bot.stores.sqlite import SqliteStore
from tests.small_tools import SESSION

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

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        if self.refusal is not None:
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

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        self.edit(ref, view)
        return ref

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        raise AssertionError("nobody is whispered to")

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        return ThreadExcerpt()

    async def has_posted(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.posted) < count:
                self.changed.clear()
                await self.changed.wait()


class Everybody:
    async def person(self, user_id: str) -> Person:
        return Person(user_id, user_id, Role.OPERATOR)


@dataclass
class Stage:
    wall: Wall
    store: SqliteStore
    view: TurnView
    answer: AnswerMessage

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
    yield Stage(wall, store, view, AnswerMessage(wall, store.turns, TURN, PLACE, view, clock))
    await store.aclose()


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
    assert await recover_turns(stage.store, stage.wall, Everybody(), clock) == (1, [])
    assert stage.wall.posted == [page_key(TURN, number) for number in range(3)]
    assert await stage.store.turns.running() == []
    stage.view.interrupted()
    assert list(stage.wall.shown.values()) == list(stage.view.pages())


async def test_recovery_posts_the_end_of_a_turn_that_never_showed_anything(stage: Stage, clock: ManualClock):
    stage.wall.replies.set()
    assert await recover_turns(stage.store, stage.wall, Everybody(), clock) == (1, [])
    assert stage.wall.posted == [page_key(TURN, 0)]
    (entry,) = await stage.store.transcripts.load(SESSION)
    assert getattr(entry, "outcome", None) is TurnOutcome.INTERRUPTED


async def test_recovery_shows_a_turn_that_had_rested_as_it_rested(stage: Stage, clock: ManualClock):
    stage.wall.replies.set()
    await stage.answer.open()
    stage.answer.show(Rested(TurnOutcome.ANSWERED, "Two tasks failed."))
    await stage.answer.rest()
    await recover_turns(stage.store, stage.wall, Everybody(), clock)
    assert list(stage.wall.shown.values()) == list(stage.view.pages())
    (entry,) = await stage.store.transcripts.load(SESSION)
    assert (getattr(entry, "outcome", None), getattr(entry, "body", None)) == (
        TurnOutcome.ANSWERED,
        "Two tasks failed.",
    )
