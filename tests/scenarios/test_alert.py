"""An alert from the scheduler becomes one message in the incident channel, however often it is delivered."""

import asyncio

import pytest

from chatops_bot.app.config import AlertsConfig
from chatops_bot.llm.scripted import ScriptedModel, says
from tests.scenarios.conftest import WEBHOOK_TOKEN, Json, World, everything, labels, visible
from tests.scenarios.gateway import Fault

FAILED = {
    "task_id": 2,
    "task_name": "db-backup",
    "instance_id": 7,
    "schedule_instance_id": "2-1795983306",
    "retry_count": 1,
    "max_retry": 1,
    "error_code": "exit_code_1",
    "error_message": "pg_dump: Connection refused",
    "timestamp": "2026-11-29T20:15:06Z",
    "something_new": True,
}


async def deliver(
    world: World, url: str, body: Json | str = FAILED, token: str = WEBHOOK_TOKEN
) -> tuple[int, Json]:
    headers = {"Authorization": f"Bearer {token}"}
    sent = {"data": body} if isinstance(body, str) else {"json": body}
    async with world.session.post(f"{url}/hooks/scheduler", headers=headers, **sent) as response:
        return response.status, await response.json()


async def alerts_in(world: World) -> list[Json]:
    """The channel's messages that are alerts."""
    found = (await world.look("messages", person="adam", channel=world.incidents))["messages"]
    return [m for m in found if "db-backup" in everything(m)]


async def test_an_alert_is_posted_once_however_often_and_whenever_it_is_delivered(world: World):
    async with world.bot() as bot:
        answers = await asyncio.gather(*(deliver(world, bot.web_url) for _ in range(3)))
        assert answers == [(200, {"ok": True})] * 3
    async with world.bot() as bot:
        assert await deliver(world, bot.web_url) == (200, {"ok": True})
        (alert,) = await alerts_in(world)
        assert everything(alert).startswith("Task failed: db-backup")
        assert "pg_dump: Connection refused" in everything(alert)
        assert "2 of 2" in everything(alert)
        another = FAILED | {"schedule_instance_id": "2-1795983999"}
        assert await deliver(world, bot.web_url, another) == (200, {"ok": True})
        assert len(await alerts_in(world)) == 2


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_its_button_asks_why_in_its_thread(world: World, language: str):
    config = world.config(alerts=AlertsConfig(channel=world.incidents, language=language))  # type: ignore[arg-type]
    model = ScriptedModel([says("The database refused the connection.")])
    async with world.bot(model, config=config) as bot:
        await deliver(world, bot.web_url)
        (alert,) = await alerts_in(world)
        question = {
            "zh": "运行 #7 为什么失败？",
            "en": "Why did run #7 fail?",
        }[language]
        assert labels(alert) == [question]
        await world.click("oscar", alert, "followup")
        messages = await world.settled(alert["ts"], 2)
    assert question in everything(messages[1])
    assert visible(messages[2]) == "The database refused the connection."


async def test_a_wrong_token_or_body_is_refused_in_a_sentence_and_posts_nothing(world: World):
    async with world.bot() as bot:
        for token in ("", "wrong", WEBHOOK_TOKEN + "x"):
            status, answer = await deliver(world, bot.web_url, token=token)
            assert (status, answer["error"]) == (
                401,
                "The bearer token is missing or wrong; set SCHEDULER_WEBHOOK_TOKEN on both sides.",
            )
        for body, fields in (
            ("", "body"),
            ("not json", "body"),
            ("[]", "body"),
            ({}, "instance_id, schedule_instance_id, task_id, timestamp"),
            (FAILED | {"task_id": "two"}, "task_id"),
            (FAILED | {"timestamp": "yesterday"}, "timestamp"),
        ):
            status, answer = await deliver(world, bot.web_url, body)
            assert (status, answer["error"]) == (
                400,
                f"This is not a failure alert; missing or wrong: {fields}.",
            )
        assert await alerts_in(world) == []


async def test_an_alert_that_could_not_be_posted_is_asked_for_again(world: World):
    async with world.bot() as bot:
        world.to_slack.faults.append(Fault("chat.postMessage", {"ok": False, "error": "restricted_action"}))
        status, answer = await deliver(world, bot.web_url)
        assert (status, answer["error"]) == (
            503,
            "The chat platform does not take messages right now; deliver the alert again.",
        )
        assert await deliver(world, bot.web_url) == (200, {"ok": True})
        assert len(await alerts_in(world)) == 1


async def test_without_a_channel_alerts_are_refused_with_the_key_to_set(world: World):
    async with world.bot(config=world.config(alerts=AlertsConfig())) as bot:
        status, answer = await deliver(world, bot.web_url)
    assert (status, answer["error"]) == (
        503,
        "No alert channel is configured; set alerts.channel in the bot's config.",
    )
