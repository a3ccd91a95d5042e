"""Reasoning on its way in: never shown as text, and put together exactly as it came."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.model import Finished, Reasoning, ReasoningDelta, TextDelta, TextEnded
from chatops_bot.llm.openai_errors import ProviderErrors
from chatops_bot.llm.openai_wire import AnswerParser
from chatops_bot.llm.reasoning import TAGS, StrayEnd, ThinkSplitter
from tests.llm.model_server import DONE, call, chunk, text
from tests.timing import FACTOR, ratio


def read(*pieces: bytes) -> tuple[str, str, Reasoning]:
    """Visible text, reasoning as it streamed, and what is kept to go back."""
    answer = AnswerParser(ProviderErrors("api.example.com", "m"))
    deltas = [delta for piece in (*pieces, DONE) for delta in answer.feed(piece)] + answer.close()
    finished = deltas[-1]
    assert isinstance(finished, Finished)
    said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    thought = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    return said, thought, finished.reasoning


def opaque(*pieces: bytes) -> Any:
    return json.loads(read(*pieces)[2].opaque)


@pytest.mark.case("peer-T16")
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_pieces_of_a_field_are_joined(field):
    kept = read(chunk(**{field: " hm"}), chunk(**{field: "\n so"}), text("a"))[2]
    assert kept == Reasoning(" hm\n so", field)


@pytest.mark.case("peer-T16")
def test_an_empty_field_is_kept_as_an_empty_field():
    assert read(chunk(reasoning_content=""), text("a"))[2] == Reasoning("", "reasoning_content")
    assert read(chunk(reasoning_content=None), text("a"))[2] == Reasoning()


def test_the_field_with_text_counts_where_both_come():
    kept = read(chunk(reasoning_content="", reasoning="x"), chunk(reasoning_content="", reasoning="y"))[2]
    assert kept == Reasoning("xy", "reasoning")


def test_details_are_merged_by_index_and_type():
    details = [
        {"type": "reasoning.text", "index": 1, "text": "b", "format": "f"},
        {"type": "reasoning.summary", "index": 0, "summary": "a"},
        {"type": "reasoning.text", "index": 1, "text": "c", "signature": None},
        {"type": "reasoning.text", "index": 1, "text": "", "signature": "sig"},
        {"type": "reasoning.encrypted", "index": 2, "data": "opaque", "id": "r1"},
        {"type": "reasoning.summary", "index": 0, "summary": "a"},
    ]
    assert opaque(*(chunk(reasoning_details=[detail]) for detail in details)) == {
        "reasoning_details": [
            {"type": "reasoning.summary", "index": 0, "summary": "aa"},
            {"type": "reasoning.text", "index": 1, "text": "bc", "format": "f", "signature": "sig"},
            {"type": "reasoning.encrypted", "index": 2, "data": "opaque", "id": "r1"},
        ]
    }


@pytest.mark.case("peer-T19")
def test_blocks_without_an_index_end_with_their_signature():
    blocks = [
        {"type": "thinking", "thinking": "a"},
        {"type": "thinking", "thinking": "b"},
        {"type": "thinking", "thinking": "", "signature": "s1"},
        {"type": "thinking", "thinking": ""},
        {"type": "thinking", "signature": "s2"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "redacted_thinking", "data": "y"},
    ]
    assert opaque(*(chunk(thinking_blocks=[block]) for block in blocks)) == {
        "thinking_blocks": [
            {"type": "thinking", "thinking": "ab", "signature": "s1"},
            {"type": "thinking", "thinking": "", "signature": "s2"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "redacted_thinking", "data": "y"},
        ]
    }


@pytest.mark.case("peer-T18")
def test_signatures_of_a_message_and_of_its_calls_are_kept():
    signed = {"google": {"thought_signature": "s"}}
    piece = {"index": 0, "id": "c", "function": {"name": "t", "arguments": "{}"}, "extra_content": signed}
    answer = AnswerParser(ProviderErrors("api.example.com", "m"))
    [delta] = answer.feed(chunk(tool_calls=[piece]))
    assert json.loads(delta.opaque) == {"extra_content": signed}  # type: ignore[union-attr]  # a call's delta
    [late] = answer.feed(chunk(tool_calls=[{"index": 0, "provider_specific_fields": {"x": 1}}]))
    assert json.loads(late.opaque) == {"provider_specific_fields": {"x": 1}}  # type: ignore[union-attr]  # as above
    assert opaque(chunk(extra_content=signed), text("a")) == {"extra_content": signed}


@pytest.mark.parametrize("odd", ["x", 7, [7, None], {"type": "reasoning.text", "text": 3}, [[]]])
def test_details_of_another_shape_break_nothing(odd):
    assert read(chunk(reasoning_details=odd, thinking_blocks=odd, reasoning={"x": 1}), text("a"))[0] == "a"


def test_thoughts_among_the_parts_of_content_are_reasoning():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
    ]
    assert read(chunk(content=parts))[:2] == ("a", "hm")


# --- tags in the text


@pytest.mark.case("peer-T13")
@pytest.mark.parametrize(
    ("said", "visible", "thought"),
    [
        ("<think>hm</think>a", "a", "hm"),
        ("\n <think>\nhm\n</think>\n\na", "a", "\nhm\n"),
        ("<think></think>\n\n    code", "    code", ""),
        ("<thought>x < y</thought>a", "a", "x < y"),
        ("<thinking>a</think></thinking>b", "b", "a</think>"),
        ("<think>never closed", "", "never closed"),
        ("<think>a</think>b <think>c</think>", "b <think>c</think>", "a"),
        ("Use\n```\n<think>x</think>\n```\n", "Use\n```\n<think>x</think>\n```\n", ""),
        ("so <think>x</think>", "so <think>x</think>", ""),
        ("<thin", "<thin", ""),
        ("<thinker>a", "<thinker>a", ""),
        ("  ", "  ", ""),
    ],
)
def test_tags_count_at_the_start_only(said, visible, thought):
    assert read(text(said))[:2] == (visible, thought)
    assert read(*(text(char) for char in said))[:2] == (visible, thought)


@pytest.mark.case("peer-T13")
@given(
    st.lists(
        st.sampled_from([*"<>/ \nab", "think", "</", *(f"<{t}>" for t in TAGS), *(f"</{t}>" for t in TAGS)])
    ),
    st.lists(st.integers(0, 400)),
)
def test_any_cut_gives_the_same_text_and_loses_nothing(parts: list[str], places: list[int]):
    said = "".join(parts)
    whole = ThinkSplitter()
    first, last = whole.feed(said), whole.close()
    marks = [0, *sorted(place % (len(said) + 1) for place in places), len(said)]
    cut = ThinkSplitter()
    pieces = [cut.feed(said[start:end]) for start, end in pairwise(marks)] + [cut.close()]
    assert "".join(thought for thought, _ in pieces) == first[0] + last[0]
    assert "".join(visible for _, visible in pieces) == first[1] + last[1]
    assert cut.raw + first[1] + last[1] == said


@pytest.mark.case("peer-T16")
def test_tagged_reasoning_is_kept_with_its_tags():
    assert read(text("<think>h"), text("m</think>\n"), text("\na"), call(0, "c", "t", "{}"))[2] == Reasoning(
        "<think>hm</think>\n\n", "content"
    )


def test_text_that_looked_like_a_tag_is_let_go_when_the_answer_ends():
    answer = AnswerParser(ProviderErrors("api.example.com", "m"))
    assert answer.feed(text("<th")) == []
    assert answer.feed(chunk("stop")) == [TextDelta("<th"), TextEnded()]


def test_a_tag_that_is_never_closed_keeps_all_of_its_reasoning():
    assert read(text("<think>hm</thi"))[:3] == ("", "hm</thi", Reasoning("<think>hm</thi", "content"))


def fed(*pieces: str) -> tuple[str, str]:
    """Reasoning and text."""
    splitter = ThinkSplitter()
    both = [*(splitter.feed(piece) for piece in pieces), splitter.close()]
    return "".join(thought for thought, _ in both), "".join(said for _, said in both)


def test_a_run_of_blanks_costs_time_as_it_is_long():
    assert ratio(lambda size: fed(*["    "] * size), 8_000) < 2.5 * FACTOR


@pytest.mark.parametrize(("blanks", "split_off"), [(64, True), (65, False)])
def test_a_tag_behind_a_long_run_of_blanks_is_text_wherever_it_is_cut(blanks: int, split_off: bool):
    said = " " * blanks + "<think>so</think>yes"
    for pieces in ([said], list(said)):
        assert fed(*pieces) == (("so", "yes") if split_off else ("", said))


# --- an end without a beginning


def strayed(*pieces: str) -> tuple[str, str, str]:
    """What was text in the end, the thought with its tag, and the tag."""
    watch = StrayEnd()
    said: list[str] = []
    for piece in pieces:
        ended, text = watch.feed(piece)
        if ended:
            said.clear()
        said.append(text)
    return "".join(said) + watch.close(), watch.raw, watch.closing


@pytest.mark.case("peer-T13")
@pytest.mark.parametrize(
    ("said", "visible", "thought"),
    [
        ("hm\n</think>\n\nIt is 45.", "It is 45.", "hm\n</think>\n\n"),
        ("hm\r\n</think>\r\n\r\nIt is 45.", "It is 45.", "hm\r\n</think>\r\n\r\n"),
        ("hm\n</think>\n\n    code", "    code", "hm\n</think>\n\n"),
        ("</think>\n\nyes", "yes", "</think>\n\n"),
        ("hm, `</think>` ends it\n</think>\n\nyes", "yes", "hm, `</think>` ends it\n</think>\n\n"),
        ("a\n</thought>\n\nb", "b", "a\n</thought>\n\n"),
        ("The tag </think> ends a thought.", "The tag </think> ends a thought.", ""),
        ("- ERROR unexpected </think>\n\n- db-backup", "- ERROR unexpected </think>\n\n- db-backup", ""),
        ("- ERROR\n</think>\n- db-backup", "- ERROR\n</think>\n- db-backup", ""),
        ("so <think>x\n</think>\n\ny", "so <think>x\n</think>\n\ny", ""),
        ("```\nx\n</think>\n\n```\nends it", "```\nx\n</think>\n\n```\nends it", ""),
        ("hm</thi", "hm</thi", ""),
        ("hm\n</think>", "hm\n</think>", ""),
        ("hm\n</think>\n", "hm\n</think>\n", ""),
        ("1 < 2", "1 < 2", ""),
    ],
)
def test_an_end_without_a_beginning_makes_all_before_it_a_thought(said, visible, thought):
    assert strayed(said)[:2] == (visible, thought)
    assert strayed(*said)[:2] == (visible, thought)


@pytest.mark.case("peer-T13")
@given(
    st.lists(
        st.sampled_from(
            [*"<>/ \nab`", "```", "\n\n", "\r", *(f"<{t}>" for t in TAGS), *(f"</{t}>" for t in TAGS)]
        )
    ),
    st.lists(st.integers(0, 400)),
)
def test_any_cut_finds_the_same_end_and_loses_nothing(parts: list[str], places: list[int]):
    said = "".join(parts)
    marks = [0, *sorted(place % (len(said) + 1) for place in places), len(said)]
    visible, thought, closing = strayed(said)
    assert strayed(*(said[start:end] for start, end in pairwise(marks))) == (visible, thought, closing)
    assert thought + visible == said
    assert bool(thought) == bool(closing)


def test_many_ends_of_thoughts_cost_time_as_they_are_long():
    assert ratio(lambda size: strayed(*["x\n</think>\ny "] * size), 8_000) < 2.5 * FACTOR
