"""A store, of either kind, and the decision engine over it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.ports import Store
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.sqlite import SqliteStore
from tests.sessions.panel import Panel


@pytest.fixture(params=["sqlite", "redis"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    opened: SqliteStore | RedisStore
    if request.param == "redis":
        opened = await RedisStore.open(request.getfixturevalue("redis").url, "bot_1", ChainKey.of(b"k" * 32))
    else:
        opened = await SqliteStore.open(tmp_path / "bot.db", clock)
    yield opened
    await opened.aclose()


@pytest.fixture
def panel(store: Store, clock: ManualClock) -> Panel:
    return Panel(store, clock)
