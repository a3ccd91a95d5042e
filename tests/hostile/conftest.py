"""The whole product, as the scenarios have it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.scenarios.conftest import World, open_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        yield opened
