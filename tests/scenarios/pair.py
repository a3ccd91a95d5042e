"""Two bots of one workspace over one Redis: in this process, or one of them in a process of its own that can be killed."""

import asyncio
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from chatops_bot.app.bootstrap import Bot
from chatops_bot.app.config import Config, ModelEndpoint, Secrets, StoreConfig
from chatops_bot.ports import LLM
from tests.forked import processes
from tests.redis_server import RedisServer
from tests.scenarios import dying_bot
from tests.scenarios.conftest import World
from tests.scenarios.dying_bot import KillPoint
from tests.scenarios.tapped_store import tapped

LEASE_SECONDS = 3.0
TAKEN_OVER_SECONDS = LEASE_SECONDS * 8 / 3
"""The longest from a death to the takeover: the lease, as long again without a word, and two of the survivor's beats."""


@dataclass
class Pair:
    """`calls` counts what each bot in this process asked of the store, such as `("b", "turns.begin")`."""

    world: World
    redis: RedisServer
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    def config(self, name: str) -> Config:
        store = StoreConfig(redis_url_env="REDIS_URL", lease_seconds=LEASE_SECONDS)
        return self.world.config(data=self.world.folder / name, store=store)

    def secrets(self, model: ModelEndpoint | None = None) -> Secrets:
        return replace(self.world.secrets(), redis_url=self.redis.url, model=model)

    @asynccontextmanager
    async def bot(self, name: str, model: LLM | None = None) -> AsyncIterator[Bot]:
        async def tap(call: str, carry_out: Callable[[], Awaitable[Any]]) -> Any:
            self.calls[name, call] += 1
            return await carry_out()

        async with self.world.bot(
            model, config=self.config(name), secrets=self.secrets(), wrap_store=tapped(tap)
        ) as bot:
            yield bot

    @asynccontextmanager
    async def process(
        self, name: str, model: ModelEndpoint | None = None, *, dies: KillPoint | None = None
    ) -> AsyncIterator["BotProcess"]:
        """A bot in a process of its own, once it is up; it kills itself at `dies`."""
        hears, tells = processes.Pipe(duplex=False)
        slack = self.world.folder / "workspace" / "workspace.sqlite3"
        process = processes.Process(
            target=dying_bot.run, args=(self.config(name), self.secrets(model), slack, dies, tells)
        )
        process.start()
        tells.close()
        bot = BotProcess(process)
        try:
            while await asyncio.wait_for(asyncio.to_thread(hears.recv), 30) != "ready":
                pass
            yield bot
        finally:
            bot.kill()
            await asyncio.to_thread(process.join)
            hears.close()
            process.close()

    def handed_on(self) -> int:
        """How often a bot told another something."""
        for line in self.redis.send("INFO", "commandstats").decode().splitlines():
            if line.startswith("cmdstat_xadd:"):
                return int(line.split("calls=")[1].split(",")[0])
        return 0


@dataclass
class BotProcess:
    process: multiprocessing.process.BaseProcess

    async def death(self) -> None:
        """Until it is dead."""
        await asyncio.to_thread(self.process.join, 30)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def pause(self) -> None:
        self._send(signal.SIGSTOP)

    def wake(self) -> None:
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        if self.process.is_alive() and self.process.pid is not None:
            os.kill(self.process.pid, number)
