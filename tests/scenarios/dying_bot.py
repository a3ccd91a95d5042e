"""A bot in a process of its own that kills itself, as with `kill -9`, right before or right after one write to its store."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal

from chatops_bot.app.bootstrap import open_bot
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import Config, Secrets
from tests.scenarios.tapped_store import WRITES, tapped


@dataclass(frozen=True)
class KillPoint:
    """The `number`th call (from 1) of one kind of write."""

    write: str
    number: int
    side: Literal["before", "after"]

    def __str__(self) -> str:
        return f"{self.side} {self.write} #{self.number}"


def run(config: Config, secrets: Secrets, at: KillPoint | None, told: Connection) -> None:
    """Run the bot until it dies; sends "ready" once it is up, and the name of each write right before it."""
    asyncio.run(_run(config, secrets, at, told))


async def _run(config: Config, secrets: Secrets, at: KillPoint | None, told: Connection) -> None:
    counted: Counter[str] = Counter()

    def die_if(side: str, write: str, number: int) -> None:
        if at is not None and (at.side, at.write, at.number) == (side, write, number):
            os.kill(os.getpid(), signal.SIGKILL)

    async def tap(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if name not in WRITES:
            return await call()
        counted[name] += 1
        number = counted[name]
        told.send(name)
        die_if("before", name, number)
        done = await call()
        die_if("after", name, number)
        return done

    async with open_bot(config, secrets, clock=SystemClock(), ids=RandomIds(), wrap_store=tapped(tap)):
        told.send("ready")
        await asyncio.Event().wait()
