"""Whom a message in the bot's thread is for, and in which language it is answered."""

from chatops_bot.llm.scripted import ScriptedModel, says
from tests.scenarios.conftest import World, everything


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
