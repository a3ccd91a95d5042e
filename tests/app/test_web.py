"""The bot's web server: health, and the hook for failure alerts with its own workspace behind it."""

import re
import socket
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import HttpUrl

from chatops_bot.app.config import Config, SlackConfig, WebConfig
from chatops_bot.app.web import MAX_BODY_BYTES
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.simulators.slack import Workspace
from tests.scenarios.conftest import WEBHOOK_TOKEN, World, everything, until

HOOK: dict[str, Any] = {
    "task_id": 7,
    "task_name": "invoice-export",
    "instance_id": 41,
    "schedule_instance_id": "task-7-41",
    "retry_count": 3,
    "max_retry": 3,
    "error_code": "execute_failed",
    "error_message": "disk is full",
    "timestamp": "2026-03-02T14:32:00Z",
}
Answer = tuple[int, dict[str, Any]]


async def deliver(world: World, url: str, body: Any = HOOK, token: str | None = WEBHOOK_TOKEN) -> Answer:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    given = {"data": body} if isinstance(body, bytes) else {"json": body}
    async with world.session.post(f"{url}/hooks/scheduler", headers=headers, **given) as response:
        is_json = response.content_type == "application/json"
        return response.status, dict(await response.json()) if is_json else {"error": await response.text()}


async def alerts_of(world: World) -> list[dict[str, Any]]:
    state = await world.look("messages", person="adam", channel=world.incidents)
    return [message for message in state["messages"] if "invoice-export" in everything(message)]


async def test_health_and_readiness(world: World):
    async with world.bot() as bot:
        async with world.session.get(f"{bot.web_url}/healthz") as response:
            assert (response.status, await response.json()) == (200, {"status": "ok"})
        async with world.session.get(f"{bot.web_url}/readyz") as response:
            assert (response.status, await response.json()) == (200, {"ready": True, "red": {}})


async def test_an_alert_is_posted_once_however_often_it_is_delivered(world: World):
    async with world.bot() as bot:
        assert [await deliver(world, bot.web_url) for _ in range(3)] == [(200, {"ok": True})] * 3
        (alert,) = await alerts_of(world)
    assert "disk is full" in everything(alert)


@pytest.mark.parametrize("token", [None, "", "wrong", WEBHOOK_TOKEN + "x", "é"])
async def test_a_hook_without_the_token_is_refused(world: World, token: str | None):
    async with world.bot() as bot:
        status, answer = await deliver(world, bot.web_url, token=token)
        assert status == 401
        assert "SCHEDULER_WEBHOOK_TOKEN" in answer["error"]
        assert await alerts_of(world) == []


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"", "body"),
        (b"{", "body"),
        (b"[1]", "body"),
        (b"\xff\xfe", "body"),
        ({}, "instance_id, schedule_instance_id, task_id, timestamp"),
        (HOOK | {"task_id": "x"}, "task_id"),
        (HOOK | {"timestamp": "yesterday"}, "timestamp"),
        (HOOK | {"error_message": 5}, "error_message"),
    ],
)
async def test_a_bad_body_is_named_field_by_field(world: World, body: Any, named: str):
    async with world.bot() as bot:
        status, answer = await deliver(world, bot.web_url, body)
        assert (status, answer["error"]) == (400, f"This is not a failure alert; missing or wrong: {named}.")
        assert await alerts_of(world) == []


async def test_a_body_that_is_too_large_is_refused(world: World):
    async with world.bot() as bot:
        status, _ = await deliver(world, bot.web_url, b"x" * (MAX_BODY_BYTES + 1))
        assert status == 413


async def test_missing_texts_are_empty_and_unknown_keys_ignored(world: World):
    required = ("task_id", "instance_id", "schedule_instance_id", "timestamp")
    async with world.bot() as bot:
        body = {name: HOOK[name] for name in required} | {"colour": "red"}
        assert await deliver(world, bot.web_url, body) == (200, {"ok": True})


async def test_without_an_alert_channel_the_hook_says_which_key_to_set(world: World):
    config = world.config()
    config = config.model_copy(update={"alerts": config.alerts.model_copy(update={"channel": None})})
    async with world.bot(config=config) as bot:
        status, answer = await deliver(world, bot.web_url)
        assert status == 503
        assert "alerts.channel" in answer["error"]


async def test_other_paths_and_methods_are_refused(world: World):
    async with world.bot() as bot:
        async with world.session.get(f"{bot.web_url}/hooks/scheduler") as response:
            assert response.status == 405
        async with world.session.get(f"{bot.web_url}/config") as response:
            assert response.status == 404


async def test_while_slack_is_down_an_alert_is_refused_and_the_next_delivery_posts_it(
    world: World, tmp_path: Path
):
    async with AsyncExitStack() as stack:
        async with Workspace.start(tmp_path / "other") as workspace:
            port = int(workspace.url.rpartition(":")[2])
            other = replace(world, workspace=workspace)
            direct = other.config(slack=SlackConfig(api_url=HttpUrl(workspace.api_url)))
            bot = await stack.enter_async_context(other.bot(config=direct))
        began = time.monotonic()
        status, answer = await deliver(world, bot.web_url)
        print(f"\n[measured] refusal of an alert while Slack is down: {time.monotonic() - began:.2f} s")
        assert status == 503
        assert "deliver the alert again" in answer["error"]
        async with world.session.get(f"{bot.web_url}/healthz") as response:
            assert response.status == 200
        async with world.session.get(f"{bot.web_url}/readyz") as response:
            readiness = await response.json()
            assert (response.status, readiness["ready"]) == (503, False)
            assert readiness["red"] == {"chat": "The socket to Slack is down and is being opened again."}
        again = await stack.enter_async_context(Workspace.start(tmp_path / "other", port=port))

        async def taken() -> bool | None:
            return True if (await deliver(world, bot.web_url))[0] == 200 else None

        await until(taken, "the alert to be taken")
        assert len(await alerts_of(replace(world, workspace=again))) == 1

        async def hears() -> bool | None:
            async with world.session.get(f"{bot.web_url}/readyz") as response:
                return True if response.status == 200 else None

        await until(hears, "the bot to be ready again")


async def test_an_address_in_use_is_said_in_one_sentence(world: World):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentence = f"127.0.0.1:{port} cannot be used (Address already in use); change web.host or web.port."
        with pytest.raises(ConfigInvalid, match=re.escape(sentence)):
            async with world.bot(config=on_port(world, port)):
                pass


def on_port(world: World, port: int) -> Config:
    return world.config().model_copy(update={"web": WebConfig(host="127.0.0.1", port=port)})
