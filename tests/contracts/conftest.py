"""The twins of the store: what one suite asks of both."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.ports import Store
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.sqlite import SqliteStore

AUDIT_KEY = ChainKey.of(b"k" * 32)


@pytest.fixture(params=["sqlite", "redis"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    opened: SqliteStore | RedisStore
    if request.param == "redis":
        opened = await RedisStore.open(request.getfixturevalue("redis").url, "bot_1", AUDIT_KEY)
    else:
        opened = await SqliteStore.open(tmp_path / "bot.db", clock, AUDIT_KEY)
    yield opened
    await opened.aclose()


@dataclass
class Aged:
    """Makes what a store holds older, by days: a file by its clock, Redis by what is left to its keys."""

    store: Store
    clock: ManualClock
    file: Path
    redis_url: str

    async def __call__(self, days: float) -> None:
        self.clock.advance(timedelta(days=days))
        if self.redis_url:
            async with Redis.from_url(self.redis_url) as redis:
                async for key in redis.scan_iter():
                    left = await redis.pttl(key)
                    if left > 0:
                        await redis.pexpire(key, max(left - int(days * 86_400_000), 0))

    async def is_there(self, turn_id: str) -> bool:
        """Whether a turn is stored, ended or not."""
        if self.redis_url:
            async with Redis.from_url(self.redis_url) as redis:
                return bool(await redis.exists(f"{{chatops}}:turn:{turn_id}"))
        with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True)) as db:
            return bool(db.execute("SELECT count(*) FROM turns WHERE id = ?", (turn_id,)).fetchone()[0])


@pytest.fixture
def aged(request: pytest.FixtureRequest, store: Store, tmp_path: Path, clock: ManualClock) -> Aged:
    url = request.getfixturevalue("redis").url if isinstance(store, RedisStore) else ""
    return Aged(store, clock, tmp_path / "bot.db", url)
