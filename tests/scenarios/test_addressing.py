"""Whom a message in the bot's thread is for, and in which language it is answered."""

import re

import pytest

from chatops_bot.llm.scripted import ScriptedModel, says
from tests.scenarios.conftest import World, action_ids, everything, labels, until
from tests.scenarios.test_ask import failed_runs
from tests.scenarios.test_change import ASKS as CHANGES
from tests.scenarios.test_change import asked_for as change_asked_for
from tests.scenarios.test_change import told
from tests.scenarios.test_forms import ASKS as FORMS
from tests.scenarios.test_forms import asked_for as form_asked_for


async def test_people_who_talk_with_each_other_are_left_alone(world: World):
    oscar, ana = (f"<@{world.people[name]['id']}>" for name in ("oscar", "ana"))
    async with world.bot():
        ts = await world.says("oscar", f"{world.mention} what failed recently?")
        await world.settled(ts, 1)
        await world.says("ana", f"{oscar} what failed here?", ts)
        await world.says("oscar", "ok, will do", ts)
        await world.says("ana", "好的，谢谢", ts)
        await world.says("oscar", f"{world.mention} {ana} asks: how healthy is it?", ts)
        await world.settled(ts, 6)
        await world.says("ana", "最近有哪些任务失败了？", ts)
        thread = await world.settled(ts, 8)
    bot = world.workspace.ready()["bot_user_id"]
    by_bot = [place for place, message in enumerate(thread) if message["user"] == bot]
    assert by_bot == [1, 6, 8]


async def test_a_model_is_asked_what_calls_nobody_and_nothing_that_calls_somebody_else(world: World):
    model = ScriptedModel([says("One."), says("Two.")])
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} first")
        await world.settled(ts, 1)
        await world.says("ana", f"<@{world.people['oscar']['id']}> can you check the disk?", ts)
        await world.says("oscar", "ok, will do", ts)
        thread = await world.settled(ts, 4)
    assert [everything(thread[1]), everything(thread[4])] == ["One.", "Two."]


async def test_a_mentioned_name_does_not_choose_the_language(world: World):
    async with world.bot():
        ts = await world.says(
            "ana", f"{world.mention} <@{world.people['oscar']['id']}> asks: what failed recently?"
        )
        answer = (await world.settled(ts, 1))[1]
    assert "he last 24 hours" in everything(answer)


async def test_a_name_alone_is_answered_in_the_language_of_the_thread(world: World):
    async with world.bot():
        ts = await world.says("oscar", f"{world.mention} 暂停任务")
        await world.settled(ts, 1)
        await world.says("oscar", "db-backup", ts)
        thread = await world.settled(ts, 4)
    assert "待批准：暂停任务 db-backup" in everything(thread[-1])


@pytest.mark.parametrize(
    ("language", "word", "hint"),
    [("en", "approve", "Type “approve {}”, or press"), ("en", "yes", "Type “approve {}”, or press"),
     ("zh", "批准", "请输入“批准 {}”，或按"), ("zh", "拒绝", "请输入“拒绝 {}”，或按")],
)  # fmt: skip
async def test_a_verdict_without_a_code_is_told_what_to_type(
    world: World, language: str, word: str, hint: str
):
    async with world.bot():
        ts, card = await change_asked_for(world, CHANGES[language])
        found = re.search(r"(?:approve|批准) ([A-Z0-9]{6})", everything(card))
        assert found is not None
        code = found.group(1)
        await world.says("ana", word, ts)
        assert (await told(world, "ana")).startswith(hint.format(code))
        assert len(await world.thread(ts)) == 4
        await world.says("ana", f"reject {code}", ts)
        await world.becomes(ts, card, "Rejected" if language == "en" else "已拒绝")
        await world.says("ana", word, ts)
        await world.says("ana", f"{world.mention} {'help' if language == 'en' else '帮助'}", ts)
        thread = await world.settled(ts, 7)
    assert [message["user"] for message in thread].count(world.workspace.ready()["bot_user_id"]) == 3


@pytest.mark.parametrize(
    ("language", "word", "ending"), [("en", "cancel", "cancelled"), ("zh", "取消", "已取消")]
)
async def test_a_word_cancels_ones_own_open_form(world: World, language: str, word: str, ending: str):
    async with world.bot():
        ts, form = await form_asked_for(world, FORMS[language])
        await world.says("ana", word, ts)
        await world.says("oscar", word, ts)

        async def closed() -> bool | None:
            now = next(m for m in await world.thread(ts) if m["ts"] == form["ts"])
            return True if ending in everything(now) and not action_ids(now) else None

        await until(closed, "a cancelled form")
        assert len(await world.thread(ts)) == 5


@pytest.mark.parametrize(
    ("language", "chatter", "hint", "answer"),
    [("en", "hm, the backup thing", "Your form still waits for", "name clix, type shell, every night at 2, runs `echo hi`"),
     ("zh", "那个备份的东西", "您的表单还在等待填写", "名称 clix，类型 shell，每天凌晨2点执行 `echo hi`")],
)  # fmt: skip
async def test_a_form_is_answered_in_words(world: World, language: str, chatter: str, hint: str, answer: str):
    async with world.bot():
        ts, _ = await form_asked_for(world, FORMS[language])
        await world.says("oscar", chatter, ts)
        thread = await world.settled(ts, 4)
        assert everything(thread[-1]).startswith(hint)
        await world.says("oscar", answer, ts)
        card = (await world.settled(ts, 7))[-1]
    assert "approve" in action_ids(card)
    assert "clix" in everything(card)
    assert "echo hi" in everything(card)


@pytest.mark.parametrize(
    ("asked", "offered"),
    [("why did it fail?", ["Retry run #N", "Show the details of task #N"]),
     ("分析一下", ["重试运行 #N", "查看任务 #N 的详情"]),
     ("why did db-backup fail?", ["Retry run #N", "Show the details of task #N"]),
     ("details of db-backup", ["Why did run #N fail?", "Trigger task #N now"]),
     ("db-backup 的详情", ["分析运行 #N 为什么失败", "立即触发任务 #N"])],
)  # fmt: skip
async def test_nobody_is_offered_what_they_have_just_read(world: World, asked: str, offered: list[str]):
    await failed_runs(world)
    async with world.bot():
        ts = await world.says("oscar", f"{world.mention} {asked}")
        answer = (await world.settled(ts, 1))[1]
    assert [re.sub(r"\d+", "N", label) for label in labels(answer)] == offered
