"""What the tests of the model client share: one HTTP session, and a scripted server a test."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.llm.model_server import ModelServer


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """A running server; a test puts its `Answer`s into `server.answers`."""
    async with ModelServer() as server:
        yield server
