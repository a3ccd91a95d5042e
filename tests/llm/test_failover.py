"""Failover: who answers, what people are told, and when an error is left alone."""

from dataclasses import replace

import pytest

from chatops_bot.domain.errors import (
    ModelBlocked,
    ModelBroke,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import (
    AssistantMessage,
    Finished,
    FinishReason,
    ModelNotice,
    ModelRequest,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from chatops_bot.domain.tool import ToolCall
from chatops_bot.llm.failover import FailoverModel
from chatops_bot.llm.scripted import ScriptedModel, fails, says

REASON = Phrase("没有回答", "It did not answer.")
TOLD = Phrase("没有回答。本轮由固定规则代答。", "It did not answer. Fixed rules answer this time.")
REQUEST = ModelRequest((UserMessage("hi"),), ())


async def test_the_standby_is_not_asked_while_the_primary_answers():
    primary, standby = ScriptedModel([says("a")], name="gpt at host"), ScriptedModel([])
    model = FailoverModel(primary, standby)
    assert model.name == "gpt at host"
    assert [delta async for delta in model.stream(REQUEST)] == [TextDelta("a"), Finished(FinishReason.STOP)]
    assert standby.requests == []


@pytest.mark.parametrize("kind", [ModelUnavailable, ModelTimeout, ModelRefused, ModelBroke])
async def test_the_standby_answers_and_people_are_told_why(kind):
    standby = ScriptedModel([says("b")])
    model = FailoverModel(ScriptedModel([fails(kind(REASON))]), standby)
    assert [delta async for delta in model.stream(REQUEST)] == [
        ModelNotice(TOLD, is_first=True),
        TextDelta("b"),
        Finished(FinishReason.STOP, model="scripted"),
    ]
    assert standby.requests == [replace(REQUEST, is_standing_in=True)]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Refused: role 'tool'", "Refused: role 'tool'. Fixed"),
        ("Refused.", "Refused. Fixed"),
        ("Who?", "Who? Fixed"),
    ],
)
async def test_a_reason_without_a_full_stop_does_not_run_into_the_next_sentence(said: str, told: str):
    model = FailoverModel(
        ScriptedModel([fails(ModelRefused(Phrase(said, said)))]), ScriptedModel([says("b")])
    )
    (notice, *_) = [delta async for delta in model.stream(REQUEST)]
    assert isinstance(notice, ModelNotice)
    assert notice.phrase.en.startswith(told)


async def test_an_error_after_the_first_delta_passes_through():
    standby = ScriptedModel([])
    model = FailoverModel(ScriptedModel([fails(ModelBroke(REASON), after=[TextDelta("a")])]), standby)
    deltas = model.stream(REQUEST)
    assert await anext(deltas) == TextDelta("a")
    with pytest.raises(ModelBroke):
        await anext(deltas)
    assert standby.requests == []


async def test_a_blocked_answer_is_not_asked_for_elsewhere():
    standby = ScriptedModel([])
    model = FailoverModel(ScriptedModel([fails(ModelBlocked(REASON))]), standby)
    with pytest.raises(ModelBlocked):
        await anext(model.stream(REQUEST))
    assert standby.requests == []


async def test_the_error_of_the_standby_is_the_last_word():
    other = Phrase("也不行", "Neither did this one.")
    model = FailoverModel(
        ScriptedModel([fails(ModelTimeout(REASON))]), ScriptedModel([fails(ModelUnavailable(other))])
    )
    deltas = model.stream(REQUEST)
    assert await anext(deltas) == ModelNotice(TOLD, is_first=True)
    with pytest.raises(ModelError) as caught:
        await anext(deltas)
    assert caught.value.phrase == other


SECOND_ROUND = ModelRequest(
    (
        *REQUEST.messages,
        AssistantMessage("", calls=(ToolCall("1", "look", "{}"),)),
        ToolMessage("1", "look", "x"),
    ),
    (),
)


async def test_a_model_that_fails_in_mid_turn_is_not_replaced():
    model = FailoverModel(ScriptedModel([fails(ModelTimeout(REASON))]), ScriptedModel([]))
    with pytest.raises(ModelTimeout):
        await anext(model.stream(SECOND_ROUND))


async def test_the_standbys_own_notice_is_left_out():
    standby = ScriptedModel([[ModelNotice(Phrase("未连接", "None is connected.")), *says("b")]])
    model = FailoverModel(ScriptedModel([fails(ModelTimeout(REASON))]), standby)
    assert [delta async for delta in model.stream(REQUEST)][:2] == [
        ModelNotice(TOLD, is_first=True),
        TextDelta("b"),
    ]


async def test_a_turn_stays_handed_over_and_the_next_one_asks_the_primary_first():
    primary = ScriptedModel([fails(ModelTimeout(REASON)), says("back")])
    model = FailoverModel(primary, ScriptedModel([says("b"), says("c")]))
    for request, answer in ((REQUEST, "b"), (SECOND_ROUND, "c")):
        assert [delta async for delta in model.stream(request)][:2] == [
            ModelNotice(TOLD, is_first=True),
            TextDelta(answer),
        ]
    assert await anext(model.stream(REQUEST)) == TextDelta("back")
