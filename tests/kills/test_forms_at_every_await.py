"""`kill -9` at every await from a question to its card, where a form is filled in on the way: no answer and no secret is lost or doubled."""

from pathlib import Path

import pytest

from tests.kills.form_roads import FORM_ROADS, FormRoad
from tests.kills.test_every_await import every
from tests.kills.yard import open_yard
from tests.redis_server import RedisServer

roads = pytest.mark.parametrize("road", FORM_ROADS, ids=[road.name for road in FORM_ROADS])


@pytest.mark.soak
@pytest.mark.case("hitl-C06")
@roads
async def test_a_form_of_a_bot_on_sqlite_that_is_killed_anywhere(tmp_path: Path, road: FormRoad, soak: int):
    async with open_yard(tmp_path) as yard:
        await every(yard, road, soak, 1)


@pytest.mark.soak
@roads
async def test_a_form_of_a_bot_on_redis_that_is_killed_anywhere(
    tmp_path: Path, redis: RedisServer, road: FormRoad, soak: int
):
    async with open_yard(tmp_path, redis) as yard:
        await every(yard, road, soak, 2)
