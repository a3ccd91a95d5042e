"""`kill -9` at every await of a proposal's life, on both stores, of the bot and of Redis: no effect twice, no proposal lost.

A run is a process that dies at one point of a road, a second process that finds what it left, people who go on as people do,
and a judgement from outside.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.kills.again_road import AGAIN
from tests.kills.form_roads import FORM_ROADS
from tests.kills.roads import ROADS, Road
from tests.kills.yard import Yard, open_yard
from tests.redis_server import RedisServer
from tests.scenarios.tapped_store import ROLES

RUNS = {1: 1, 3: 4}
"""Kills on a road by the size of the test. In full a bot dies at every point; what dies beside it, at some."""
REDIS_RUNS = RUNS | {30: 30}
SECOND_RUNS = RUNS | {30: 10}
GOLDEN = 0.618
"""Multiples of it fall far from each other."""
roads = pytest.mark.parametrize("road", ROADS, ids=[road.name for road in ROADS])


@pytest.fixture
def redis_to_kill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.kill()


def spread(points: Sequence[int], wanted: int, turn: int) -> Sequence[int]:
    """`wanted` of the points, evenly spread. Each `turn` begins elsewhere, and none with the last tenth: how often a turn is shown
    depends on the pace, so that the number of points does a little."""
    stride = max(1, len(points) // wanted)
    first = int(stride * 0.9 * (turn * GOLDEN % 1))
    return points[first::stride][:wanted]


async def every(
    yard: Yard, road: Road, soak: int, turn: int, *, dies: bool = True, strikes_redis: bool = False
) -> Counter[str]:
    """Walk the road once whole and then once for each of the chosen points; returns what the proposals came to."""
    whole, judged = await yard.walk(road, 0)
    assert judged.wrong == []
    assert whole.counted is not None
    # Redis dies around calls of the store; elsewhere nothing would notice.
    points = [
        at
        for at, (phase, name) in enumerate(whole.counted.points, start=1)
        if phase in road.struck and (not strikes_redis or name.split()[1].startswith(ROLES))
    ]
    wanted = (REDIS_RUNS if strikes_redis else RUNS).get(soak, len(points))
    chosen = spread(points, wanted, (*ROADS, *FORM_ROADS, AGAIN).index(road) + turn)
    awaits = Counter(phase for phase, _ in whole.counted.awaits if phase in road.struck)
    print(f"{road.name}: awaits {dict(awaits)}; {len(chosen)} of {len(points)} points struck")
    came_to: Counter[str] = Counter()
    deaths = 0
    for at in chosen:
        ended, judged = await yard.walk(road, at, dies=dies, strikes_redis=strikes_redis)
        assert judged.wrong == [], f"{road.name}, struck at {at}, {ended.point}: {judged.wrong}"
        came_to[judged.came_to] += 1
        deaths += ended.killed
    print(f"  {deaths} bots died; what was proposed came to {dict(came_to)}")
    assert deaths > 0 or not dies
    return came_to


@pytest.mark.soak
@pytest.mark.case("hitl-C06")
@roads
async def test_a_bot_on_sqlite_that_is_killed_anywhere(tmp_path: Path, road: Road, soak: int):
    async with open_yard(tmp_path) as yard:
        await every(yard, road, soak, 1)


@pytest.mark.soak
@pytest.mark.case("hitl-C06")
@roads
async def test_a_bot_on_redis_that_is_killed_anywhere(
    tmp_path: Path, redis: RedisServer, road: Road, soak: int
):
    async with open_yard(tmp_path, redis) as yard:
        await every(yard, road, soak, 2)


@pytest.mark.soak
async def test_a_redis_that_is_killed_under_a_bot_costs_it_nothing(
    tmp_path: Path, redis_to_kill: RedisServer, soak: int
):
    async with open_yard(tmp_path, redis_to_kill) as yard:
        for road in ROADS if soak > 1 else ROADS[:1]:
            came_to = await every(yard, road, soak, 3, dies=False, strikes_redis=True)
            assert not any("unknown" in states for states in came_to), "the bot waits until Redis is back"


@pytest.mark.soak
async def test_a_redis_and_its_bot_that_are_killed_together(
    tmp_path: Path, redis_to_kill: RedisServer, soak: int
):
    async with open_yard(tmp_path, redis_to_kill) as yard:
        for road in ROADS if soak > 1 else ROADS[:1]:
            await every(yard, road, soak, 4, strikes_redis=True)


FIRST_DEATHS = (
    ("propose", "after turns.begin"),
    ("propose", "after proposals.add"),
    ("decide", "after proposals.move"),
    ("claim", "after proposals.move"),
    ("apply", "after POST /api/v1/tasks/1/pause"),
    ("apply", "after proposals.move"),
)
"""Where there is the most for a second process to do."""


@pytest.mark.soak
@pytest.mark.case("hitl-C06")
@pytest.mark.parametrize("kind", ["sqlite", "redis"])
async def test_a_second_bot_that_is_killed_while_it_recovers(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str, soak: int
):
    road = ROADS[0]
    async with open_yard(tmp_path, request.getfixturevalue("redis") if kind == "redis" else None) as yard:
        whole, _ = await yard.walk(road, 0)
        assert whole.counted is not None
        deaths = FIRST_DEATHS if soak > 1 else FIRST_DEATHS[4:5]
        for death in deaths:
            first = whole.counted.points.index(death) + 1
            second, judged = await yard.walk(road, first, 0)
            assert judged.wrong == [], f"{death}: {judged.wrong}"
            assert second.counted is not None
            points = range(1, len(second.counted.points) + 1)
            chosen = spread(points, SECOND_RUNS[soak], 3)
            print(f"{kind}, after a death {death}: {len(chosen)} of {len(points)} points struck")
            for at in chosen:
                ended, judged = await yard.walk(road, first, at)
                assert judged.wrong == [], f"{death}, then at {at}, {ended.point}: {judged.wrong}"
