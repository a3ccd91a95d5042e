"""A bot in a process of its own that does what it is told: it is asked for changes, and has its cards clicked at one moment."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from chatops_bot.app.config import Config, Secrets
from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.session import MessageRef, SessionKey
from tests.kills.light_bot import LightBot, open_light_bot
from tests.kills.roads import PEOPLE
from tests.kills.taps import Taps


def thread_of(task: int) -> SessionKey:
    """Each task is spoken of in a thread of its own."""
    return SessionKey("slack", "T1", "C1", f"{task}.0")


@dataclass(frozen=True)
class Ask:
    """Answered with None once the cards of these tasks stand."""

    tasks: Sequence[int]


@dataclass(frozen=True)
class Click:
    """One press of Approve."""

    session: SessionKey
    person_id: str
    value: str
    message: MessageRef


@dataclass(frozen=True)
class Press:
    """All at `moment` of `time.monotonic`, which is one clock for all processes; answered with None when each is dealt with."""

    moment: float
    clicks: Sequence[Click]


def run(config: Config, secrets: Secrets, wall: Path, told: Connection) -> None:
    """Do what is told until the connection is closed."""
    asyncio.run(_run(config, secrets, wall, told))


async def _run(config: Config, secrets: Secrets, wall: Path, told: Connection) -> None:
    async with open_light_bot(config, secrets, wall, Taps(("click",))) as bot:
        told.send(bot.store.process)
        while True:
            try:
                order = await asyncio.to_thread(told.recv)
            except EOFError:
                return
            match order:
                case Ask(tasks):
                    for task in tasks:
                        await bot.ask(task, thread_of(task))
                    await bot.at_rest()
                case Press(moment, clicks):
                    await _press(bot, moment, clicks)
            told.send(None)


async def _press(bot: LightBot, moment: float, clicks: Sequence[Click]) -> None:
    await asyncio.sleep(moment - time.monotonic())
    presses = (
        ControlUsed(click.session, PEOPLE[click.person_id], "approve", click.value, click.message)
        for click in clicks
    )
    await asyncio.gather(*map(bot.core.router.handle, presses))
