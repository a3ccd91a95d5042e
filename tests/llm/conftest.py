"""What the tests of the model client share: an HTTP session, a scripted server, and a loop to play turns through."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.stores.sqlite import SqliteStore
from tests.llm.model_server import ModelServer
from tests.llm.playground import Playground

# Only `make soak` builds the foreign server.
collect_ignore = [] if os.environ.get("SOAK_SIZE") else ["test_foreign_server.py"]


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """A running server; a test puts its `Answer`s into `server.answers`."""
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def playground(tmp_path: Path, clock: ManualClock, ids: CountingIds) -> AsyncIterator[Playground]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    yield Playground(store, clock, ids)
    await store.aclose()
