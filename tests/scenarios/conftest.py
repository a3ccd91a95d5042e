"""The whole product in one process: a real workspace, a real scheduler, the bot between them, a scripted or offline model."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

import aiohttp
import pytest
import yaml
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.app.bootstrap import Beats, Bot, open_bot
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import (
    AccountConfig,
    AccountsConfig,
    AlertsConfig,
    Config,
    SchedulerConfig,
    Secrets,
    ShutdownConfig,
    SlackConfig,
    WebConfig,
)
from chatops_bot.app.keys import read_keys
from chatops_bot.app.local_socket import socket_address
from chatops_bot.app.policy_config import RolesConfig
from chatops_bot.app.skills_config import SkillsConfig
from chatops_bot.domain.withheld import Withheld
from chatops_bot.llm.scripted import ScriptedModel
from chatops_bot.platforms.slack.outbound import POSTS
from chatops_bot.ports import LLM, Clock, Ids, Store, Tool
from chatops_bot.rendering.pacing import Pace
from chatops_bot.scheduler.service import SchedulerService
from chatops_bot.scheduler.settings import SchedulerSettings
from chatops_bot.simulators.slack import Settings, Workspace
from tests.scenarios.gateway import Gateway, open_gateway
from tests.scenarios.seeded_scheduler import put_seeded_data
from tests.small_tools import put_words
from tests.tracked import ROOT

Json = dict[str, Any]
DEADLINE = 20.0
POLL = 0.06
"""Seconds between two looks. Each costs some 3 ms of CPU, half of them here and half in the workspace that answers."""
QUICK = Beats(sweep=0.3, show=0)
"""What is due is noticed at this beat and not at the product's, which is some seconds; the rules say all that they say at once."""
WEBHOOK_TOKEN = "hook-token-of-the-tests"
KEYS = read_keys({"CHATOPS_KEY": bytes(range(32)).hex()}, None)
ACCOUNTS = ("viewer", "operator", "admin")


class ShiftedClock(SystemClock):
    """The real clock, some time ahead, so that an hour passes when a test says so."""

    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


@dataclass
class World:
    """Workspace and scheduler, which outlive the bot; `bot()` starts one, as often as a test wants.

    The bot reaches them through two gateways, which count its calls and can lose them.
    """

    folder: Path
    workspace: Workspace
    scheduler: SchedulerService
    session: aiohttp.ClientSession
    to_slack: Gateway
    to_scheduler: Gateway
    people: Json = field(default_factory=dict)
    posts: Pace = POSTS
    beats: Beats = QUICK

    def config(self, **changes: Any) -> Config:
        people = {person["id"]: person["role"] for person in self.people.values()}
        return Config(
            data=self.folder / "bot",
            slack=SlackConfig(api_url=f"{self.to_slack.url}/api/"),  # type: ignore[arg-type]  # pydantic parses the text
            scheduler=SchedulerConfig(
                url=self.to_scheduler.url,  # type: ignore[arg-type]  # pydantic parses the text
                accounts=AccountsConfig(
                    **{
                        name: AccountConfig(
                            username=self.scheduler.accounts[name]["username"], password_env=name
                        )
                        for name in ACCOUNTS
                    }
                ),
            ),
            roles=RolesConfig(people=people),
            alerts=AlertsConfig(channel=self.incidents),
            web=WebConfig(port=0),
            shutdown=ShutdownConfig(drain_seconds=0),
            skills=SkillsConfig(scripts="off"),  # the probe of their isolation takes longer than a start
        ).model_copy(update=changes)

    def secrets(self) -> Secrets:
        ready = self.workspace.ready()
        return Secrets(
            slack_bot_token=ready["bot_token"],
            slack_app_token=ready["app_token"],
            scheduler_passwords={name: self.scheduler.accounts[name]["password"] for name in ACCOUNTS},
            model=None,
            webhook_token=WEBHOOK_TOKEN,
            keys=KEYS,
        )

    @asynccontextmanager
    async def bot(
        self,
        model: LLM | None = None,
        *,
        config: Config | None = None,
        secrets: Secrets | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        wrap_store: Callable[[Store], Store] = lambda store: store,
        tools: Sequence[Tool] = (),
        logs: Withheld | None = None,
        routed: bool | None = None,
    ) -> AsyncIterator[Bot]:
        """A running bot; `model` None is the one of the secrets, else the offline one. A scripted model must have played
        its whole script."""
        config = config or self.config()
        if tools and config.agents.folder is None:
            words = put_words(self.folder / "words", [tool.spec for tool in tools])
            config = config.model_copy(update={"agents": config.agents.model_copy(update={"folder": words})})
        async with open_bot(
            config,
            secrets or self.secrets(),
            clock=clock or SystemClock(),
            ids=ids or RandomIds(),
            model=model,
            wrap_store=wrap_store,
            posts=self.posts,
            beats=self.beats,
            tools=tools,
            logs=logs,
            routed=routed,
        ) as bot:
            yield bot
        if isinstance(model, ScriptedModel):
            model.assert_finished()

    @asynccontextmanager
    async def local_api(self) -> AsyncIterator[aiohttp.ClientSession]:
        """The running bot's API for commands on its machine."""
        with socket_address(self.folder / "bot") as address:
            connector = aiohttp.UnixConnector(address)
            async with aiohttp.ClientSession("http://local", connector=connector) as session:
                yield session

    @property
    def incidents(self) -> str:
        return str(self.workspace.ready()["channels"]["incidents"])

    @property
    def mention(self) -> str:
        return f"<@{self.workspace.ready()['bot_user_id']}>"

    async def says(
        self, person: str, text: str, thread: str | None = None, channel: str | None = None
    ) -> str:
        """Post as a person through the ordinary Slack client; returns the message's ts."""
        client = AsyncWebClient(
            token=self.people[person]["token"], base_url=self.workspace.api_url, session=self.session
        )
        posted = await client.chat_postMessage(channel=channel or self.incidents, text=text, thread_ts=thread)
        return str(posted["ts"])

    async def thread(self, ts: str, channel: str | None = None) -> list[Json]:
        """The thread as Slack's API reads it back, root first."""
        client = AsyncWebClient(
            token=self.people["adam"]["token"], base_url=self.workspace.api_url, session=self.session
        )
        answer = await client.conversations_replies(channel=channel or self.incidents, ts=ts, limit=200)
        messages: list[Json] = answer["messages"]
        return messages

    async def sim(self, path: str, **body: Any) -> Json:
        async with self.session.post(f"{self.workspace.url}/sim/{path}", json=body) as response:
            return dict(await response.json())

    async def look(self, path: str, **query: str) -> Json:
        async with self.session.get(f"{self.workspace.url}/sim/{path}", params=query) as response:
            return dict(await response.json())

    async def click(self, person: str, message: Json, action: str, **more: Any) -> Json:
        """Press the control of a message, as it looks in `message`, whose action id begins with `action`."""
        action_id = next(a for a in action_ids(message) if a.startswith(action))
        return await self.sim(
            "click", person=person, channel=self.incidents, ts=message["ts"], action_id=action_id, **more
        )

    async def at_scheduler(self, method: str, path: str, body: Json | None = None) -> Any:
        """Speak to the scheduler itself, as its admin and past the gateway; returns the JSON answer."""
        account = self.scheduler.accounts["admin"]
        async with self.session.post(f"{self.scheduler.url}/api/auth/login", json=account) as response:
            headers = {"Authorization": f"Bearer {(await response.json())['token']}"}
        url = f"{self.scheduler.url}/api/v1/{path}"
        async with self.session.request(method, url, json=body, headers=headers) as response:
            assert response.status < 300, await response.text()
            return await response.json() if response.status != 204 else None

    async def task(self, name: str) -> Json:
        """A task as the scheduler itself tells it."""
        tasks: list[Json] = await self.at_scheduler("GET", "tasks")
        return next(task for task in tasks if task["Name"] == name)

    async def settled(self, ts: str, replies: int, channel: str | None = None) -> list[Json]:
        """The thread once it has `replies` replies and none of them is still being worked on."""

        async def ready() -> list[Json] | None:
            messages = await self.thread(ts, channel)
            working = any(action.startswith("stop") for message in messages for action in action_ids(message))
            return None if working or len(messages) <= replies else messages

        found: list[Json] = await until(ready, f"{replies} settled replies")
        return found

    async def becomes(self, thread: str, message: Json, heading: str) -> Json:
        """The message of a thread once its text begins with `heading`."""

        async def changed() -> Json | None:
            now = next(m for m in await self.thread(thread) if m["ts"] == message["ts"])
            return now if everything(now).startswith(heading) else None

        found: Json = await until(changed, f"a message that begins with {heading!r}")
        return found

    async def whispers(self, person: str, count: int = 1) -> list[Json]:
        """The last `count` messages that only this person saw, once there are as many."""

        async def seen() -> list[Json] | None:
            found = (await self.look("ephemerals", person=person))["ephemerals"]
            return found[-count:] if len(found) >= count else None

        last: list[Json] = await until(seen, f"{count} whispers to {person}")
        return last


async def until(ready: Callable[[], Any], what: str) -> Any:
    """What `ready` returns once it is not None; polled, since the world outside only tells when asked."""
    deadline = time.monotonic() + DEADLINE
    while True:
        found = await ready()
        if found is not None:
            return found
        assert time.monotonic() < deadline, f"waited {DEADLINE:g} s in vain for {what}"
        await asyncio.sleep(POLL)


def action_ids(message: Json) -> list[str]:
    return [
        element["action_id"]
        for block in message.get("blocks", [])
        if block["type"] == "actions"
        for element in block["elements"]
    ]


def labels(message: Json) -> list[str]:
    return [
        element["text"]["text"]
        for block in message.get("blocks", [])
        if block["type"] == "actions"
        for element in block["elements"]
    ]


def visible(message: Json) -> str:
    """The visible text of an answer: its markdown blocks, and nothing of tool lines, notes and controls."""
    return "\n\n".join(block["text"] for block in message.get("blocks", []) if block["type"] == "markdown")


def everything(message: Json) -> str:
    """All text of a message, wherever in its blocks it stands."""
    texts: list[str] = []

    def gather(value: Any) -> None:
        if isinstance(value, dict):
            texts.extend(v for k, v in value.items() if k == "text" and isinstance(v, str))
            for item in value.values():
                gather(item)
        elif isinstance(value, list):
            for item in value:
                gather(item)

    gather(message.get("blocks", []))
    return "\n".join(texts)


@cache
def manifest_scopes() -> tuple[str, ...]:
    """The scopes that the app asks for when it is installed: with these and no others must the product get by."""
    manifest = yaml.safe_load((ROOT / "manifest.yaml").read_text(encoding="utf-8"))
    return tuple(manifest["oauth_config"]["scopes"]["bot"])


@asynccontextmanager
async def open_world(
    folder: Path, *, rate_limits: Literal["slack", "off"] = "off", ack_seconds: float = 3.0
) -> AsyncIterator[World]:
    """Slack's rate limits have scenarios of their own; the scopes are the manifest's everywhere."""
    limits = Settings(rate_limits=rate_limits, bot_scopes=manifest_scopes(), ack_seconds=ack_seconds)
    async with AsyncExitStack() as stack:
        workspace = await stack.enter_async_context(Workspace.start(folder / "workspace", settings=limits))
        await put_seeded_data(folder / "scheduler")
        settings = SchedulerSettings(data=folder / "scheduler", demo=True)
        scheduler = await stack.enter_async_context(SchedulerService.start(settings))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        to_slack = await stack.enter_async_context(open_gateway(workspace.url))
        to_scheduler = await stack.enter_async_context(open_gateway(scheduler.url))
        people = workspace.ready()["people"]
        posts = POSTS if rate_limits == "slack" else Pace(spacing=0.0)
        yield World(folder, workspace, scheduler, session, to_slack, to_scheduler, people, posts)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        yield opened
