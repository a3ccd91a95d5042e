"""The scripted model: what its steps yield, what it remembers, and that a wrong script is noticed."""

import asyncio

import pytest

from chatops_bot.domain.errors import ModelBroke, ModelError
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    UserMessage,
)
from chatops_bot.llm.scripted import ScriptedModel, ScriptExhausted, ScriptLeftOver, calls, fails, says

BROKE = ModelBroke(Phrase("断了", "It broke."))


def request(text: str = "hi") -> ModelRequest:
    return ModelRequest((UserMessage(text),), ())


async def play(model: ScriptedModel, text: str = "hi") -> list[ModelDelta]:
    return [delta async for delta in model.stream(request(text))]


async def test_says_streams_its_pieces():
    model = ScriptedModel([says("Two ", "tasks", reasoning="hm", usage=Usage(3, 2))])
    assert await play(model) == [
        ReasoningDelta("hm"),
        TextDelta("Two "),
        TextDelta("tasks"),
        Finished(FinishReason.STOP, Usage(3, 2), Reasoning("hm", "reasoning_content")),
    ]
    model.assert_finished()


async def test_calls_get_ids_that_are_unique_in_the_script():
    step = calls(("query", {"状态": "failed"}), ("logs", "{broken"), text="I look.")
    model = ScriptedModel([step, step])
    first, second = await play(model), await play(model)
    assert first == [
        TextDelta("I look."),
        ToolCallDelta(0, "call_1_1", "query"),
        ToolCallDelta(0, arguments='{"状态": "failed"}'),
        ToolCallDelta(1, "call_1_2", "logs"),
        ToolCallDelta(1, arguments="{broken"),
        Finished(FinishReason.TOOL_CALLS),
    ]
    assert second[1] == ToolCallDelta(0, "call_2_1", "query")


async def test_raw_deltas_go_out_as_they_are():
    step = (ToolCallDelta(0, "", "t", "{}"), Finished(FinishReason.TOOL_CALLS))
    assert await play(ScriptedModel([step])) == list(step)


async def test_fails_after_some_deltas():
    deltas = ScriptedModel([fails(BROKE, after=[TextDelta("Two ta")])]).stream(request())
    assert await anext(deltas) == TextDelta("Two ta")
    with pytest.raises(ModelBroke):
        await anext(deltas)


async def test_every_request_is_kept():
    model = ScriptedModel([says("a"), says("b")])
    await play(model, "one")
    await play(model, "two")
    assert model.requests == [request("one"), request("two")]


async def test_one_call_too_many_is_noticed():
    model = ScriptedModel([says("a")])
    await play(model)
    with pytest.raises(ScriptExhausted, match="call 2 of a script with 1 step"):
        await play(model)


async def test_steps_left_over_are_noticed():
    model = ScriptedModel([says("a"), says("b")])
    await play(model)
    with pytest.raises(ScriptLeftOver, match="1 of 2 steps"):
        model.assert_finished()


@pytest.mark.parametrize("step", [(), (TextDelta("a"),), (*says("a"), TextDelta("b")), (BROKE, *says("a"))])
def test_a_step_without_a_proper_end_is_refused(step):
    with pytest.raises(ValueError, match="step 1"):
        ScriptedModel([step])


async def test_a_test_can_hold_the_model_at_a_point():
    reached, go = asyncio.Event(), asyncio.Event()

    async def hold(delta: ModelDelta | ModelError) -> None:
        if delta == TextDelta("b"):
            reached.set()
            await go.wait()

    seen: list[ModelDelta] = []

    async def consume() -> None:
        async for delta in ScriptedModel([says("a", "b")], before_delta=hold).stream(request()):
            seen.append(delta)

    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        tasks.create_task(consume())
        await reached.wait()
        assert seen == [TextDelta("a")]
        go.set()
    assert len(seen) == 3
