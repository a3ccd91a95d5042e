"""Where processes die: a scheduler that outlives them all, the road walked once until something dies, and once more to its end.

What must hold in the end is judged from outside: the effects as the scheduler received them, the chat as people see it, the
store and its audit as a new process reads them.
"""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import aiohttp
from pydantic import HttpUrl

from chatops_bot.app.audit_reading import all_rows, open_audit
from chatops_bot.app.config import (
    AccountConfig,
    AccountsConfig,
    Config,
    SchedulerConfig,
    Secrets,
    StoreConfig,
)
from chatops_bot.app.keys import read_keys
from chatops_bot.app.policy_config import RolesConfig
from chatops_bot.scheduler.auth import LEAST_COST, hash_password
from chatops_bot.scheduler.service import SchedulerService
from chatops_bot.scheduler.settings import SchedulerSettings
from tests.forked import processes
from tests.kills import dying_bot
from tests.kills.again_road import AgainRoad, judge_again
from tests.kills.dying_bot import Counted, Orders
from tests.kills.form_oracle import judge_forms
from tests.kills.form_roads import FormRoad
from tests.kills.light_bot import GIVEN, open_light_bot
from tests.kills.oracle import Judged, judge
from tests.kills.roads import PEOPLE, Road
from tests.kills.taps import Taps
from tests.redis_server import RedisServer
from tests.scenarios.gateway import Gateway, open_gateway

PASSWORD = "correct horse"
ACCOUNTS = ("viewer", "operator", "admin")
REDIS_URL = "REDIS_URL"
KEYS = read_keys({"CHATOPS_KEY": bytes(range(32)).hex()}, None)
DEADLINE = 90.0
POLL = 0.005


@cache
def _hash() -> str:
    return hash_password(PASSWORD, LEAST_COST)


@dataclass(frozen=True)
class Ended:
    """How a process that was sent on a road ended: killed at `point`, or alive, with what it `counted`."""

    process: str
    killed: bool
    point: str = ""
    counted: Counted | None = None


@dataclass
class Yard:
    """`redis` None: each run has a file of its own for its store."""

    folder: Path
    gateway: Gateway
    session: aiohttp.ClientSession
    scheduler: SchedulerService
    redis: RedisServer | None
    _runs: int = 0
    _headers: dict[str, str] = field(default_factory=dict)

    async def walk(
        self, road: Road, *struck: int, dies: bool = True, strikes_redis: bool = False
    ) -> tuple[Ended, Judged]:
        """Send a process down the road until it is struck, and for each further point of `struck` another one after it; let a last
        one bring everything to its end, and judge. Returns also how the last one that was struck ended."""
        self._runs += 1
        folder = self.folder / f"run{self._runs}"
        folder.mkdir()
        config, secrets = self.config(road, folder), self.secrets()
        redis = self.redis.pid if self.redis is not None and strikes_redis else 0
        self.gateway.passed.clear()
        wall = folder / "wall.db"
        dead: list[str] = []
        for at in struck:
            ended = await self._send(Orders(config, secrets, wall, road, at, dies, redis, tuple(dead)))
            dead.append(ended.process)
        async with open_light_bot(config, secrets, wall, Taps(road.phases), dead) as bot:
            before = {proposal.id for proposal in await bot.proposals()}
            await bot.at_rest()
            await bot.walk(road)
            await bot.at_rest()
            if isinstance(road, AgainRoad):
                judged = await judge_again(bot, before, self.gateway, await self._status())
            else:
                judged = await judge(bot, road, before, self.gateway, await self._status())
            if isinstance(road, FormRoad):
                await judge_forms(judged, road, bot.store, folder / GIVEN)
        async with open_audit(folder, config, {REDIS_URL: secrets.redis_url}) as reader:
            judged.judge_audit([row async for row in all_rows(reader)], KEYS.audit)
        await self._resume()
        return ended, judged

    async def _send(self, orders: Orders) -> Ended:
        hears, tells = processes.Pipe(duplex=False)
        process = processes.Process(target=dying_bot.run, args=(orders, tells))
        process.start()
        tells.close()
        try:
            async with asyncio.timeout(DEADLINE):
                said = await self._hear(hears, orders)
                await asyncio.to_thread(process.join)
            code = process.exitcode
            assert code in (0, -signal.SIGKILL), f"the process ended with {code} at {orders.road.name} {said}"
        finally:
            process.kill()
            process.join()
            hears.close()
            process.close()
        counted = next((one for one in said if isinstance(one, Counted)), None)
        points = [one for one in said[1:] if isinstance(one, str)]
        return Ended(str(said[0]), code != 0, points[0] if points else "", counted)

    async def _hear(self, hears: Connection, orders: Orders) -> list[Any]:
        """All that it says until it is no more; a Redis that it killed is started again at once."""
        said = []
        while True:
            try:
                said.append(await asyncio.to_thread(hears.recv))
            except EOFError:
                return said
            if orders.redis and len(said) == 2 and isinstance(said[1], str):
                await asyncio.to_thread(self._revive)

    def _revive(self) -> None:
        """Start Redis again, which is just being killed."""
        assert self.redis is not None
        self.redis.await_death()
        self.redis.start()

    def config(self, road: Road, folder: Path) -> Config:
        accounts = {name: AccountConfig(username=name, password_env=name) for name in ACCOUNTS}
        scheduler = SchedulerConfig(url=HttpUrl(self.gateway.url), accounts=AccountsConfig(**accounts))
        people = RolesConfig.model_validate({"people": {one.id: one.role.value for one in PEOPLE.values()}})
        store = StoreConfig() if self.redis is None else StoreConfig(
            redis_url_env=REDIS_URL, redis_prefix=f"run{self._runs}", lease_seconds=60
        )  # fmt: skip
        return Config(data=folder, scheduler=scheduler, roles=people, policy=road.policy(), store=store)

    def secrets(self) -> Secrets:
        return Secrets(
            slack_bot_token="", slack_app_token="", scheduler_passwords=dict.fromkeys(ACCOUNTS, PASSWORD), model=None,
            webhook_token="", redis_url="" if self.redis is None else self.redis.url, keys=KEYS,
        )  # fmt: skip

    # -- the scheduler, past the gateway ----------------------------------------------------------------------------------

    async def _status(self) -> str:
        """The task's, once the scheduler has answered every call, also of those that died before they heard it."""
        while self.gateway.under_way:  # noqa: ASYNC110  # counted by the tasks of a server
            await asyncio.sleep(POLL)
        return str((await self.at_scheduler("GET", "tasks/1"))["Status"])

    async def new_task(self, name: str) -> int:
        task = {"name": name, "type": "shell", "payload": "true", "cron_expr": "0 2 1 1 *"}
        return int((await self.at_scheduler("POST", "tasks", task))["ID"])

    async def _resume(self) -> None:
        if await self._status() == "disabled":
            await self.at_scheduler("POST", "tasks/1/resume")

    async def at_scheduler(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        if not self._headers:
            login = {"username": "admin", "password": PASSWORD}
            async with self.session.post(f"{self.scheduler.url}/api/auth/login", json=login) as response:
                self._headers = {"Authorization": f"Bearer {(await response.json())['token']}"}
        url = f"{self.scheduler.url}/api/v1/{path}"
        async with self.session.request(method, url, json=body, headers=self._headers) as response:
            assert response.status < 300, await response.text()
            return await response.json()


@asynccontextmanager
async def open_yard(folder: Path, redis: RedisServer | None = None) -> AsyncIterator[Yard]:
    (folder / "scheduler").mkdir(parents=True)
    accounts = [{"username": name, "role": name, "password_hash": _hash()} for name in ACCOUNTS]
    (folder / "scheduler" / "scheduler-accounts.json").write_text(json.dumps(accounts))
    async with AsyncExitStack() as stack:
        scheduler = await stack.enter_async_context(
            SchedulerService.start(SchedulerSettings(data=folder / "scheduler", shell=True))
        )
        session = await stack.enter_async_context(aiohttp.ClientSession())
        gateway = await stack.enter_async_context(open_gateway(scheduler.url))
        yard = Yard(folder, gateway, session, scheduler, redis)
        await yard.new_task("nightly-report")
        yield yard
