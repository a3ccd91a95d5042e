"""A store, and the decision engine over it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.ports import Store
from chatops_bot.stores.sqlite import SqliteStore
from tests.sessions.panel import Panel


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    opened = await SqliteStore.open(tmp_path / "bot.db", clock)
    yield opened
    await opened.aclose()


@pytest.fixture
def panel(store: Store, clock: ManualClock) -> Panel:
    return Panel(store, clock)
