"""`kill -9` at every await of a proposal's life, on both stores, of the bot and of Redis: no effect twice, no proposal lost.

A run is a process that dies at one point of a road, a second process that finds what it left, people who go on as people do,
and a judgement from outside.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kills.oracle import Judged
from tests.kills.roads import ROADS, Road
from tests.kills.yard import Yard, open_yard

RUNS = {1: 3, 3: 8}
"""Kills on a road by the size of the test; in full, at every point."""


def spread(points: int, wanted: int, turn: int) -> Iterator[int]:
    """`wanted` of the numbers 1 to `points`, evenly spread; another `turn` begins elsewhere."""
    stride = max(1, points // wanted)
    yield from range(1 + turn % stride, points + 1, stride)


async def every(yard: Yard, road: Road, soak: int, **how: bool) -> list[tuple[str, Judged]]:
    whole, judged = await yard.walk(road, 0)
    assert judged.wrong == [] and whole.counted is not None
    points, awaits = whole.counted.points, Counter(phase for phase, _ in whole.counted.awaits)
    chosen = list(spread(len(points), RUNS.get(soak, len(points)), ROADS.index(road)))
    print(f"{road.name}: {dict(awaits)} awaits, {len(points)} points, {len(chosen)} of them struck")
    came_to = []
    for at in chosen:
        ended, judged = await yard.walk(road, at, **how)
        came_to.append((ended.point, judged))
        assert judged.wrong == [], f"{road.name}, struck at {at}, {ended.point}: {judged.wrong}"
    print(f"  {Counter(judged.came_to for _, judged in came_to)}")
    return came_to


@pytest.mark.soak
@pytest.mark.case("hitl-C06")
@pytest.mark.parametrize("road", ROADS, ids=[road.name for road in ROADS])
async def test_a_bot_on_sqlite_that_is_killed_anywhere_leaves_one_effect_or_none(
    tmp_path: Path, road: Road, soak: int
):
    async with open_yard(tmp_path) as yard:
        await every(yard, road, soak)
