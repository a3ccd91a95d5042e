"""A real service on port 0 with one known account a role, and a client that speaks as any of them."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from chatops_bot.scheduler import SchedulerService, SchedulerSettings
from chatops_bot.scheduler.auth import LEAST_COST, hash_password
from chatops_bot.scheduler.schema import migrate
from chatops_bot.scheduler.worker.sandbox import Isolation, choose_sandbox

ROLES = ("viewer", "operator", "admin")
PASSWORD = "correct horse"
HASH = hash_password(PASSWORD, LEAST_COST)
TERMINAL = {"success", "failed", "timeout", "cancelled"}


@dataclass(frozen=True)
class Answer:
    """A response, read."""

    status: int
    body: Any
    headers: dict[str, str]


@dataclass
class Api:
    """Calls one service as any role; `worker` uses the worker token."""

    service: SchedulerService
    http: aiohttp.ClientSession
    tokens: dict[str, str] = field(default_factory=dict)

    async def call(
        self,
        role: str | None,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        sent = dict(headers or {})
        if role == "worker":
            sent["Authorization"] = f"Bearer {self.service.worker_token}"
        elif role is not None:
            sent["Authorization"] = f"Bearer {await self.token(role)}"
        async with self.http.request(method, self.service.url + path, json=body, headers=sent) as response:
            text = await response.text()
            value = json.loads(text) if response.content_type == "application/json" else text
            return Answer(response.status, value, dict(response.headers))

    async def token(self, role: str) -> str:
        if role not in self.tokens:
            answer = await self.call(
                None, "POST", "/api/auth/login", {"username": role, "password": PASSWORD}
            )
            assert answer.status == 200, answer
            self.tokens[role] = answer.body["token"]
        return self.tokens[role]

    async def get(self, path: str) -> Any:
        answer = await self.call("viewer", "GET", path)
        assert answer.status == 200, answer
        return answer.body

    async def create(self, name: str = "job", payload: str = "echo hi", **more: Any) -> int:
        body = {"name": name, "type": "shell", "payload": payload} | more
        answer = await self.call("operator", "POST", "/api/v1/tasks", body)
        assert answer.status == 201, answer
        return int(answer.body["ID"])

    async def trigger(self, task_id: int) -> int:
        answer = await self.call("operator", "POST", f"/api/v1/tasks/{task_id}/trigger")
        assert answer.status == 200, answer
        return int(answer.headers["X-Instance-ID"])

    async def instance(self, instance_id: int) -> dict[str, Any]:
        found: dict[str, Any] = await self.get(f"/api/v1/task-instances/{instance_id}")
        return found

    async def ended(self, instance_id: int, within: float = 20) -> dict[str, Any]:
        """The instance, once it has ended."""

        async def look() -> dict[str, Any] | None:
            run = await self.instance(instance_id)
            return run if run["Status"] in TERMINAL else None

        found: dict[str, Any] = await _eventually(look, within)
        return found

    async def run(self, task_id: int) -> dict[str, Any]:
        return await self.ended(await self.trigger(task_id))


async def _eventually(look: Callable[[], Awaitable[Any]], within: float = 20) -> Any:
    """What `look` returns once it is true; fails after `within` seconds."""
    async with asyncio.timeout(within):
        while not (found := await look()):  # noqa: ASYNC110  # see below
            await asyncio.sleep(0.02)  # the service is asked over HTTP, it has no event to wait on
    return found


def write_accounts(folder: Path) -> None:
    accounts = [{"username": role, "role": role, "password_hash": HASH} for role in ROLES]
    (folder / "scheduler-accounts.json").write_text(json.dumps(accounts))


StartApi = Callable[..., Any]


@pytest.fixture(name="eventually")
def eventually_() -> Callable[..., Awaitable[Any]]:
    """`await eventually(look)`: what the async `look` returns once it is true, or a failure after some seconds."""
    return _eventually


@pytest.fixture
def start_api(tmp_path: Path) -> StartApi:
    """`async with start_api(**settings) as api`: a service on this test's folder; can be entered again after."""
    write_accounts(tmp_path)

    @asynccontextmanager
    async def start(**settings: Any) -> AsyncIterator[Api]:
        chosen: dict[str, Any] = {"shell": True, "kill_grace_seconds": 0.3, "data": tmp_path} | settings
        async with (
            SchedulerService.start(SchedulerSettings(**chosen)) as service,
            aiohttp.ClientSession() as http,
        ):
            yield Api(service, http)

    return start


@pytest.fixture
async def api(start_api: StartApi) -> AsyncIterator[Api]:
    """A running service with shell enabled."""
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(start_api())


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    """The tables, in memory, for the logic that needs no service."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA foreign_keys=ON")
    migrate(connection, ":memory:")
    yield connection
    connection.close()


@pytest.fixture
async def bubblewrap() -> None:
    """Skips where bubblewrap doesn't work, unless CHATOPS_NO_SKIPS=1."""
    if (await choose_sandbox()).isolation is not Isolation.BUBBLEWRAP:
        reason = "bubblewrap is missing or does not work here, so the sandbox can't be tested"
        if os.environ.get("CHATOPS_NO_SKIPS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
