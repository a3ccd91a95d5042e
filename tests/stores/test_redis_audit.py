"""What stands in the audit's sorted set and was not put there by a bot is named, and stops no verification."""

from collections.abc import AsyncIterator

import pytest

from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.domain.audit_check import Unreadable
from chatops_bot.domain.errors import StoreError
from chatops_bot.stores.redis import RedisStore
from tests.contracts.test_store import a_record
from tests.redis_server import RedisServer

AUDIT = "{chatops}:audit"


@pytest.fixture
async def store(redis: RedisServer) -> AsyncIterator[RedisStore]:
    opened = await RedisStore.open(redis.url, "bot_a", ChainKey.of(b"k" * 32))
    for _ in range(3):
        await opened.audit.record(a_record())
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("score", ["1.5", "3.5", "1e+300", "inf"])
async def test_a_row_without_a_whole_number_is_named_and_the_rest_is_read(
    redis: RedisServer, store: RedisStore, score: str
):
    redis.send("ZADD", AUDIT, score, "rubbish")
    found, after = [], 0
    while rows := await store.audit.page(after, 2):
        found += rows
        after = rows[-1].seq
    assert "it has no whole number" in [row.why for row in found if isinstance(row, Unreadable)]


async def test_writing_behind_such_a_row_is_refused_in_a_sentence(redis: RedisServer, store: RedisStore):
    other = await RedisStore.open(redis.url, "bot_b", ChainKey.of(b"k" * 32))
    redis.send("ZADD", AUDIT, "17.5", "rubbish")
    with pytest.raises(StoreError, match="has no whole number"):
        await other.audit.record(a_record())
    await other.aclose()


async def test_rows_that_claim_one_number_are_all_read_at_a_pages_edge(redis: RedisServer, store: RedisStore):
    for text in ("x", "y", "z"):
        redis.send("ZADD", AUDIT, "2", text)
    rows = await store.audit.page(0, 2)
    assert [row.seq for row in rows] == [1, 2, 2, 2, 2]
