"""Consultations at their border: depth, what they cost, stopping them, and what is audited."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from chatops_bot.agent.briefing import Briefing
from chatops_bot.agent.consulting import CONSULT_SPEC, ConsultAgent, ConsultArguments
from chatops_bot.agent.loop import Loop
from chatops_bot.app.clock import CountingIds
from chatops_bot.context.fence import fresh_marks
from chatops_bot.domain.errors import StoreUnavailable, ToolFailed, TurnLost
from chatops_bot.domain.model import ToolMessage, Usage, UserMessage
from chatops_bot.domain.tool import ToolCall, call_id_of
from chatops_bot.domain.transcript import ToolReturned
from chatops_bot.llm.scripted import ScriptedModel, calls, fails, says
from chatops_bot.ports import Consultations, ToolContext
from chatops_bot.tools.read_result import ReadResult
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox
from tests.agent.test_loop import DOWN
from tests.audit_rows import read_audit
from tests.small_tools import OSCAR, PHRASES, SESSION, definitions_of

QUESTION = ConsultArguments(agent_id="b", question="What failed?")


class Desk:
    """Agents a, b and c, each of which may ask any other."""

    def __init__(self, stage: Any, told: frozenset[str] = frozenset()) -> None:
        self._stage = stage
        self._told = told

    def handoffs(self, context):
        return ("a", "b", "c")

    def brief_consulted(self, agent_id, question, context, depth):
        box = Toolbox(self._stage.dispatcher.registry)
        return Briefing(
            box,
            definitions_of(self._stage.dispatcher.registry),
            lambda *_: "You are b.",
            (UserMessage(question),),
            PHRASES,
            fresh_marks(self._stage.ids.nonce),
            told=self._told,
            agent_id=agent_id,
        )


def consulting(
    stage: Any, *steps: Any, depth: int = 1, rounds: int = 5, timeout: float = 90.0, told: frozenset[str] = frozenset()
) -> Any:  # fmt: skip
    tool, model = ConsultAgent(depth, replace(CONSULT_SPEC, timeout=timeout)), ScriptedModel(steps)
    tool.answer_with(
        lambda aside: Loop(model, stage.dispatcher, aside, stage.clock, stage.ids, max_rounds=rounds),
        Desk(stage, told),
    )
    return tool, model


def context(*agents: str) -> ToolContext:
    return ToolContext(OSCAR, SESSION, "turn_1", agents=agents, consultations=Consultations())


async def test_its_calls_are_audited_with_the_turn_and_its_conversation_is_not_kept(stage, tmp_path):
    tool, model = consulting(stage, calls(("look", {"name": "x"})), says("One failed."))
    result = await tool.run(QUESTION, context("a"))
    model.assert_finished()
    assert result.content == {"agent": "b", "answer": "One failed.", "tools_called": ["look"]}
    assert await stage.entries() == []
    rows = [row for _, row in read_audit(tmp_path / "bot.db")]
    assert [(row.tool, row.turn_id, row.person_id) for row in rows] == [("look", "turn_1", OSCAR.id)]


async def test_who_is_consulted_reads_its_own_results_back_and_nobody_elses(stage):
    """Ids of calls are the provider's, and the two conversations may well have the same ones."""
    stage.dispatcher.registry = Registry(
        [*stage.dispatcher.registry, ReadResult(stage.store.transcripts, stage.store.results)]
    )
    stage.look.answer = {"whose": "the asking agent's"}
    asking = await stage.play(calls(("look", {"name": "x"})), says("Seen."))
    stage.look.answer = {"whose": "the consulted agent's"}
    [theirs] = [each.call_id for each in await stage.entries() if isinstance(each, ToolReturned)]
    asking.assert_finished()
    own = call_id_of(CountingIds().new("call"))
    stage.ids = CountingIds()
    tool, model = consulting(
        stage,
        calls(("look", {"name": "x"})),
        calls(("read_result", {"handle": own}), ("read_result", {"handle": theirs})),
        says("One failed."),
    )
    await tool.run(QUESTION, context("a"))
    model.assert_finished()
    read = [each.text for each in model.requests[-1].messages if isinstance(each, ToolMessage)]
    assert own != theirs
    assert "the consulted agent's" in read[1]
    assert "the asking agent's" not in "".join(read)
    assert "error" in read[2]


async def test_what_it_was_told_of_may_be_in_its_answer_too_as_a_new_skill_is_unknown_to_who_asks(stage):
    tool, _ = consulting(stage, says("The skill payroll says so."), told=frozenset({"payroll"}))
    result = await tool.run(QUESTION, context("a"))
    assert result.skills_read == ("payroll",)


async def test_depth_and_cycles_are_bounded(stage):
    tool, _ = consulting(stage)
    with pytest.raises(ToolFailed, match="inside a consultation"):
        await tool.run(QUESTION, context("a", "c"))
    with pytest.raises(ToolFailed, match="takes part in this consultation"):
        await tool.run(QUESTION, context("a", "b"))
    deeper, _ = consulting(stage, says("Yes."), depth=2)
    assert (await deeper.run(QUESTION, context("a", "c"))).content["answer"] == "Yes."


async def test_its_cost_is_told_to_the_turn_which_adds_it_to_its_own(stage):
    tool, _ = consulting(stage, says("One.", usage=Usage(100, 5)))
    turn = stage.turn()
    await tool.run(QUESTION, replace(turn.context, agents=("a",)))
    await stage.play(calls(("look", {"name": "x"})), says("One.", usage=Usage(30, 2)), turn=turn)
    assert turn.usage == Usage(130, 7)


async def test_a_model_that_fails_is_an_error_of_the_call(stage):
    tool, _ = consulting(stage, calls(("look", {"name": "x"})), fails(DOWN))
    with pytest.raises(ToolFailed, match="down"):
        await tool.run(QUESTION, context("a"))


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
    work = asyncio.create_task(tool.run(QUESTION, context("a")))
    await asyncio.wait_for(stage.look.entered.get(), 5)
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work
    assert work.cancelled()


async def test_what_a_consultation_spent_before_it_failed_is_told_too(stage):
    tool, _ = consulting(stage, calls(("look", {"name": "x"}), usage=Usage(50, 4)), fails(DOWN))
    asking = context("a")
    with pytest.raises(ToolFailed):
        await tool.run(QUESTION, asking)
    assert asking.consultations.take_usage() == Usage(50, 4)
    assert asking.consultations.take_usage() == Usage()


async def test_one_that_takes_too_long_is_an_error_that_says_so_and_its_cost_counts(stage):
    stage.look.gate = asyncio.Event()
    tool, _ = consulting(
        stage, calls(("look", {"name": "x"}), usage=Usage(50, 4)), says("never"), timeout=0.05
    )
    stage.dispatcher.registry = Registry([*stage.dispatcher.registry, tool])
    turn = stage.turn()
    turn.context = replace(turn.context, agents=("a",))
    asks = ("consult_agent", {"agent_id": "b", "question": "What failed?"})
    await stage.play(calls(asks, usage=Usage(10, 1)), says("No answer came.", usage=Usage(20, 2)), turn=turn)
    (told,) = [entry for entry in await stage.entries() if isinstance(entry, ToolReturned)]
    assert (told.tool, told.status) == ("consult_agent", "error")
    assert "consult_agent did not return within 0.05 s" in told.content
    assert turn.usage == Usage(80, 7)


async def test_who_is_asked_is_shown_from_the_start_if_it_can_be_an_id(stage):
    tool, _ = consulting(stage)
    stage.dispatcher.registry = Registry([tool])

    def label(arguments: str) -> str:
        return str(stage.dispatcher.label_of(ToolCall("c", "consult_agent", arguments)).en)

    assert (
        label('{"agent_id": "scheduler_operator", "question": "?"}')
        == "asking another agent scheduler_operator"
    )
    for odd in (
        '{"agent_id": "<!channel>"}',
        '{"agent_id": 3}',
        '{"agent_id": ""}',
        "{",
        "{}",
        f'{{"agent_id": "{"a" * 65}"}}',
    ):
        assert label(odd) == "asking another agent"


@pytest.mark.parametrize("fault", [StoreUnavailable("The store is away."), TurnLost("turn_1")])
async def test_a_store_that_fails_in_a_consultation_ends_the_asking_turn_with_that_very_failure(stage, fault):
    stage.look.fault = fault
    tool, _ = consulting(stage, calls(("look", {"name": "x"}), ("look", {"name": "y"})))
    with pytest.raises(type(fault)) as raised:
        await tool.run(QUESTION, context("a"))
    assert raised.value is fault
