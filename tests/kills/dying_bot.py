"""A bot in a process of its own that is struck at one point of its road: it dies as with `kill -9`, or its Redis does."""

import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from chatops_bot.app.config import Config, Secrets
from tests.kills.light_bot import DEADLINE, open_light_bot
from tests.kills.roads import Road
from tests.kills.taps import Taps


@dataclass(frozen=True)
class Orders:
    """Walk `road`; at point `at` (0: never) kill process `redis`, where there is one, and then oneself where one `dies`.

    After the `dead` ones, the points of a recovery come first.
    """

    config: Config
    secrets: Secrets
    wall: Path
    road: Road
    at: int
    dies: bool = True
    redis: int = 0
    dead: Sequence[str] = ()


@dataclass(frozen=True)
class Counted:
    """All that a process awaited and the points around it, in order, each with its phase."""

    awaits: list[tuple[str, str]]
    points: list[tuple[str, str]]


def run(orders: Orders, told: Connection) -> None:
    """Walk the road to its end, or to death. Sends the process's name, then the point at which it is struck, and at
    the end, if it comes to it, all that it counted."""
    asyncio.run(asyncio.wait_for(_run(orders, told), DEADLINE))


async def _run(orders: Orders, told: Connection) -> None:
    async def strike(point: str) -> None:
        told.send(point)
        if orders.redis:
            os.kill(orders.redis, signal.SIGKILL)
        if orders.dies:
            os.kill(os.getpid(), signal.SIGKILL)

    taps = Taps(orders.road.phases, orders.at, strike)
    if orders.dead:
        taps.arm()
    async with open_light_bot(
        orders.config, orders.secrets, orders.wall, taps, orders.dead, told.send
    ) as bot:
        taps.arm()
        await bot.walk(orders.road)
    told.send(Counted(taps.awaits, taps.points))
