"""Scenario 3: the bot stops in the middle and starts again; nothing that people rely on is lost, and what is lost is said."""

import asyncio
from typing import Any

import pytest

from chatops_bot.domain.model import AssistantMessage, RecordMessage, TextDelta, UserMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.scenarios.conftest import World, action_ids, everything, until, visible
from tests.scenarios.test_change import PAUSE, asked_for, pausing

INTERRUPTED = {
    "zh": "机器人在处理过程中重启了，本次回答没有完成；已得到的内容保留在上面。回复“继续”可接着做。",
    "en": "The bot restarted while it was working on this, so the answer is incomplete; what had been found stands above. "
    "Reply “continue” to go on.",
}


class HeldAt:
    """Holds a scripted model before the delta with this text; `reached` is set when it is there."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.reached = asyncio.Event()

    async def __call__(self, delta: Any) -> None:
        if isinstance(delta, TextDelta) and delta.text == self._text:
            self.reached.set()
            await asyncio.Event().wait()


@pytest.mark.case("peer-T73")
async def test_a_card_from_before_the_restart_still_decides(world: World):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
    down = await world.click("ana", card, "approve")
    assert down["error"] == "app_not_responding"
    model = ScriptedModel([says("It is paused.")])
    async with world.bot(model):
        await world.click("ana", card, "approve")
        await world.becomes(ts, card, "Done: ")
        assert model.requests == []
        await world.says("oscar", "did it work?", ts)
        messages = await world.settled(ts, 4)
        assert visible(messages[-1]) == "It is paused."
    asked = model.requests[0].messages
    assert [m.text for m in asked if isinstance(m, UserMessage)] == ["pause it please", "did it work?"]
    assert any(isinstance(m, AssistantMessage) and m.calls for m in asked)
    assert any(isinstance(m, RecordMessage) and '"state":"applied"' in m.text for m in asked)
    assert len(world.to_scheduler.reached(PAUSE)) == 1


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_an_answer_that_was_cut_off_keeps_what_it_had_found_and_can_go_on(world: World, language: str):
    question = {"zh": "都有哪些任务？", "en": "which tasks are there?"}[language]
    held = HeldAt("and the rest.")
    model = ScriptedModel(
        [calls(("query_tasks", {}), text="Let me look."), says("Eight tasks, ", "and the rest.")],
        before_delta=held,
    )
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} {question}")
        await asyncio.wait_for(held.reached.wait(), 10)
    (_, answer) = await world.thread(ts)
    assert visible(answer).startswith("Let me look.\n\nEight tasks,")
    assert INTERRUPTED[language] in everything(answer)
    assert action_ids(answer) == []

    again = ScriptedModel([says("Here is the rest.")])
    async with world.bot(again):
        assert len(await world.thread(ts)) == 2
        await world.says("oscar", "continue", ts)
        messages = await world.settled(ts, 3)
    assert visible(messages[-1]) == "Here is the rest."
    asked = again.requests[0].messages
    assert any(isinstance(m, AssistantMessage) and m.text == "Eight tasks, " for m in asked)
    assert any(isinstance(m, RecordMessage) and "interrupted" in m.text for m in asked)


async def test_what_was_asked_while_the_bot_was_down_is_answered_when_it_is_back(world: World):
    ts = await world.says("oscar", f"{world.mention} hello")
    async with world.bot(ScriptedModel([says("Good morning.")])):
        _, answer = await world.settled(ts, 1)
    assert visible(answer) == "Good morning."


async def test_a_message_that_waited_for_its_turn_is_answered_after_the_restart(world: World):
    held = HeldAt("never")
    async with world.bot(ScriptedModel([says("never")], before_delta=held)):
        ts = await world.says("oscar", f"{world.mention} first")
        await asyncio.wait_for(held.reached.wait(), 10)
        await world.says("ana", "second", ts)

        async def waiting() -> bool | None:
            return True if "Waiting – 1 before this" in everything((await world.thread(ts))[-1]) else None

        await until(waiting, "a message that is shown as waiting")
    *_, left = await world.thread(ts)
    assert "The bot restarts" in everything(left)
    async with world.bot(ScriptedModel([says("The second answer.")])):
        messages = await world.settled(ts, 3)
    assert [INTERRUPTED["en"] in everything(message) for message in messages] == [False, True, False, False]
    assert visible(messages[3]) == "The second answer."


async def test_a_restart_with_nothing_under_way_says_nothing(world: World):
    async with world.bot(ScriptedModel([says("Hello.")])):
        ts = await world.says("oscar", f"{world.mention} hello")
        before = await world.settled(ts, 1)
    async with world.bot(ScriptedModel([])):
        assert await world.thread(ts) == before
