"""The loop sends what fits, tries once more with less when a model says that it was too much, and learns from its reports."""

import json
from collections.abc import Sequence

import pytest

from chatops_bot.agent.loop import Turn
from chatops_bot.app.clock import CountingIds
from chatops_bot.context.budget import Budget
from chatops_bot.context.fence import fresh_marks, kept_marks, unfence
from chatops_bot.context.history import project
from chatops_bot.context.window import Window
from chatops_bot.domain.errors import ModelTooLong, ModelUnavailable
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    Message,
    ModelNotice,
    ModelRequest,
    SystemMessage,
    TextDelta,
    ToolMessage,
    Usage,
    UserMessage,
)
from chatops_bot.domain.transcript import UserSaid
from chatops_bot.llm.failover import FailoverModel
from chatops_bot.llm.scripted import ScriptedModel, calls, fails, says
from tests.agent.conftest import Stage
from tests.context.provider_rules import refusals
from tests.small_tools import PHRASES

TOO_LONG = ModelTooLong(Phrase("太长", "too long"))


def with_history(stage: Stage, budget: Budget, history: Sequence[Message]) -> Turn:
    turn = stage.turn()
    turn.briefing.history = tuple(history)
    turn.briefing.window = Window(budget, "scripted", fresh_marks(CountingIds().nonce))
    return turn


def long_history(turns: int = 30) -> list[Message]:
    said: list[Message] = []
    for number in range(turns):
        said += [UserMessage(f"question {number}", "U1"), AssistantMessage("w" * 2_000, model="scripted")]
    return [*said, UserMessage("and now?", "U1"), ContextMessage("it is two o'clock")]


async def test_a_request_that_was_too_long_is_sent_once_more_with_less(stage: Stage):
    turn = with_history(stage, budget := Budget(), long_history())
    model = await stage.play(fails(TOO_LONG), says("Here."), turn=turn)
    first, second = (request.messages for request in model.requests)
    assert len(second) < len(first) * 0.7
    assert second[-2:] == first[-2:]
    assert not refusals(second)
    assert stage.text == "Here."
    assert budget.room("scripted", 0) < 20_000


async def test_a_long_prompt_leaves_less_room_to_the_conversation(stage: Stage):
    turn = with_history(stage, Budget(32_000), long_history())
    model = await stage.play(says("Here."), turn=turn)
    turn = with_history(stage, Budget(32_000), long_history())
    turn.briefing.system = lambda toolbox, loaded: "p" * 60_000
    shorter = await stage.play(says("Here."), turn=turn)
    assert len(shorter.requests[0].messages) < len(model.requests[0].messages)


async def test_one_that_is_still_too_long_or_too_long_after_some_words_is_not_sent_again(stage: Stage):
    with pytest.raises(ModelTooLong):
        await stage.play(fails(TOO_LONG), fails(TOO_LONG), turn=with_history(stage, Budget(), long_history()))
    with pytest.raises(ModelTooLong):
        await stage.play(
            fails(TOO_LONG, after=[TextDelta("Let me")]), turn=with_history(stage, Budget(), long_history())
        )


async def test_results_pile_up_in_one_turn_and_the_old_ones_are_cleared(stage: Stage):
    stage.look.answer = {"count": 7, "log": "x" * 4_500}
    turn = with_history(stage, Budget(20_000), [UserMessage("what failed?", "U1")])
    steps = [calls(("look", {"name": str(number)})) for number in range(9)]
    model = await stage.play(*steps, says("Found."), turn=turn)
    last = model.requests[-1].messages
    results = [json.loads(unfence(m.text)) for m in last if isinstance(m, ToolMessage)]
    assert results[0]["cleared"] == "look"
    assert results[0]["summary"].startswith("count: 7")
    assert "log" in results[-1]
    assert not refusals([m for m in last if not isinstance(m, SystemMessage)])
    assert len([m for m in turn.said if isinstance(m, ToolMessage) and "cleared" in m.text]) == 0


async def test_what_a_model_reports_is_learned_for_the_next_turn(stage: Stage):
    budget = Budget()
    before = budget.room("scripted", 0)
    for _ in range(20):
        turn = with_history(stage, budget, long_history())
        await stage.play(says("Yes.", usage=Usage(prompt_tokens=40_000)), turn=turn)
    assert budget.room("scripted", 0) < before


async def test_failover_lets_the_asker_try_with_less_before_another_model_answers(stage: Stage):
    history = long_history(3)
    short = (SystemMessage("s"), *history[-2:])
    whole = (SystemMessage("s"), *history)

    async def said_by(model: FailoverModel, messages: tuple[Message, ...]) -> list[object]:
        return [delta async for delta in model.stream(ModelRequest(messages, ()))]

    primary = ScriptedModel([fails(TOO_LONG), says("short enough")])
    model = FailoverModel(primary, ScriptedModel([]))
    with pytest.raises(ModelTooLong):
        await said_by(model, whole)
    assert TextDelta("short enough") in await said_by(model, short)

    away = ModelUnavailable(Phrase("不可用", "away"))
    primary, standby = (
        ScriptedModel([fails(TOO_LONG), fails(TOO_LONG), fails(away)]),
        ScriptedModel([says("a"), says("b")]),
    )
    model = FailoverModel(primary, standby)
    with pytest.raises(ModelTooLong):
        await said_by(model, whole)
    assert any(isinstance(delta, ModelNotice) for delta in await said_by(model, short))
    later = (*short, AssistantMessage("", calls=()), ToolMessage("c", "look", "r"))
    assert TextDelta("b") in await said_by(model, later), (
        "a turn that was handed over stays so, whatever its window"
    )


async def test_what_a_turn_sent_is_sent_again_to_the_byte_in_the_next_one(stage: Stage):
    turn = stage.turn()
    turn.briefing.marks = kept_marks(b"a key", "a session")
    model = await stage.play(
        calls(("look", {"name": "x"}), ("look", {"name": "y"})), says("Done."), turn=turn
    )
    sent = [each for each in model.requests[-1].messages if isinstance(each, AssistantMessage | ToolMessage)]
    assert len(sent) == 3
    asked = UserSaid(turn.context.turn_id, stage.clock.now(), "U1", "Oscar", "operator", "what failed?")
    later = project(
        [asked, *await stage.entries()], marks=kept_marks(b"a key", "a session"), words=PHRASES.calls
    )
    assert later[1:4] == sent
