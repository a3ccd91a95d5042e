"""A store that fails at any one write of a turn with three parallel calls: people are told what holds, and a turn that another
process has taken over gives way without a word."""

import gc
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import pytest

from chatops_bot.domain.errors import ModelError, StoreUnavailable, TurnLost
from chatops_bot.domain.model import ModelDelta, ModelRequest, ToolMessage
from chatops_bot.llm.scripted import calls, says
from chatops_bot.sessions.log_ids import log_ids
from tests.scenarios.conftest import World, action_ids, everything, until
from tests.scenarios.tapped_store import WRITES, tapped
from tests.small_tools import Look

CANNOT = "cannot reach its store"
ANSWER = "all three are fine"
APPENDS = 7
"""The question, the message with the calls, three results, the answer, the end."""
RECORDS = 4
"""The question and three calls."""


class ThreeCalls:
    """An `LLM` that looks three times at once and then answers, in any number of conversations."""

    name = "three-calls"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        known = any(isinstance(message, ToolMessage) for message in request.messages)
        for delta in says(ANSWER) if known else calls(*(("look", {"name": name}) for name in "abc")):
            assert not isinstance(delta, ModelError)
            yield delta


@dataclass(frozen=True)
class Failure:
    """At the n-th `call` of its turn the store fails: `lost` and `away` from there on, `blinks` once."""

    call: str
    number: int
    how: Literal["away", "blinks", "lost"]


@dataclass
class FailingStore:
    """A tap that gives each conversation the next of `failures`, in the order in which they begin."""

    failures: list[Failure]
    by_session: dict[str, Failure] = field(default_factory=dict)
    made: Counter[tuple[str, str]] = field(default_factory=Counter)

    async def __call__(self, call: str, carry_out: Callable[[], Awaitable[Any]]) -> Any:
        session = log_ids().get("session")
        if session is None or call not in WRITES:
            return await carry_out()
        failure = self.by_session.setdefault(
            session, self.failures[len(self.by_session) % len(self.failures)]
        )
        self.made[session, call] += 1
        reached = self.made[session, failure.call] - failure.number
        if failure.how == "blinks" and reached == 0 and call == failure.call:
            raise StoreUnavailable("The store is away; a test says so.")
        if failure.how == "away" and reached >= 0:
            raise StoreUnavailable("The store is away; a test says so.")
        if failure.how == "lost" and reached >= 0 and call != "audit.record":
            raise TurnLost(log_ids()["turn"])
        return await carry_out()

    def of(self, ts: str) -> Failure:
        return next(failure for session, failure in self.by_session.items() if ts in session)


async def ask(world: World, store: FailingStore) -> list[str]:
    """Ask once for each failure, one after the other; returns the threads."""
    threads = []
    for number in range(len(store.failures)):
        threads.append(await world.says("oscar", f"{world.mention} look"))
        await until(partial(_begun, store, number + 1), "the turn")
    return threads


async def _begun(store: FailingStore, turns: int) -> bool | None:
    return len(store.by_session) >= turns or None


async def test_whichever_write_of_a_turn_fails_the_message_says_that_the_store_is_away(
    world: World, caplog: pytest.LogCaptureFixture
):
    failures = [
        Failure("transcripts.append", n + 1, how) for n in range(APPENDS) for how in ("away", "blinks")
    ]
    failures += [Failure("audit.record", n + 1, "blinks") for n in range(RECORDS)]
    store = FailingStore(failures)
    async with world.bot(ThreeCalls(), wrap_store=tapped(store), tools=[Look()]):
        for ts in await ask(world, store):
            (_, message) = await world.settled(ts, 1)
            said, failure = everything(message), store.of(ts)
            at_the_end = failure.call == "transcripts.append" and failure.number == APPENDS
            assert (ANSWER if at_the_end else CANNOT) in said, failure
            assert "Something inside" not in said, failure
            assert "inside the bot" not in said, failure
    assert no_traceback(caplog)


async def test_a_turn_that_is_lost_at_any_write_gives_way_without_a_word(
    world: World, caplog: pytest.LogCaptureFixture
):
    store = FailingStore([Failure("transcripts.append", n + 1, "lost") for n in range(APPENDS)])
    caplog.set_level(logging.WARNING)
    async with world.bot(ThreeCalls(), wrap_store=tapped(store), tools=[Look()]):
        threads = await ask(world, store)

        async def all_given_up() -> bool | None:
            given_up = [record for record in caplog.records if "was taken over by" in record.getMessage()]
            return True if len(given_up) == APPENDS else None

        await until(all_given_up, "turns that give way")
    for ts in threads:
        (_, message) = await world.thread(ts)
        said = everything(message)
        assert CANNOT not in said, store.of(ts)
        assert "Something inside" not in said, store.of(ts)
        assert any(action.startswith("stop") for action in action_ids(message)), (
            "no end of this process's making"
        )
    assert no_traceback(caplog)


def no_traceback(caplog: pytest.LogCaptureFixture) -> bool:
    gc.collect()  # a task whose failure nobody asked for says so when it goes
    return [record.getMessage() for record in caplog.records if record.exc_info] == []
