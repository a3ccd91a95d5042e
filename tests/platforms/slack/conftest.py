"""A real local workspace, and a small scripted Slack for the faults that a healthy workspace does not show."""

import asyncio
import itertools
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
import pytest
from aiohttp import web

from chatops_bot.domain.people import Role
from chatops_bot.domain.roster import Roster
from chatops_bot.platforms.slack.adapter import SlackPlatform
from chatops_bot.platforms.slack.api import SlackApi
from chatops_bot.platforms.slack.outbound import SlackWriter
from chatops_bot.rendering.pacing import Pace
from chatops_bot.simulators.slack import Settings, Workspace

Json = dict[str, Any]
DEADLINE = 5.0
QUICK = Pace(first_after=0.01, per_message=0.02, spacing=0.02)
AT_ONCE = Pace(spacing=0.0)


class RealClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class CountedIds:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def new(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers)}"

    def code(self) -> str:
        return "ABC234"

    def nonce(self) -> str:
        return "0" * 32


class Recorder:
    """Collects what happens and waits for it, with a deadline."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._changed = asyncio.Condition()

    async def add(self, item: Any) -> None:
        async with self._changed:
            self.items.append(item)
            self._changed.notify_all()

    async def until(self, condition: Callable[[list[Any]], Any]) -> list[Any]:
        async def wait() -> None:
            async with self._changed:
                await self._changed.wait_for(lambda: condition(self.items))

        await asyncio.wait_for(wait(), DEADLINE)
        return self.items


async def eventually(ask: Callable[[], Awaitable[Any]]) -> Any:
    """The first truthy answer to `ask`, which looks at something that tells nobody when it changes."""
    async with asyncio.timeout(2 * DEADLINE):
        while True:
            if found := await ask():
                return found
            await asyncio.sleep(0.02)


Fault = Callable[["FakeSlack", str, Json], Awaitable[Any]]


class FakeSlack:
    """Web API methods with a queue of faults each: a fault answers a call in place of the method, then is used up."""

    def __init__(self) -> None:
        self.url = ""
        self.faults: dict[str, deque[Fault]] = {}
        self.calls = Recorder()
        self.messages: dict[str, Json] = {}
        self.shown: list[tuple[str, str]] = []
        """(ts, text) of every post and edit, in the order in which they took effect."""
        self.users: dict[str, Json] = {}
        self.groups: dict[str, list[str]] = {}
        self.users_told = 100
        self._clock = itertools.count(1)

    def fault(self, method: str, *faults: Fault) -> None:
        self.faults.setdefault(method, deque()).extend(faults)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        arguments = {name: _value(value) for name, value in parse_qsl(await request.text(), True)}
        await self.calls.add((method, arguments))
        queue = self.faults.get(method)
        answer = await (
            queue.popleft()(self, method, arguments) if queue else self.perform(method, arguments)
        )
        if answer is None:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        return answer if isinstance(answer, web.StreamResponse) else web.json_response(answer)

    async def perform(self, method: str, arguments: Json) -> Json:
        match method:
            case "auth.test":
                return {"ok": True, "team_id": "T1", "user_id": "UBOT", "bot_id": "BBOT"}
            case "chat.postMessage":
                ts = f"{time.time():.0f}.{next(self._clock):06}"
                self.messages[ts] = {**arguments, "ts": ts}
                self.shown.append((ts, arguments["text"]))
                return {"ok": True, "channel": arguments["channel"], "ts": ts}
            case "chat.update":
                ts = arguments["ts"]
                if ts not in self.messages:
                    return {"ok": False, "error": "message_not_found"}
                self.messages[ts] |= arguments
                self.shown.append((ts, arguments["text"]))
                return {"ok": True, "channel": arguments["channel"], "ts": ts}
            case "chat.postEphemeral":
                return {"ok": True, "message_ts": "1.1"}
            case "conversations.replies" | "conversations.history":
                return {"ok": True, "messages": list(self.messages.values()), "has_more": False}
            case "usergroups.list":
                groups = self.groups.items()
                told = [
                    {"id": one, "users": users[: self.users_told], "user_count": len(users)}
                    for one, users in groups
                ]
                return {"ok": True, "usergroups": told}
            case "usergroups.users.list":
                members = self.groups.get(arguments["usergroup"])
                return (
                    {"ok": True, "users": members}
                    if members is not None
                    else {"ok": False, "error": "no_such_subteam"}
                )
            case "users.info":
                user = self.users.get(arguments["user"])
                return {"ok": True, "user": user} if user else {"ok": False, "error": "user_not_found"}
            case _:
                return {"ok": False, "error": "unknown_method"}

    def methods(self) -> list[str]:
        return [method for method, _ in self.calls.items]


def _value(value: str) -> Any:
    if value[:1] in ("{", "["):
        return json.loads(value)
    return value


def refuses(code: str) -> Fault:
    async def fault(_slack: FakeSlack, _method: str, _arguments: Json) -> Json:
        return {"ok": False, "error": code}

    return fault


def http_429(retry_after: float) -> Fault:
    async def fault(_slack: FakeSlack, _method: str, _arguments: Json) -> web.Response:
        body = {"ok": False, "error": "ratelimited"}
        return web.json_response(body, status=429, headers={"Retry-After": str(retry_after)})

    return fault


def ratelimited_with_200(retry_after: float) -> Fault:
    async def fault(_slack: FakeSlack, _method: str, _arguments: Json) -> web.Response:
        body = {"ok": False, "error": "ratelimited"}
        return web.json_response(body, headers={"Retry-After": str(retry_after)})

    return fault


async def resets_after_accepting(slack: FakeSlack, method: str, arguments: Json) -> None:
    await slack.perform(method, arguments)


async def resets_before_accepting(_slack: FakeSlack, _method: str, _arguments: Json) -> None:
    return None


def waits_for(event: asyncio.Event) -> Fault:
    async def fault(slack: FakeSlack, method: str, arguments: Json) -> Json:
        await event.wait()
        return await slack.perform(method, arguments)

    return fault


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2 * DEADLINE)) as opened:
        yield opened


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    fake = FakeSlack()
    app = web.Application()
    app.router.add_post("/api/{method}", fake.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    yield fake
    await runner.cleanup()


@pytest.fixture
def api(slack: FakeSlack, session: aiohttp.ClientSession) -> SlackApi:
    return SlackApi(session, "xoxb-secret", slack.url, timeout=DEADLINE)


@pytest.fixture
async def writer(api: SlackApi) -> AsyncIterator[SlackWriter]:
    made = SlackWriter(api, RealClock(), CountedIds(), pace=QUICK, posts=AT_ONCE, patience=3.0)
    yield made
    await made.aclose()


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    settings = Settings(ack_seconds=1.0, redelivery_delays=(0.0, 0.05, 0.05))
    async with Workspace.start(tmp_path, settings=settings) as running:
        yield running


class Driver:
    """Acts for people, as a page or a script would."""

    def __init__(self, workspace: Workspace, session: aiohttp.ClientSession) -> None:
        self.workspace = workspace
        self.session = session
        self.incidents: str = workspace.ready()["channels"]["incidents"]
        self.bot_user_id = workspace.identity.bot_user_id

    def person_id(self, key: str) -> str:
        return str(self.workspace.ready()["people"][key]["id"])

    async def call(self, name: str, **body: Any) -> Json:
        async with self.session.post(f"{self.workspace.url}/sim/{name}", json=body) as response:
            return dict(await response.json())

    async def get(self, name: str, **query: Any) -> Json:
        async with self.session.get(f"{self.workspace.url}/sim/{name}", params=query) as response:
            return dict(await response.json())

    async def says(self, person: str, text: str, thread_ts: str | None = None, channel: str = "") -> str:
        posted = await self.call(
            "post", person=person, channel=channel or self.incidents, text=text, thread_ts=thread_ts
        )
        assert posted["ok"], posted
        return str(posted["ts"])

    async def thread(self, ts: str) -> list[Json]:
        found = await self.get("messages", person="ana", channel=self.incidents, thread_ts=ts)
        return list(found["messages"])

    async def web(self, method: str, **arguments: Any) -> Json:
        """A Web API call with the bot's own token."""
        headers = {"Authorization": f"Bearer {self.workspace.identity.bot_token}"}
        async with self.session.post(
            self.workspace.api_url + method, json=arguments, headers=headers
        ) as response:
            return dict(await response.json())


@pytest.fixture
def drive(workspace: Workspace, session: aiohttp.ClientSession) -> Driver:
    return Driver(workspace, session)


@pytest.fixture
def events() -> Recorder:
    return Recorder()


@pytest.fixture
def make_platform(session: aiohttp.ClientSession) -> Callable[..., SlackPlatform]:
    """An adapter for a workspace, not yet connected."""

    def make(workspace: Workspace, bot_token: str = "") -> SlackPlatform:
        people = workspace.ready()["people"]
        return SlackPlatform(
            session,
            RealClock(),
            CountedIds(),
            bot_token=bot_token or workspace.identity.bot_token,
            app_token=workspace.identity.app_token,
            base_url=workspace.api_url,
            roster=Roster({person["id"]: Role(person["role"]) for person in people.values()}),
            pace=QUICK,
            ping_interval=0.2,
        )

    return make


@pytest.fixture
async def platform(
    workspace: Workspace, make_platform: Callable[..., SlackPlatform], events: Recorder
) -> AsyncIterator[SlackPlatform]:
    """The adapter, connected to the workspace; what it hands on is in `events`."""
    made = make_platform(workspace)
    await made.start(events.add)
    yield made
    await made.aclose()
