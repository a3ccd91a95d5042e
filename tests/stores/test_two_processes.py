"""What two processes that share a Redis store may do to each other's turns, and what not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from chatops_bot.domain.audit_chain import Sealed
from chatops_bot.domain.audit_check import Verified, verify
from chatops_bot.domain.errors import TurnLost
from chatops_bot.domain.session import MessageRef, RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.transcript import FormClosed, ProposalDecided
from chatops_bot.ports import process_lease
from chatops_bot.stores.redis import RedisStore
from tests.contracts.conftest import AUDIT_KEY
from tests.contracts.test_store import ENTRIES, SESSION, a_proposal, a_record, audit_rows
from tests.redis_server import RedisServer

FIRST = RunningTurn("turn_1", SESSION, None, "en", "{}", '{"text":"q"}')
SECOND = replace(FIRST, id="turn_2")
ELSEWHERE = replace(FIRST, id="turn_3", session=replace(SESSION, thread="other"))


async def living(redis: RedisServer, name: str) -> RedisStore:
    store = await RedisStore.open(redis.url, name)
    assert await store.leases.take(process_lease(name), name, 60)
    return store


@pytest.fixture
async def a(redis: RedisServer) -> AsyncIterator[RedisStore]:
    store = await living(redis, "bot_a")
    yield store
    await store.aclose()


@pytest.fixture
async def b(redis: RedisServer) -> AsyncIterator[RedisStore]:
    store = await living(redis, "bot_b")
    yield store
    await store.aclose()


def dies(redis: RedisServer, store: RedisStore) -> None:
    """The process's lease runs out; the test goes on speaking for it, as a paused process would that wakes up."""
    redis.send("DEL", f"{{chatops}}:lease:{process_lease(store.process)}")


async def test_the_process_that_has_a_sessions_turn_gets_the_next_one_too(a: RedisStore, b: RedisStore):
    assert await a.turns.begin(FIRST) == "bot_a"
    assert await b.turns.begin(SECOND) == "bot_a"
    assert await b.turns.begin(ELSEWHERE) == "bot_b"
    assert await b.turns.holder("turn_2") == await b.turns.holder_of(SESSION) == "bot_a"
    await a.turns.end("turn_1", TurnOutcome.ANSWERED)
    await a.turns.end("turn_2", TurnOutcome.ANSWERED)
    assert await b.turns.begin(replace(FIRST, id="turn_4")) == "bot_b", "the session was free"


async def test_only_the_turns_of_a_dead_process_are_taken_over(
    redis: RedisServer, a: RedisStore, b: RedisStore
):
    for turn in (FIRST, SECOND):
        await a.turns.begin(turn)
    await b.turns.begin(ELSEWHERE)
    assert await b.turns.take_over() == await a.turns.take_over() == []
    dies(redis, a)
    assert await a.turns.holder_of(SESSION) == ""
    assert await b.turns.take_over() == [FIRST, SECOND]
    assert await b.turns.holder("turn_2") == "bot_b"
    assert await b.turns.take_over() == []
    assert await a.turns.take_over() == [], "never a slow living one"


async def test_of_many_takers_each_turn_goes_to_one(redis: RedisServer, a: RedisStore):
    turns = [
        replace(FIRST, id=f"turn_{n}", session=SessionKey("slack", "T1", "C1", str(n))) for n in range(20)
    ]
    for turn in turns:
        await a.turns.begin(turn)
    dies(redis, a)
    others = [await living(redis, f"bot_{n}") for n in range(4)]
    taken = await asyncio.gather(*(other.turns.take_over() for other in others))
    assert sorted(turn.id for each in taken for turn in each) == sorted(turn.id for turn in turns)
    for other in others:
        await other.aclose()


async def test_a_paused_process_that_wakes_up_cannot_write_over_its_successor(
    redis: RedisServer, a: RedisStore, b: RedisStore
):
    await a.turns.begin(FIRST)
    await a.transcripts.append(SESSION, [ENTRIES[2]])
    dies(redis, a)
    await b.turns.take_over()
    with pytest.raises(TurnLost):
        await a.turns.checkpoint("turn_1", MessageRef("C1", "1.1"), '{"text":"late"}')
    with pytest.raises(TurnLost):
        await a.transcripts.append(SESSION, [ENTRIES[3]])
    with pytest.raises(TurnLost):
        await a.turns.end("turn_1", TurnOutcome.ANSWERED)
    assert await b.turns.running() == [FIRST]
    assert await b.transcripts.load(SESSION) == [ENTRIES[2]]
    await b.turns.end("turn_1", TurnOutcome.INTERRUPTED)
    with pytest.raises(TurnLost):
        await a.transcripts.append(SESSION, [ENTRIES[3]])


async def test_decisions_about_a_turn_come_from_any_process(a: RedisStore, b: RedisStore):
    await a.turns.begin(FIRST)
    decided = [entry for entry in ENTRIES if isinstance(entry, ProposalDecided | FormClosed)]
    await b.transcripts.append(SESSION, decided)
    assert await a.transcripts.load(SESSION) == decided


async def test_what_was_delivered_and_not_done_comes_again(redis: RedisServer, a: RedisStore, b: RedisStore):
    for body in ("one", "two"):
        await a.relay.send("bot_b", body)
    async with asyncio.timeout(5), aclosing(b.relay.receive()) as bodies:
        assert await anext(bodies) == "one"  # and the process breaks off here
    async with asyncio.timeout(5), aclosing(b.relay.receive()) as bodies:
        assert [await anext(bodies), await anext(bodies)] == ["one", "two"]


async def test_a_cancelled_wait_loses_nothing(a: RedisStore, b: RedisStore):
    for number in range(30):

        async def hear() -> str:
            async with aclosing(b.relay.receive()) as bodies:
                return await anext(bodies)

        waiting = asyncio.create_task(hear())
        for _ in range(number):
            await asyncio.sleep(0)
        sending = asyncio.create_task(a.relay.send("bot_b", str(number)))
        waiting.cancel()
        await asyncio.gather(waiting, sending, return_exceptions=True)
        async with asyncio.timeout(5), aclosing(b.relay.receive()) as bodies:
            assert await anext(bodies) == str(number)
            waiting = asyncio.create_task(anext(bodies))  # asking for the next ends this one
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)


async def test_rows_of_many_processes_and_of_cancelled_writers_make_one_chain(redis: RedisServer):
    """Each process has a lock of its own; what holds the chain together is the script that looks at the head."""
    stores = [await RedisStore.open(redis.url, f"bot_{number}", AUDIT_KEY) for number in range(4)]
    try:
        proposals = [a_proposal(number) for number in range(10)]
        writing = [
            asyncio.create_task(store.audit.record(a_record("auto", number)))
            for number in range(25)
            for store in stores
        ]
        moving = [
            asyncio.create_task(store.proposals.add(proposal, a_record("proposed")))
            for proposal, store in zip(proposals, stores * 3, strict=False)
        ]
        await asyncio.sleep(0)
        for task in writing[::7]:
            task.cancel()
        ended = await asyncio.gather(*writing, *moving, return_exceptions=True)
        assert all(one is None or isinstance(one, asyncio.CancelledError) for one in ended)
        for store in stores:
            await store.audit.record(a_record("last"))
        rows = await audit_rows(stores[0])
    finally:
        for store in stores:
            await store.aclose()
    checked = verify([AUDIT_KEY], rows)
    assert isinstance(checked, Verified)
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    kept = [row.record.decision for row in rows if isinstance(row, Sealed)]
    assert (kept.count("proposed"), kept.count("last")) == (10, 4)
    assert 100 - len(writing[::7]) <= kept.count("auto") <= 100
