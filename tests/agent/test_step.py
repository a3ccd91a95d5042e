"""Deltas of one model call, merged by index whatever their order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.agent.step import Step
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    Reasoning,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from chatops_bot.domain.tool import ToolCall


def merged(deltas: list[ModelDelta], taken: set[str] | None = None) -> tuple[ToolCall, ...]:
    step = Step()
    for delta in deltas:
        step.fold(delta)
    return step.calls(taken=set() if taken is None else taken, fresh=lambda: "fresh")


@pytest.mark.case("nightingale-T64")
def test_pieces_of_interleaved_calls_find_each_other():
    deltas: list[ModelDelta] = [
        ToolCallDelta(1, "b", "look"), ToolCallDelta(0, "a", "switch", '{"task'), ToolCallDelta(1, arguments='{"na'),
        ToolCallDelta(0, "a", "switch", '_id":3}'), ToolCallDelta(1, arguments='me":"x"}'),
    ]  # fmt: skip
    assert merged(deltas) == (ToolCall("a", "switch", '{"task_id":3}'), ToolCall("b", "look", '{"name":"x"}'))


@given(st.lists(st.tuples(st.integers(0, 3), st.text(max_size=5)), max_size=40))
def test_arguments_of_a_call_are_its_pieces_in_order(pieces: list[tuple[int, str]]):
    result = merged([ToolCallDelta(index, f"id{index}", "look", text) for index, text in pieces])
    expected = {index: "".join(text for i, text in pieces if i == index) for index in {i for i, _ in pieces}}
    assert {call.id: call.arguments for call in result} == {f"id{i}": text for i, text in expected.items()}


def test_text_reasoning_and_finish_are_kept_apart():
    step = Step()
    for delta in (
        ReasoningDelta("why"),
        TextDelta("a"),
        TextDelta("b"),
        Finished(FinishReason.STOP, Usage(3, 4, 1), Reasoning("why", "reasoning")),
    ):
        step.fold(delta)
    assert (step.text, step.reasoning.text, step.finish, step.usage.completion_tokens) == (
        "ab",
        "why",
        FinishReason.STOP,
        4,
    )


def test_an_id_that_is_taken_is_replaced_and_remembered():
    taken = {"a"}
    assert merged([ToolCallDelta(0, "a", "look", "{}")], taken)[0].id == "fresh"
    assert taken == {"a", "fresh"}
