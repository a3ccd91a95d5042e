"""Who is dead to whom: everybody asks the same judge, and it is patient."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from chatops_bot.domain.session import RunningTurn, SessionKey
from chatops_bot.ports import process_lease
from chatops_bot.sessions.liveness import Liveness
from chatops_bot.stores.redis import RedisStore
from tests.redis_server import RedisServer

LEASE = 0.3
TURN = RunningTurn("turn_1", SessionKey("slack", "T1", "C1", "1.1"), None, "en", "{}", "{}")


@pytest.fixture
async def a(redis: RedisServer) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(redis.url, "bot_a")
    yield store
    await store.aclose()


@pytest.fixture
async def b(redis: RedisServer) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(redis.url, "bot_b")
    yield store
    await store.aclose()


def lapses(redis: RedisServer, store: RedisStore) -> None:
    redis.send("DEL", f"{{chatops}}:lease:{process_lease(store.process)}")


async def until_dead(judge: Liveness, other: str) -> float:
    """Seconds until the judge calls the other dead."""
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(10):
        while not await judge.is_dead(other):  # noqa: ASYNC110  # time itself is what it waits for
            await asyncio.sleep(0.01)
    return asyncio.get_running_loop().time() - began


async def test_a_lease_that_is_missing_for_a_moment_is_no_death(
    redis: RedisServer, a: RedisStore, b: RedisStore
):
    """As when Redis was away for longer than a lease, and the other comes back a little later."""
    judge, other = Liveness(a, LEASE), Liveness(b, LEASE)
    await judge.join()
    await other.join()
    lapses(redis, b)
    assert not await judge.is_dead("bot_b")
    await other.renew()
    assert other.was_unheard()
    assert not other.was_unheard()
    assert not await judge.is_dead("bot_b")


async def test_one_that_stays_away_for_a_lease_is_dead(redis: RedisServer, a: RedisStore):
    judge = Liveness(a, LEASE)
    await judge.join()
    assert await until_dead(judge, "bot_gone") >= LEASE


async def test_after_its_own_silence_it_waits_anew(redis: RedisServer, a: RedisStore):
    judge = Liveness(a, LEASE)
    await judge.join()
    await until_dead(judge, "bot_gone")
    lapses(redis, a)
    await judge.renew()
    assert not await judge.is_dead("bot_gone")
    assert await until_dead(judge, "bot_gone") >= LEASE / 2


async def test_whoever_left_in_good_order_is_dead_at_once(a: RedisStore, b: RedisStore):
    judge, other = Liveness(a, 60), Liveness(b, 60)
    await other.join()
    assert not await judge.is_dead("bot_b")
    await other.leave()
    assert await judge.is_dead("bot_b")
    assert not await judge.is_dead("bot_a"), "itself"


async def test_turns_are_taken_over_from_those_whom_it_calls_dead_only(
    redis: RedisServer, a: RedisStore, b: RedisStore
):
    judge, other = Liveness(a, LEASE), Liveness(b, LEASE)
    await judge.join()
    await other.join()
    await b.turns.begin(TURN)
    await b.turns.begin(replace(TURN, id="turn_2"))
    lapses(redis, b)
    assert await a.turns.take_over(judge.is_dead) == []
    await until_dead(judge, "bot_b")
    assert [turn.id for turn in await a.turns.take_over(judge.is_dead)] == ["turn_1", "turn_2"]
