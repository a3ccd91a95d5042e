"""Scenario 1: a question, answered in its thread, with evidence, growing as it comes."""

import time

import pytest

from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.scenarios.conftest import World, action_ids, everything, labels, until, visible

QUESTIONS = {"zh": "最近有哪些任务失败了？", "en": "What failed recently?"}
SAID = {
    "zh": ("最近 24 小时内", "未连接语言模型"),
    "en": ("In the last 24 hours", "No language model is connected"),
}


async def failed_runs(world: World) -> None:
    """Wait until the demo's failing task has failed for good."""

    async def failed() -> bool | None:
        task = await world.task("db-backup")
        account = world.scheduler.accounts["viewer"]
        async with world.session.post(f"{world.scheduler.url}/api/auth/login", json=account) as response:
            headers = {"Authorization": f"Bearer {(await response.json())['token']}"}
        url = f"{world.scheduler.url}/api/v1/task-instances?task_id={task['ID']}"
        async with world.session.get(url, headers=headers) as response:
            runs = (await response.json())["instances"]
        return True if any(run["Status"] == "failed" for run in runs) else None

    await until(failed, "a failed run of db-backup")


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_offline_an_answer_cites_what_the_tools_returned(world: World, language: str):
    await failed_runs(world)
    async with world.bot():
        ts = await world.says("oscar", f"{world.mention} {QUESTIONS[language]}")
        _, answer = await world.settled(ts, 1)
    text = visible(answer)
    assert SAID[language][0] in text
    assert "db-backup" in text
    assert "Connection refused" in text
    assert SAID[language][1] in everything(answer)
    assert SAID[language][1] not in text
    assert 1 <= len(labels(answer)) <= 2


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_with_a_model_tool_lines_text_and_followups_arrive(world: World, language: str):
    await failed_runs(world)
    followup = {"zh": "db-backup 为什么失败？", "en": "Why did db-backup fail?"}[language]
    model = ScriptedModel(
        [
            calls(
                ("query_instances", {"status": "failed"}),
                text={"zh": "我先查一下。", "en": "Let me look."}[language],
            ),
            says(
                "db-backup ",
                "failed: **Connection refused**.",
                f"\n\n```followups\nanalyze_failure: {followup}\n```",
            ),
            says("The database refused the connection."),
        ]
    )
    async with world.bot(model):
        asked = time.monotonic()
        ts = await world.says("oscar", f"{world.mention} {QUESTIONS[language]}")
        await until(lambda: _has_reply(world, ts), "the first reply")
        first_reply = time.monotonic() - asked
        _, answer = await world.settled(ts, 1)
        assert visible(answer).endswith("db-backup failed: **Connection refused**.")
        assert labels(answer) == [followup]
        lines = {"zh": "查询运行记录", "en": "querying runs"}[language]
        assert lines in everything(answer)
        assert lines not in visible(answer)
        assert await world.click("ana", answer, "followup") == {"ok": True}
        messages = await world.settled(ts, 3)
    assert "Ana Duarte" in everything(messages[2])
    assert followup in everything(messages[2])
    assert visible(messages[3]) == "The database refused the connection."
    asked_again = model.requests[2].messages
    assert any(getattr(message, "text", "") == followup for message in asked_again)
    assert any("Connection refused" in getattr(message, "text", "") for message in asked_again[:-3])
    print(f"first reply after {first_reply * 1000:.0f} ms")


async def _has_reply(world: World, ts: str) -> bool | None:
    return True if len(await world.thread(ts)) > 1 else None


async def test_the_text_grows_by_edits_and_no_older_one_lands_last(world: World):
    model = ScriptedModel([says(*[f"word{n} " for n in range(200)])])
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} tell me a lot")
        _, answer = await world.settled(ts, 1)
        versions = (await world.look("versions", channel=world.incidents, ts=answer["ts"]))["versions"]
    texts = [visible(version) for version in versions]
    assert texts[-1] == "".join(f"word{n} " for n in range(200)).strip()
    assert all(texts[-1].startswith(text.strip()[:20]) for text in texts if text)


@pytest.mark.case("slack-17")
async def test_one_mention_is_one_turn_though_slack_tells_of_it_twice(world: World):
    model = ScriptedModel([says("once")])
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} hello")
        messages = await world.settled(ts, 1)
    assert len(messages) == 2
    assert action_ids(messages[1]) == []
