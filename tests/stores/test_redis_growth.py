"""Nothing stays in Redis of a process that is gone, of a turn that is over, or of a button that nobody presses any more."""

import asyncio
from contextlib import aclosing

import pytest

from chatops_bot.domain.session import RunningTurn, SessionKey, TurnOutcome
from chatops_bot.ports import process_lease
from chatops_bot.sessions.liveness import Liveness
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.redis_peers import RedisRelay
from tests.redis_server import RedisServer

SESSION = SessionKey("slack", "T1", "C1", "1.1")
TURN = RunningTurn("turn_1", SESSION, None, "en", "", "")


def ttl(redis: RedisServer, key: str) -> int:
    return int(redis.send("TTL", "{chatops}:" + key).strip().lstrip(b":"))


async def test_what_a_process_leaves_goes_by_itself(redis: RedisServer):
    store = await RedisStore.open(redis.url, "bot_a")
    alive = Liveness(store)
    await alive.join()
    async with aclosing(store.relay.receive()) as words:
        await store.relay.send("bot_a", "hello")
        async with asyncio.timeout(10):
            assert await anext(words) == "hello"
    await store.turns.begin(TURN)
    await store.turns.end(TURN.id, TurnOutcome.ANSWERED)
    await store.controls.put("ask_1", "why?")
    await alive.leave()
    await store.aclose()
    for key in ("relay:bot_a", "turn:turn_1", "control:ask_1", "lease:left:bot_a"):
        assert ttl(redis, key) > 0, key
    assert redis.send("HLEN", "{chatops}:fences").strip() == b":0"


async def test_a_quiet_process_keeps_its_own_stream(redis: RedisServer):
    """Nobody speaks for longer than a stream is kept."""
    store = await RedisStore.open(redis.url, "bot_a")
    words = RedisRelay(store._link, store._reading, 0).receive()
    hearing = asyncio.ensure_future(anext(words))
    async with asyncio.timeout(10):
        while ttl(redis, "relay:bot_a") < 0:  # noqa: ASYNC110  # it opens the stream by itself
            await asyncio.sleep(0.01)
        redis.send("EXPIRE", "{chatops}:relay:bot_a", "5")
        while ttl(redis, "relay:bot_a") <= 5:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await store.relay.send("bot_a", "hello")
        assert await hearing == "hello"
    await words.aclose()
    await store.aclose()


async def test_a_spoilt_turn_keeps_no_other_from_being_taken_over(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
):
    a, b = await RedisStore.open(redis.url, "bot_a"), await RedisStore.open(redis.url, "bot_b")
    for number in (1, 2):
        await a.turns.begin(RunningTurn(f"turn_{number}", SESSION, None, "en", "", ""))
    redis.send("HSET", "{chatops}:turn:turn_1", "session", "rubbish")
    redis.send("DEL", "{chatops}:lease:" + process_lease("bot_a"))
    assert [turn.id for turn in await b.turns.take_over()] == ["turn_2"]
    assert "turn turn_1 in Redis cannot be read" in caplog.text
    await a.aclose()
    await b.aclose()
