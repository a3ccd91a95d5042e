"""A real workspace on a free port, a real slack-bolt app on Socket Mode, and a driver that acts for people."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack import Settings, Workspace
from chatops_bot.simulators.slack.clock import Clock

Json = dict[str, Any]
DEADLINE = 20.0


class Driver:
    """Calls the driving interface as a page or a script would."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url = url
        self.session = session

    async def call(self, name: str, **body: Any) -> Json:
        async with self.session.post(f"{self.url}/sim/{name}", json=body) as response:
            assert response.status == 200
            return dict(await response.json())

    async def get(self, name: str, **query: Any) -> Json:
        async with self.session.get(f"{self.url}/sim/{name}", params=query) as response:
            assert response.status == 200
            return dict(await response.json())

    async def says(self, person: str, channel: str, text: str, thread_ts: str | None = None) -> str:
        posted = await self.call("post", person=person, channel=channel, text=text, thread_ts=thread_ts)
        assert posted["ok"], posted
        return str(posted["ts"])


class Bot:
    """A Bolt app that records every event body and every interaction body."""

    def __init__(self, workspace: Workspace, session: aiohttp.ClientSession, ping_seconds: float) -> None:
        identity = workspace.identity
        self.client = AsyncWebClient(token=identity.bot_token, base_url=workspace.api_url, session=session)
        self.app = AsyncApp(client=self.client, ignoring_self_events_enabled=False)
        self.handler = AsyncSocketModeHandler(
            self.app, identity.app_token, web_client=self.client, ping_interval=ping_seconds
        )
        self.bodies: list[Json] = []
        self._changed = asyncio.Condition()

    async def record(self, body: Json) -> None:
        async with self._changed:
            self.bodies.append(body)
            self._changed.notify_all()

    def events(self, kind: str = "message") -> list[Json]:
        """Distinct events of a kind in the order in which they happened: Bolt's listeners run side by side."""
        bodies = {body["event_id"]: body["event"] for body in self.bodies if "event_id" in body}
        found = [event for event in bodies.values() if event["type"] == kind]
        return sorted(found, key=lambda event: str(event["event_ts"]))

    async def until(self, condition: Callable[[], Any], deadline: float = DEADLINE) -> None:
        async def wait() -> None:
            async with self._changed:
                await self._changed.wait_for(condition)

        await asyncio.wait_for(wait(), deadline)

    async def record_action(self, ack: Any, body: Json) -> None:
        await ack()
        await self.record(body)


@asynccontextmanager
async def running_bot(
    workspace: Workspace, *, listen: bool = True, ping_seconds: float = 5.0
) -> AsyncIterator[Bot]:
    """The bot, connected; it pings at slack_sdk's own beat, and so notices a lost socket. `listen` registers listeners that acknowledge and record everything."""
    async with aiohttp.ClientSession() as session:
        bot = Bot(workspace, session, ping_seconds)
        if listen:
            for kind in ("message", "app_mention"):
                bot.app.event(kind)(bot.record)
        await bot.handler.connect_async()  # type: ignore[no-untyped-call]  # slack_bolt leaves it untyped
        try:
            yield bot
        finally:
            await bot.handler.close_async()  # type: ignore[no-untyped-call]  # slack_bolt leaves it untyped


@pytest.fixture
def limits() -> Settings:
    """Slack's own times; a test that waits for one of them to pass parametrizes this with shorter ones.

    Rate limits have tests of their own.
    """
    return Settings(rate_limits="off")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def workspace(tmp_path: Path, limits: Settings, clock: Clock) -> AsyncIterator[Workspace]:
    async with Workspace.start(tmp_path, settings=limits, clock=clock) as running:
        yield running


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.fixture
def drive(workspace: Workspace, session: aiohttp.ClientSession) -> Driver:
    return Driver(workspace.url, session)


@pytest.fixture
async def bot(workspace: Workspace) -> AsyncIterator[Bot]:
    async with running_bot(workspace) as running:
        yield running


@pytest.fixture
def api(workspace: Workspace, session: aiohttp.ClientSession) -> AsyncWebClient:
    """The bot's Web API client with no socket open."""
    return AsyncWebClient(token=workspace.identity.bot_token, base_url=workspace.api_url, session=session)


@pytest.fixture
def incidents(workspace: Workspace) -> str:
    return str(workspace.ready()["channels"]["incidents"])
