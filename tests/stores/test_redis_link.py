"""Lost replies, cancelled callers, a server that comes and goes: no write is doubled, none is lost without a word."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from chatops_bot.domain.audit_chain import Sealed
from chatops_bot.domain.audit_check import Verified, verify
from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.session import RunningTurn
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.redis_link import RedisLink, script
from tests.contracts.conftest import AUDIT_KEY
from tests.contracts.test_store import AT, ENTRIES, SESSION, a_form, a_proposal, a_record
from tests.redis_server import RedisServer
from tests.stores.lossy_redis import LossyProxy, lossy_proxy


@pytest.fixture
async def proxy(redis: RedisServer) -> AsyncIterator[LossyProxy]:
    async with lossy_proxy(redis.port) as proxy:
        yield proxy


@pytest.fixture
async def store(proxy: LossyProxy) -> AsyncIterator[RedisStore]:
    opened = await RedisStore.open(proxy.url, "bot_1")
    yield opened
    await opened.aclose()


async def test_a_write_whose_reply_is_lost_is_done_once(proxy: LossyProxy, store: RedisStore):
    proxy.losing = 1
    await store.transcripts.append(SESSION, ENTRIES)
    proxy.losing = 3
    await store.proposals.add(a_proposal())
    proxy.losing = 1
    await store.forms.add(a_form())
    proxy.losing = 2
    moved = await store.proposals.move(a_proposal(), ProposalState.APPROVED, AT)
    proxy.losing = 1
    assert await store.inbox.claim("slack:T1:C1:1.1")
    proxy.losing = 1
    assert await store.turns.begin(RunningTurn("turn_1", SESSION, None, "en", ""), "slack:T1:C1:2.2")
    assert proxy.lost == 9
    assert await store.transcripts.load(SESSION) == ENTRIES
    assert moved == replace(a_proposal(), state=ProposalState.APPROVED, revision=1)
    assert await store.proposals.get("prop_1") == moved
    assert len(await store.forms.open()) == len(await store.turns.running()) == 1
    assert not await store.inbox.claim("slack:T1:C1:1.1")


async def test_of_two_movers_one_wins_although_replies_are_lost(proxy: LossyProxy, store: RedisStore):
    await store.proposals.add(a_proposal())
    proxy.losing = 4
    moved = await asyncio.gather(
        *(
            store.proposals.move(a_proposal(), ProposalState.APPROVED, AT, decided_by_id=str(n))
            for n in range(8)
        )
    )
    winners = [each for each in moved if each is not None]
    assert proxy.lost == 4
    assert [await store.proposals.get("prop_1")] == winners


async def test_two_processes_that_move_and_record_make_one_chain_although_replies_are_lost(
    redis: RedisServer, proxy: LossyProxy
):
    a = await RedisStore.open(proxy.url, "bot_a", AUDIT_KEY)
    b = await RedisStore.open(redis.url, "bot_b", AUDIT_KEY)
    proposals = [a_proposal(n) for n in range(10)]
    await asyncio.gather(*(a.proposals.add(each, a_record("proposed")) for each in proposals))
    proxy.losing = 3
    alone = (a.proposals.move(each, ProposalState.REJECTED, AT, a_record("alone")) for each in proposals[:5])
    assert None not in await asyncio.gather(*alone)
    proxy.losing = 3
    raced = [
        store.proposals.move(each, ProposalState.REJECTED, AT, a_record("raced"))
        for each in proposals[5:]
        for store in (a, b, a)
    ]
    records = [store.audit.record(a_record("call")) for store in (a, b) * 10]
    moved = await asyncio.gather(*raced, *records)
    assert proxy.lost == 6
    assert len([each for each in moved if each is not None]) == 5
    rows = await b.audit.page(0, 1000)
    assert verify([AUDIT_KEY], rows) == Verified(await a.audit.head())
    decisions = [row.record.decision for row in rows if isinstance(row, Sealed)]
    assert Counter(decisions) == {"proposed": 10, "alone": 5, "raced": 5, "call": 20}
    await a.aclose()
    await b.aclose()


async def test_replies_that_stay_lost_are_a_store_error_and_the_next_command_gets_its_own(proxy: LossyProxy):
    store = await RedisStore.open(proxy.url, "bot_1", patience=0.3)
    proxy.losing = 1000
    with pytest.raises(StoreError, match=r"Redis at 127\.0\.0\.1:\d+ cannot be reached"):
        await store.transcripts.append(SESSION, ENTRIES)
    proxy.losing = 0
    await store.controls.put("ask_1", "why?")
    assert await store.controls.get("ask_1") == "why?"
    assert await store.transcripts.load(SESSION) == ENTRIES, "it was done, once"
    await store.aclose()


async def test_a_cancelled_caller_leaves_nobody_a_wrong_answer(store: RedisStore):
    for number in range(20):
        await store.controls.put(f"ask_{number}", str(number))
    for number in range(200):
        reading = asyncio.create_task(store.controls.get(f"ask_{number % 20}"))
        for _ in range(number % 7):
            await asyncio.sleep(0)
        reading.cancel()
        assert await store.controls.get(f"ask_{(number + 1) % 20}") == str((number + 1) % 20)
        await asyncio.gather(reading, return_exceptions=True)


async def test_a_blocking_read_ends_with_its_caller_in_whatever_moment_it_is_cancelled(redis: RedisServer):
    """redis-py sends through `asyncio.wait_for`, which before Python 3.12 loses a cancellation that comes as it ends (bpo-37658)."""
    link = RedisLink.to(redis.url, "bot_1")
    try:
        await link.read("PING")
        for moments in range(40):
            reading = asyncio.create_task(link.wait("BLPOP", "never", 30))
            for _ in range(moments):
                await asyncio.sleep(0)
            reading.cancel()
            await asyncio.wait({reading}, timeout=5)
            assert reading.done(), f"cancelled after {moments} moments"
            assert reading.cancelled()
    finally:
        await link.aclose()


async def test_a_cancelled_write_is_carried_out_all_the_same(redis: RedisServer):
    store = await RedisStore.open(redis.url, "bot_1")
    writing = asyncio.create_task(store.transcripts.append(SESSION, ENTRIES))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    await store.aclose()
    again = await RedisStore.open(redis.url, "bot_2")
    assert await again.transcripts.load(SESSION) == ENTRIES
    await again.aclose()


async def test_commands_wait_for_a_server_that_restarts(tmp_path: Path):
    server = RedisServer(tmp_path)
    server.start()
    store = await RedisStore.open(server.url, "bot_1")
    try:
        await store.proposals.add(a_proposal())
        server.kill()
        moving = asyncio.create_task(store.proposals.move(a_proposal(), ProposalState.APPROVED, AT))
        await asyncio.to_thread(server.start)
        assert await moving is not None
        approved = await store.proposals.get("prop_1")
        assert approved is not None
        assert approved.state is ProposalState.APPROVED
    finally:
        await store.aclose()
        server.kill()


async def test_a_script_that_the_server_forgot_is_sent_again(redis: RedisServer):
    link = RedisLink.to(redis.url, "bot_1")
    count = script("return tostring(redis.call('INCR', P .. 'count'))")
    assert await link.write(count) == "1"
    redis.send("SCRIPT", "FLUSH")
    assert await link.write(count) == "2"
    await link.aclose()
