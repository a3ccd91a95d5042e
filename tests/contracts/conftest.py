"""The twins of the store: what one suite asks of both."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

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
