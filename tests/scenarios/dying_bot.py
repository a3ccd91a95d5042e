"""A bot in a process of its own that kills itself, as with `kill -9`, right before or right after one write to its store.

It dies when Slack has its acknowledgements: a message without one would come again by itself, and a test would not know
whether to ask again.
"""

import asyncio
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
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


def run(config: Config, secrets: Secrets, slack: Path, at: KillPoint | None, told: Connection) -> None:
    """Run the bot until it dies; sends "ready" once it is up, and the name of each write right before it.

    `slack` is the workspace's own file, in which events stand until they are acknowledged.
    """
    asyncio.run(_run(config, secrets, slack, at, told))


async def _acknowledged(slack: Path) -> None:
    """Return when Slack waits for no acknowledgement of an event that it sent."""
    connection = sqlite3.connect(f"file:{slack}?mode=ro", uri=True)
    try:
        async with asyncio.timeout(20):
            while connection.execute("SELECT count(*) FROM events WHERE attempt > 0").fetchone()[0]:  # noqa: ASYNC110  # another process sets it
                await asyncio.sleep(0.01)
    finally:
        connection.close()


async def _run(config: Config, secrets: Secrets, slack: Path, at: KillPoint | None, told: Connection) -> None:
    counted: Counter[str] = Counter()

    async def die_if(side: str, write: str, number: int) -> None:
        if at is not None and (at.side, at.write, at.number) == (side, write, number):
            await _acknowledged(slack)
            os.kill(os.getpid(), signal.SIGKILL)

    async def tap(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if name not in WRITES:
            return await call()
        counted[name] += 1
        number = counted[name]
        told.send(name)
        await die_if("before", name, number)
        done = await call()
        await die_if("after", name, number)
        return done

    async with open_bot(config, secrets, clock=SystemClock(), ids=RandomIds(), wrap_store=tapped(tap)):
        told.send("ready")
        await asyncio.Event().wait()
