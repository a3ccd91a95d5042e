"""A stand-in for the Go service with its traps, faults on demand, and callers of every role."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.session import SessionKey
from chatops_bot.ports import Tool, ToolContext
from chatops_bot.toolsets.scheduler import Account, SchedulerClient, scheduler_tools

NOW = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)
ZERO = "0001-01-01T00:00:00Z"
ROLE_NEEDED = {"GET": 0, "POST": 1, "DELETE": 2}
RANK = {"viewer": 0, "operator": 1, "admin": 2}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class SteeredClock:
    """Wall time that a test sets; real seconds underneath."""

    time: datetime = NOW

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass
class Fault:
    """What happens to the next `times` requests whose `METHOD path` matches. `after` lets the effect happen first."""

    pattern: str
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]]
    times: int = 1
    after: bool = False


def go_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.123456789Z")


def error(status: int, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)


@dataclass
class GoService:
    """The Go api service as read from its code: PascalCase, zero times, oldest-first by status, wrapping offsets."""

    tasks: dict[int, dict[str, Any]] = field(default_factory=dict)
    edges: list[tuple[int, int]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    workers: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)
    logins: int = 0
    expires_in: int = 3600
    trigger_makes_run: bool = True
    a_run_starts_with_each_page: bool = False
    bare_arrays: bool = False
    stores_instead: dict[str, Any] = field(default_factory=dict)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    def add_task(self, task_id: int, name: str, **more: Any) -> dict[str, Any]:
        task = {
            "ID": task_id,
            "Name": name,
            "Type": "shell",
            "CronExpr": "0 2 * * *",
            "Payload": f"run-{name}",
            "Image": "",
            "Status": "enabled",
            "TimeoutSeconds": 300,
            "MaxRetry": 3,
            "RetryPolicy": "fixed_interval",
            "RouteStrategy": "round_robin",
            "Labels": '{"team":"ops"}',
            "NextTriggerTime": go_time(NOW + timedelta(hours=12)),
            "TenantID": 0,
            "Version": 1,
        } | more
        self.tasks[task_id] = task
        return task

    def add_run(self, task_id: int, status: str = "success", ago: float = 1.0, **more: Any) -> dict[str, Any]:
        """A run triggered `ago` hours before NOW; ids ascend."""
        run_id = len(self.runs) + 1
        moment = go_time(NOW - timedelta(hours=ago))
        run = {
            "ID": run_id,
            "TaskID": task_id,
            "ScheduleInstanceID": f"task-{task_id}-{run_id}",
            "TriggerTime": moment,
            "StartedAt": ZERO,
            "FinishedAt": ZERO,
            "CreatedAt": moment,
            "WorkerID": "worker-1",
            "Status": status,
            "RetryCount": 0,
            "ErrorCode": "execute_failed" if status == "failed" else "",
            "ErrorMessage": "",
            "AnalysisJSON": "",
        } | more
        self.runs.append(run)
        return run

    def calls(self, pattern: str) -> int:
        return sum(bool(re.fullmatch(pattern, request)) for request in self.requests)

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._traced])
        app.router.add_post("/api/auth/login", self._log_in)
        app.router.add_get("/api/v1/tasks", self._list_tasks)
        app.router.add_post("/api/v1/tasks", self._create)
        app.router.add_get("/api/v1/tasks/dag", self._dag)
        app.router.add_get("/api/v1/tasks/{id}", self._task)
        app.router.add_delete("/api/v1/tasks/{id}", self._delete)
        app.router.add_post("/api/v1/tasks/{id}/{action}", self._act)
        app.router.add_get("/api/v1/task-instances", self._list_runs)
        app.router.add_get("/api/v1/task-instances/{id}", self._run)
        app.router.add_get("/api/v1/workers", self._list_workers)
        return app

    @web.middleware
    async def _traced(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        line = f"{request.method} {request.path}"
        self.requests.append(line)
        self.headers.append(dict(request.headers))
        fault = next((f for f in self.faults if f.times > 0 and re.fullmatch(f.pattern, line)), None)
        if fault is not None:
            fault.times -= 1
            if fault.after:
                await handler(request)
            return await fault.answer(request)
        if request.path.startswith("/api/v1"):
            role = self.tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
            if role is None:
                return error(401, "invalid or expired token")
            if RANK[role] < ROLE_NEEDED[request.method]:
                return error(403, "insufficient permissions")
        return await handler(request)

    async def _log_in(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body["password"] != f"pass-{body['username']}":
            return error(401, "invalid credentials")
        self.logins += 1
        token = f"token-{self.logins}-{body['username']}"
        self.tokens[token] = body["username"]
        return web.json_response({"token": token, "role": body["username"], "expires_in": self.expires_in})

    async def _list_tasks(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(list(self.tasks.values()))

    async def _dag(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(
            [
                {
                    "id": task_id,
                    "name": task["Name"],
                    "type": task["Type"],
                    "status": task["Status"],
                    "depends_on": [up for down, up in self.edges if down == task_id] or None,
                }
                for task_id, task in self.tasks.items()
            ]
        )

    async def _task(self, request: web.Request) -> web.StreamResponse:
        task = self.tasks.get(int(request.match_info["id"]))
        return web.json_response(task) if task else error(404, "task not found")

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if any(task["Name"] == body["name"] for task in self.tasks.values()):
            return error(500, f"Error 1062: Duplicate entry '{body['name']}' for key 'name'")
        pascal = {"cron_expr": "CronExpr", "timeout_seconds": "TimeoutSeconds", "max_retry": "MaxRetry"}
        pascal |= {"retry_policy": "RetryPolicy"}
        fields = {pascal.get(key, key.capitalize()): value for key, value in body.items()}
        task = self.add_task(
            max(self.tasks, default=0) + 1, fields.pop("Name"), **fields | self.stores_instead
        )
        return web.json_response(task, status=201)

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        if self.tasks.pop(int(request.match_info["id"]), None) is None:
            return error(404, "task not found")
        return web.Response(status=204)

    async def _act(self, request: web.Request) -> web.StreamResponse:
        task = self.tasks.get(int(request.match_info["id"]))
        if task is None:
            return error(404, "task not found")
        action = request.match_info["action"]
        if action == "trigger":
            if task["Status"] == "disabled":
                return error(409, "task is not enabled")
            if self.trigger_makes_run:
                self.add_run(task["ID"], "pending", ago=0)
        else:
            task["Status"] = {"pause": "disabled", "resume": "enabled"}[action]
        task["Version"] += 1
        return web.json_response(task)

    async def _list_runs(self, request: web.Request) -> web.StreamResponse:
        limit, offset = int(request.query.get("limit", 50)), int(request.query.get("offset", 0))
        status, task_id = request.query.get("status"), request.query.get("task_id")
        if status and not task_id:
            oldest = [run for run in self.runs if run["Status"] == status][:limit]
            return web.json_response({"instances": oldest, "total": len(oldest)})
        chosen = [run for run in reversed(self.runs) if task_id in (None, str(run["TaskID"]))]
        if self.a_run_starts_with_each_page:
            self.add_run(1, "running", ago=0)
        if offset >= len(chosen):
            offset = 0
        if self.bare_arrays:
            return web.json_response(chosen[offset : offset + min(limit, 50)])
        return web.json_response({"instances": chosen[offset : offset + limit], "total": len(chosen)})

    async def _run(self, request: web.Request) -> web.StreamResponse:
        run = next((run for run in self.runs if run["ID"] == int(request.match_info["id"])), None)
        return web.json_response(run) if run else error(404, "instance not found")

    async def _list_workers(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(self.workers)


@pytest.fixture
async def go() -> AsyncIterator[GoService]:
    service = GoService()
    async with TestServer(service.application()) as server:
        service.url = str(server.make_url("")).rstrip("/")
        yield service
        service.released.set()


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient() as client:
        yield client


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock()


ACCOUNTS = {
    Role.VIEWER: Account("viewer", "pass-viewer"),
    Role.OPERATOR: Account("operator", "pass-operator"),
    Role.ADMIN: Account("admin", "pass-admin"),
}


@pytest.fixture
def client(go: GoService, http: httpx.AsyncClient) -> SchedulerClient:
    return SchedulerClient(http, go.url, ACCOUNTS, pause=0.01)


@pytest.fixture
def tools(client: SchedulerClient, clock: SteeredClock) -> dict[str, Tool]:
    return {tool.spec.name: tool for tool in scheduler_tools(client, clock)}


def context_of(role: Role = Role.VIEWER, key: str = "", zone: str = "") -> ToolContext:
    person = Person("U1", "Ana", role, timezone=zone)
    return ToolContext(person, SessionKey("sim", "T1", "C1", "1.0"), "turn_1", key)


class Calls:
    """Calls tools the way the dispatcher does: by name, with arguments as the model sends them."""

    def __init__(self, tools: dict[str, Tool]) -> None:
        self.tools = tools

    async def __call__(
        self, name: str, arguments: dict[str, Any] | None = None, *, role: Role = Role.VIEWER
    ) -> Any:
        tool: Any = self.tools[name]
        return await tool.run(tool.spec.arguments.model_validate(arguments or {}), context_of(role))

    async def plan(
        self, name: str, arguments: dict[str, Any], role: Role = Role.OPERATOR, zone: str = ""
    ) -> Any:
        tool: Any = self.tools[name]
        return await tool.plan(tool.spec.arguments.model_validate(arguments), context_of(role, zone=zone))

    async def check(self, name: str, given: dict[str, Any]) -> Any:
        tool: Any = self.tools[name]
        return await tool.spec.check(tool, given, context_of(Role.OPERATOR))

    async def apply(
        self, name: str, arguments: dict[str, Any], role: Role = Role.OPERATOR, key: str = "effect-1"
    ) -> Any:
        tool: Any = self.tools[name]
        return await tool.apply(tool.spec.arguments.model_validate(arguments), context_of(role, key))

    async def probe(self, name: str, arguments: dict[str, Any], plan: Any, role: Role = Role.OPERATOR) -> Any:
        tool: Any = self.tools[name]
        return await tool.probe(tool.spec.arguments.model_validate(arguments), plan, context_of(role))


@pytest.fixture
def call(tools: dict[str, Tool]) -> Calls:
    return Calls(tools)


@pytest.fixture
def faulty(go: GoService) -> Callable[..., None]:
    """`faulty("GET /api/v1/tasks", "502")`: the kind of fault, `times` over, the effect first when `after`."""

    async def hang_up(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def hang(_: web.Request) -> web.StreamResponse:
        await go.released.wait()
        return web.Response()

    def plain(status: int, text: str) -> Handler:
        async def answer(_: web.Request) -> web.StreamResponse:
            return web.Response(status=status, text=text)

        return answer

    def refusal(status: int, text: str) -> Handler:
        async def answer(_: web.Request) -> web.StreamResponse:
            return error(status, text)

        return answer

    kinds: dict[str, Handler] = {
        "hang up": hang_up,
        "hang": hang,
        "rubbish": plain(200, "<html>hello</html>"),
        "wrong shape": plain(200, '{"surprise": 1}'),
        "empty success": plain(200, "{}"),
        "502": plain(502, "bad gateway"),
        "503": plain(503, "unavailable"),
        "500": refusal(500, "database is gone"),
        "plain 500": plain(500, "panic"),
        "401": refusal(401, "invalid or expired token"),
        "429": refusal(429, "rate limit exceeded, try again later"),
    }

    def add(pattern: str, kind: str, *, times: int = 1, after: bool = False) -> None:
        go.faults.append(Fault(pattern, kinds[kind], times, after))

    return add
