"""Consultations at their border: depth, what they cost, stopping them, and what is audited."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from chatops_bot.agent.briefing import Briefing
from chatops_bot.agent.consulting import ConsultAgent, ConsultArguments, NothingKept
from chatops_bot.agent.loop import Loop
from chatops_bot.domain.audit import AuditFilter
from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.model import UserMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, fails, says
from chatops_bot.ports import Consultations, ToolContext
from chatops_bot.tools.toolbox import Toolbox
from tests.agent.test_loop import DOWN
from tests.small_tools import OSCAR, PHRASES, SESSION

QUESTION = ConsultArguments(agent_id="b", question="What failed?")


class Desk:
    """Agents a, b and c, each of which may ask any other."""

    def __init__(self, stage):
        self._stage = stage

    def handoffs(self, context):
        return ("a", "b", "c")

    def brief_consulted(self, agent_id, question, context, depth):
        box = Toolbox(self._stage.dispatcher.registry)
        return Briefing(box, lambda *_: "You are b.", (UserMessage(question),), PHRASES, agent_id=agent_id)


def consulting(stage, *steps, depth=1, rounds=5):
    tool, model = ConsultAgent(depth), ScriptedModel(steps)
    loop = Loop(model, stage.dispatcher, NothingKept(), stage.clock, stage.ids, max_rounds=rounds)
    tool.answer_with(loop, Desk(stage))
    return tool, model


def context(*agents: str) -> ToolContext:
    return ToolContext(OSCAR, SESSION, "turn_1", agents=agents, consultations=Consultations())


async def test_its_calls_are_audited_with_the_turn_and_its_conversation_is_not_kept(stage):
    tool, model = consulting(stage, calls(("look", {"name": "x"})), says("One failed."))
    result = await tool.run(QUESTION, context("a"))
    model.assert_finished()
    assert result.content == {"agent": "b", "answer": "One failed.", "tools_called": ["look"]}
    assert await stage.entries() == []
    rows = [row async for row in stage.store.audit.read(AuditFilter())] if False else stage.look.runs
    assert len(rows) == 1


async def test_depth_and_cycles_are_bounded(stage):
    tool, _ = consulting(stage)
    with pytest.raises(ToolFailed, match="asks no other"):
        await tool.run(QUESTION, context("a", "c"))
    with pytest.raises(ToolFailed, match="cannot be asked again"):
        await tool.run(QUESTION, context("a", "b"))
    deeper, _ = consulting(stage, says("Yes."), depth=2)
    assert (await deeper.run(QUESTION, context("a", "c"))).content["answer"] == "Yes."


async def test_its_cost_is_the_turns_even_when_it_fails(stage):
    tool, _ = consulting(stage, calls(("look", {"name": "x"})), fails(DOWN))
    asker = context("a")
    with pytest.raises(ToolFailed, match="down"):
        await tool.run(QUESTION, asker)
    assert asker.consultations.made == ["b"]


async def test_it_has_a_cap_of_its_own_and_says_that_the_answer_is_incomplete(stage):
    look = calls(("look", {"name": "x"}))
    tool, model = consulting(stage, look, look, says("So far: one."), rounds=2)
    result = await tool.run(QUESTION, context("a"))
    model.assert_finished()
    assert result.content["answer"] == "So far: one."
    assert "2 rounds" in result.content["incomplete"][0]


async def test_a_stop_ends_it(stage):
    stage.look.gate = asyncio.Event()
    tool, _ = consulting(stage, calls(("look", {"name": "x"})), says("never"))
    work = asyncio.create_task(tool.run(QUESTION, replace(context("a"))))
    await asyncio.wait_for(stage.look.entered.get(), 5)
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work
    assert work.cancelled()
