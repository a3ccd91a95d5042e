"""What a process does at its beat: it says that it lives, takes over, and looks for what it was never told of."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.session import RunningTurn, SessionKey
from chatops_bot.ports import Store, process_lease
from chatops_bot.sessions.liveness import Liveness
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.peers import BEATS, MISSED_BEATS, Peers, StopPressed, TurnHanded, Word, pass_on
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.sqlite import SqliteStore
from tests.redis_server import RedisServer
from tests.small_tools import OSCAR

SESSION = SessionKey("slack", "T1", "C1", "1.1")
TURN = TurnInput("turn_1", SESSION, OSCAR, "what failed?")
RUNNING = RunningTurn("turn_1", SESSION, None, "en", "{}", "{}")
LEASE = 0.15


@dataclass
class Process:
    """Everything that its peers asked of it."""

    store: Store
    held: list[TurnInput] = field(default_factory=list)
    heard: list[Word] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    let_go: list[TurnInput] = field(default_factory=list)
    beats: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def go_on(self, unheard: Sequence[RunningTurn]) -> None:
        async with self.changed:
            self.beats += 1
            self.resumed += [turn.id for turn in unheard]
            self.changed.notify_all()

    async def hear(self, word: Word) -> None:
        async with self.changed:
            self.heard.append(word)
            self.changed.notify_all()

    def peers(self, alive: Liveness | None = None) -> Peers:
        return Peers(
            self.store, go_on=self.go_on, hear=self.hear, held=lambda: self.held,
            let_go=self.let_go.append, alive=alive or Liveness(self.store, LEASE),
        )  # fmt: skip

    async def beaten(self, beats: int) -> None:
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(lambda: self.beats >= beats)


@asynccontextmanager
async def running(*work: asyncio.Task[None]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)


@pytest.fixture
async def alone(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Process]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    yield Process(store)
    await store.aclose()


async def test_a_turn_that_it_was_never_told_of_is_found_after_a_while(alone: Process):
    await alone.store.turns.begin(RUNNING)
    async with running(asyncio.create_task(alone.peers().keep_taking_over())):
        await alone.beaten(MISSED_BEATS - 1)
        assert alone.resumed == []
        await alone.beaten(MISSED_BEATS)
    assert alone.resumed[:1] == ["turn_1"]


async def test_a_turn_that_runs_here_is_not_started_again(alone: Process):
    await alone.store.turns.begin(RUNNING)
    alone.held.append(TURN)
    async with running(asyncio.create_task(alone.peers().keep_taking_over())):
        await alone.beaten(MISSED_BEATS + 2)
    assert alone.resumed == []


async def test_what_is_passed_on_is_heard_whole_and_rubbish_is_passed_over(
    alone: Process, caplog: pytest.LogCaptureFixture
):
    words: list[Word] = [
        TurnHanded(TURN),
        TurnHanded(TURN, Phrase("不行", "No.")),
        StopPressed(SESSION, "turn_1", OSCAR),
    ]
    await alone.store.relay.send(alone.store.process, '{"kind": "of a later version"}')
    for word in words:
        await pass_on(alone.store, alone.store.process, word)
    async with running(asyncio.create_task(alone.peers().keep_hearing())), asyncio.timeout(10), alone.changed:
        await alone.changed.wait_for(lambda: len(alone.heard) == 3)
    assert alone.heard == words
    assert "cannot be read" in caplog.text


async def test_a_process_that_was_silent_too_long_lets_go_of_what_was_taken(redis: RedisServer):
    silent = Process(await RedisStore.open(redis.url, "bot_a"))
    other = await RedisStore.open(redis.url, "bot_b")
    await other.leases.take(process_lease("bot_b"), "bot_b", 60)
    alive = Liveness(silent.store, LEASE)
    peers = silent.peers(alive)
    await alive.join()
    await silent.store.turns.begin(RUNNING)
    silent.held.append(TURN)
    redis.send("DEL", f"{{chatops}}:lease:{process_lease('bot_a')}")
    assert await other.turns.take_over() == [RUNNING]
    async with running(asyncio.create_task(peers.keep_renewing())), asyncio.timeout(10):
        while not silent.let_go:  # noqa: ASYNC110  # it is told by a plain function
            await asyncio.sleep(0.01)
    assert silent.let_go == [TURN]
    assert await other.leases.holder(process_lease("bot_a")) == "bot_a", "it lives again"
    await silent.store.aclose()  # type: ignore[attr-defined]  # a real store
    await other.aclose()


async def test_it_is_heard_while_what_the_dead_left_takes_its_time(redis: RedisServer):
    """Each of a dead process's turns may wait two minutes for Slack."""
    busy = Process(await RedisStore.open(redis.url, "bot_a"))
    renewals, slow = 0, asyncio.Event()

    async def go_on(unheard: Sequence[RunningTurn]) -> None:
        await slow.wait()

    alive = Liveness(busy.store, LEASE)
    peers = Peers(busy.store, go_on=go_on, hear=busy.hear, held=list, let_go=busy.let_go.append, alive=alive)
    await alive.join()
    lives = process_lease("bot_a")
    async with running(
        asyncio.create_task(peers.keep_renewing()), asyncio.create_task(peers.keep_taking_over())
    ):
        deadline = asyncio.get_running_loop().time() + 3 * LEASE
        while asyncio.get_running_loop().time() < deadline:
            renewals += await busy.store.leases.holder(lives) is not None
            await asyncio.sleep(LEASE / 5)
        assert not alive.was_unheard()
    assert renewals > BEATS
    await busy.store.aclose()  # type: ignore[attr-defined]  # a real store
