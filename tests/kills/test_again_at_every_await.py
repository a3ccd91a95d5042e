"""`kill -9` at every await from a press on *Propose again* to the new card's decision: one new change, or none and nothing ran."""

from pathlib import Path

import pytest

from tests.kills.again_road import AGAIN
from tests.kills.test_every_await import every
from tests.kills.yard import open_yard
from tests.redis_server import RedisServer


@pytest.mark.soak
@pytest.mark.case("hitl-C06")
async def test_what_a_bot_on_sqlite_proposes_again_when_it_is_killed_anywhere(tmp_path: Path, soak: int):
    async with open_yard(tmp_path) as yard:
        await every(yard, AGAIN, soak, 1)


@pytest.mark.soak
async def test_what_a_bot_on_redis_proposes_again_when_it_is_killed_anywhere(
    tmp_path: Path, redis: RedisServer, soak: int
):
    async with open_yard(tmp_path, redis) as yard:
        await every(yard, AGAIN, soak, 2)
