"""Answers without a network: what any stream of bytes comes to."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.errors import ModelBroke, ModelError, ModelRefused, ModelUnavailable
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    Reasoning,
    ReasoningDelta,
    TextDelta,
    TextEnded,
    ToolCallDelta,
    Usage,
)
from chatops_bot.llm.openai_errors import ProviderErrors
from chatops_bot.llm.openai_wire import ANSWER_BYTES, AnswerParser
from tests.llm.model_server import DONE, call, chunk, complaint, event, text, usage
from tests.timing import FACTOR, ratio


def parser() -> AnswerParser:
    return AnswerParser(ProviderErrors("api.example.com", "m"))


def parsed(pieces: Iterable[bytes]) -> list[ModelDelta]:
    """Every delta of an answer but `TextEnded`. Raises the ModelError that it ends in."""
    return [delta for delta in all_of(pieces) if not isinstance(delta, TextEnded)]


def all_of(pieces: Iterable[bytes]) -> list[ModelDelta]:
    answer = parser()
    deltas = [delta for piece in pieces for delta in answer.feed(piece)]
    return [*deltas, *answer.close()]


def joined(deltas: Iterable[ModelDelta]) -> tuple[str, str, dict[int, list[str]], list[ModelDelta]]:
    """Text, reasoning, calls by index as id, name and arguments, and the rest."""
    said, thought = "", ""
    rest: list[ModelDelta] = []
    merged: dict[int, list[str]] = defaultdict(lambda: ["", "", ""])
    for delta in deltas:
        match delta:
            case TextDelta(piece):
                said += piece
            case ReasoningDelta(piece):
                thought += piece
            case ToolCallDelta(index, id, name, arguments):
                parts = merged[index]
                merged[index] = [parts[0] + id, parts[1] + name, parts[2] + arguments]
            case _:
                rest.append(delta)
    return said, thought, dict(merged), rest


def calls_in(*pieces: bytes) -> list[list[str]]:
    merged = joined(parsed([*pieces, DONE]))[2]
    return [merged[index] for index in sorted(merged)]


# --- answers, by what providers do


@pytest.mark.case("peer-T10")
def test_usage_comes_in_a_chunk_without_choices():
    deltas = parsed([text("a"), chunk("stop"), usage(10, 3, 4), DONE])
    assert deltas == [TextDelta("a"), Finished(FinishReason.STOP, Usage(10, 3, 4))]


@pytest.mark.case("peer-T10")
@pytest.mark.parametrize(
    ("figures", "counted"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, 2)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(9, 0, 4)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, Usage(9, 0, 4)),
        ({"prompt_tokens": 9, "cached_tokens": 4}, Usage(9, 0, 4)),
        ({"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}}, Usage(0, 9, 0, 7)),
        ({"prompt_tokens": "9", "completion_tokens": -1, "prompt_tokens_details": 3}, Usage()),
        ({"prompt_tokens": 9.0, "completion_tokens": None}, Usage(9)),
        ([1], Usage()),
    ],
)
def test_usage_is_read_in_every_shape_and_never_costs_the_answer(figures, counted):
    at_the_end = event({"choices": [], "usage": figures})
    in_the_choice = event({"choices": [{"delta": {}, "finish_reason": "stop", "usage": figures}]})
    assert parsed([text("a"), chunk("stop"), at_the_end, DONE])[-1] == Finished(FinishReason.STOP, counted)
    assert parsed([text("a"), in_the_choice])[-1] == Finished(FinishReason.STOP, counted)


def test_the_last_usage_counts_where_every_chunk_has_one():
    def counting(number: int) -> bytes:
        choice = {"index": 0, "delta": {"content": "a"}, "finish_reason": None}
        return event({"choices": [choice], "usage": {"completion_tokens": number}})

    assert parsed([counting(1), counting(2), chunk("stop")])[-1] == Finished(FinishReason.STOP, Usage(0, 2))


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", FinishReason.STOP),
        ("function_call", FinishReason.STOP),
        ("unheard of", FinishReason.STOP),
        ("tool_calls", FinishReason.STOP),
        ("eos", FinishReason.STOP),
        ("length", FinishReason.TRUNCATED),
        ("MAX_TOKENS", FinishReason.TRUNCATED),
        ("model_length", FinishReason.TRUNCATED),
        ("content_filter", FinishReason.BLOCKED),
        ("SAFETY", FinishReason.BLOCKED),
        ("refusal", FinishReason.BLOCKED),
    ],
)
def test_finish_reasons(reason, finish):
    assert parsed([text("a"), chunk(reason)])[-1] == Finished(finish)


@pytest.mark.parametrize("reason", ["tool_calls", "stop", "function_call"])
def test_calls_decide_whether_it_stopped_for_calls(reason):
    deltas = parsed([call(0, "c", "t", "{}"), chunk(reason)])
    assert deltas[-1] == Finished(FinishReason.TOOL_CALLS)


@pytest.mark.case("peer-T27")
def test_a_truncated_answer_with_calls_is_truncated():
    assert parsed([call(0, "c", "t", "{}"), chunk("length")])[-1] == Finished(FinishReason.TRUNCATED)


@pytest.mark.parametrize("reason", ["insufficient_system_resource", "error", "ERROR"])
@pytest.mark.parametrize("ending", [b"", DONE])
def test_a_provider_that_gave_up_is_a_broken_answer(reason, ending):
    with pytest.raises(ModelBroke):
        parsed([text("a"), call(0, "c", "t", "{}"), chunk(reason), ending])


@pytest.mark.parametrize("reason", [None, ""])
def test_without_a_finish_reason_only_done_ends_an_answer(reason):
    said = [text("a"), call(0, "c", "t", "{}"), chunk(reason)]
    assert parsed([*said, DONE])[-1] == Finished(FinishReason.TOOL_CALLS)
    with pytest.raises(ModelBroke):
        parsed(said)


def test_a_finish_reason_is_not_undone_by_a_later_chunk_without_one():
    assert parsed([text("a"), chunk("length"), chunk(None, content="")])[-1] == Finished(
        FinishReason.TRUNCATED
    )


def test_the_end_of_the_text_is_told_before_the_usage_comes():
    answer = parser()
    assert answer.feed(text("a") + chunk("stop")) == [TextDelta("a"), TextEnded()]
    assert answer.feed(usage(9, 2) + DONE) == []
    assert answer.close() == [Finished(FinishReason.STOP, Usage(9, 2))]


def test_a_last_chunk_that_says_all_again_is_not_text_again():
    again = {"index": 0, "message": {"role": "assistant", "content": "ab"}, "finish_reason": "stop"}
    assert joined(parsed([text("a"), text("b"), event({"choices": [again]})]))[0] == "ab"


def test_the_older_protocol_of_one_call_without_id():
    pieces = [chunk(function_call={"name": "t", "arguments": ""}), chunk(function_call={"arguments": "{}"})]
    assert calls_in(*pieces, chunk("function_call")) == [["", "t", "{}"]]


@pytest.mark.case("peer-T13")
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_no_text(name):
    deltas = parsed([chunk(**{name: "hm"}), text("a"), DONE])
    kept = Reasoning("hm", name)
    assert deltas == [ReasoningDelta("hm"), TextDelta("a"), Finished(FinishReason.STOP, reasoning=kept)]


def test_reasoning_that_comes_under_both_names_is_taken_once():
    assert parsed([chunk(reasoning="hm", reasoning_content="hm"), DONE])[0] == ReasoningDelta("hm")


def test_content_in_parts_and_refusals_are_text():
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}]
    assert joined(parsed([chunk(content=parts), chunk(refusal="no"), DONE]))[0] == "ano"


@pytest.mark.case("peer-T01")
def test_a_call_without_index():
    assert calls_in(call(None, "c", "t"), call(None, None, None, '{"a"'), call(None, arguments=":1}")) == [
        ["c", "t", '{"a":1}']
    ]


@pytest.mark.case("peer-T02")
def test_without_index_a_new_id_starts_a_new_call():
    pieces = [
        call(None, "a", "t"),
        call(None, arguments="{}"),
        call(None, "b", "t"),
        call(None, arguments="[]"),
    ]
    assert calls_in(*pieces) == [["a", "t", "{}"], ["b", "t", "[]"]]


@pytest.mark.case("peer-T04")
def test_calls_without_ids_stay_apart_by_index():
    pieces = [
        call(0, None, "t", "{"),
        call(1, None, "t", "["),
        call(0, arguments="}"),
        call(1, arguments="]"),
    ]
    assert calls_in(*pieces) == [["", "t", "{}"], ["", "t", "[]"]]


def test_whole_calls_without_id_and_index_stay_apart():
    pieces = [call(None, "", "t", '{"a":1}'), call(None, "", "t", '{"a":2}'), call(None, "", "u", "{}")]
    assert calls_in(*pieces) == [["", "t", '{"a":1}'], ["", "t", '{"a":2}'], ["", "u", "{}"]]


def test_a_call_that_names_itself_in_every_piece_costs_time_as_it_is_long():
    def read(size: int) -> None:
        parts = ['{"a":"', *["word " * 20] * size, '"}']
        answer = "".join(parts)
        assert calls_in(*(call(None, "", "t", part) for part in parts)) == [["", "t", answer]]

    assert ratio(read, 1_000) < 2.5 * FACTOR


@pytest.mark.case("peer-T06")
@pytest.mark.parametrize("indexes", [(0, 1), (None, None)])
def test_whole_calls_with_the_same_id_stay_apart(indexes):
    pieces = [call(indexes[0], "x", "t", '{"a":1}'), call(indexes[1], "x", "t", '{"a":2}')]
    assert calls_in(*pieces) == [["x", "t", '{"a":1}'], ["x", "t", '{"a":2}']]


@pytest.mark.case("nightingale-T64")
def test_an_id_and_name_sent_again_are_given_once():
    pieces = [call(0, "c", "t", '{"a"'), call(0, "c", "t", ":1"), call(0, "c", "t", "}"), call(0, "c", "t")]
    assert calls_in(*pieces) == [["c", "t", '{"a":1}']]


def test_a_new_id_on_every_piece_without_a_name_is_one_call():
    assert calls_in(call(0, "r1", "t"), call(0, "r2", None, "{"), call(0, "r3", None, "}")) == [
        ["r1", "t", "{}"]
    ]


def test_calls_that_all_have_index_0_stay_apart_by_id():
    assert calls_in(call(0, "a", "t", "{}"), call(0, "b", "u", "[]")) == [["a", "t", "{}"], ["b", "u", "[]"]]


def test_an_index_that_comes_later_goes_on_with_the_call():
    assert calls_in(call(None, "a", "t"), call(0, arguments="{"), call(0, arguments="}")) == [
        ["a", "t", "{}"]
    ]


@pytest.mark.case("peer-T07")
def test_calls_of_two_choices_are_merged():
    def piece(choice: int, id: str) -> dict[str, Any]:
        asked = {"index": 0, "id": id, "function": {"name": "t", "arguments": "{}"}}
        return {"index": choice, "delta": {"tool_calls": [asked]}, "finish_reason": "tool_calls"}

    deltas = parsed([event({"choices": [piece(0, "a"), piece(1, "b")]})])
    assert joined(deltas)[2] == {0: ["a", "t", "{}"], 1: ["b", "t", "{}"]}
    assert deltas[-1] == Finished(FinishReason.TOOL_CALLS)


def test_an_answer_is_broken_while_one_choice_is_unfinished():
    first = {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}
    second = {"index": 1, "delta": {"tool_calls": [{"function": {"name": "t", "arguments": '{"a'}}]}}
    with pytest.raises(ModelBroke):
        parsed([event({"choices": [first, second]})])


@pytest.mark.case("peer-T08")
def test_calls_in_a_middle_chunk_are_kept():
    assert calls_in(text("I look"), call(0, "c", "t", "{}"), chunk(content=""), chunk("stop")) == [
        ["c", "t", "{}"]
    ]


def test_arguments_as_an_object_become_text():
    piece = {"index": 0, "id": "c", "function": {"name": "t", "arguments": {"a": "ä"}}}
    assert calls_in(chunk(tool_calls=[piece])) == [["c", "t", '{"a": "ä"}']]


@pytest.mark.case("peer-T14")
@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_the_last_event_needs_no_blank_line(ending):
    last = chunk("stop", content="b").rstrip(b"\n") + ending
    assert parsed([text("a"), last]) == [TextDelta("a"), TextDelta("b"), Finished(FinishReason.STOP)]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_comments_fields_and_line_ends(line_end):
    lines = [
        b"\xef\xbb\xbf: hello",
        b"event: message",
        b'data: {"choices":',
        b'data:[{"delta":{"content":"a"}}]}',
        b"",
    ]
    stream = line_end.join([*lines, b"data", b"", b":", b"id: 7", b"data: [DONE]", b"", b""])
    assert parsed([stream]) == [TextDelta("a"), Finished(FinishReason.STOP)]
    assert parsed([bytes([byte]) for byte in stream]) == [TextDelta("a"), Finished(FinishReason.STOP)]


def test_nothing_counts_after_done():
    answer = parser()
    assert answer.feed(text("a") + DONE + text("b")) == [TextDelta("a")]
    assert answer.ended
    assert answer.feed(b"data: rubbish\n\n") == []
    assert answer.close() == [TextEnded(), Finished(FinishReason.STOP)]


def test_a_whole_answer_instead_of_a_stream():
    asked = [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}]
    said = {"role": "assistant", "content": "a", "tool_calls": asked}
    document = {"choices": [{"message": said, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1}}
    deltas = parsed([json.dumps(document, indent=1).encode()])
    assert joined(deltas)[:3] == ("a", "", {0: ["c", "t", "{}"]})
    assert deltas[-1] == Finished(FinishReason.TOOL_CALLS, Usage(prompt_tokens=1))


# --- answers that fail


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        ({"message": "boom"}, ModelBroke, "boom"),
        ("boom", ModelBroke, "boom"),
        ({"message": ""}, ModelBroke, "broke off in the middle"),
        ({"message": "x", "code": 429}, ModelUnavailable, "rate limited"),
        ({"message": "x", "code": "502"}, ModelUnavailable, "HTTP 502"),
        ({"message": "x", "type": "overloaded_error"}, ModelUnavailable, "overloaded"),
        ({"message": "x", "code": "insufficient_quota"}, ModelRefused, "no quota"),
        ({"message": "no\x1b[2J\u202e\nway", "code": 400}, ModelRefused, "no⟨U+001B⟩[2J⟨U+202E⟩ way"),
        ({"message": "key sk-abcdefghijklmnopqrst", "code": 400}, ModelRefused, "[redacted:model-key]"),
    ],
)
def test_an_error_object_ends_the_stream(error, kind, says):
    answer = parser()
    assert answer.feed(text("a") + event({"error": error}) + text("b")) == [TextDelta("a")]
    assert answer.ended
    with pytest.raises(kind, match=re.escape(says)):
        answer.close()


def test_an_error_in_the_shape_of_an_object():
    with pytest.raises(ModelRefused, match="too many"):
        parsed([event({"object": "error", "message": "too many", "code": 400})])
    with pytest.raises(ModelUnavailable):
        parsed([complaint("x", code=503)])


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        (b"", "sent nothing back"),
        (b"   ", "sent nothing back"),
        (b": ping\r\n\r\n: ping\r\n\r\n", "sent nothing back"),
        (b": ping\n\ndata: hello\n\n", "not a model's answer"),
        (b"<!doctype html>", "web page"),
        (b"hello there", "not a model's answer"),
        (b"{}", "not a model's answer"),
        (b"data: hello\n\n", "not a model's answer"),
        (b"data: 7\n\n", "not a model's answer"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "not a model's answer"),
        (b'data: {"x": ' + b"[" * 100_000 + b"\n\n", "not a model's answer"),
        (text("a"), "broke off"),
        (text("a") + b"data: {\n\n", "broke off"),
        (text("a") + b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n', "broke off"),
    ],
)
def test_rubbish_and_broken_answers(stream, says):
    with pytest.raises(ModelBroke, match=says):
        parsed([stream])


@pytest.mark.parametrize("start", [b"data: ", b"{"])
def test_an_endless_event_is_given_up(start):
    answer = parser()
    answer.feed(start)
    answer.feed(b"x" * ANSWER_BYTES)
    assert answer.ended
    with pytest.raises(ModelBroke):
        answer.close()


# --- properties

PIECES = st.one_of(
    st.text(min_size=1).map(lambda piece: text(piece)),
    st.text(min_size=1).map(lambda piece: chunk(reasoning_content=piece)),
    st.tuples(st.integers(0, 3), st.text(max_size=6)).map(lambda piece: call(piece[0], None, None, piece[1])),
    st.just(b": ping\r\n\r\n"),
)


def cut(stream: bytes, places: Iterable[int]) -> list[bytes]:
    marks = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in pairwise(marks)]


def smooth(deltas: list[ModelDelta]) -> list[ModelDelta]:
    """The deltas with neighbouring texts as one, and neighbouring arguments of a call: where they are parted depends on the reads, and
    means nothing."""
    whole: list[ModelDelta] = []
    for delta in deltas:
        match whole[-1:], delta:
            case [TextDelta(before)], TextDelta(text):
                whole[-1] = TextDelta(before + text)
            case [ToolCallDelta(index, id, name, before, opaque)], ToolCallDelta(
                same, "", "", arguments, ""
            ) if same == index:
                whole[-1] = ToolCallDelta(index, id, name, before + arguments, opaque)
            case _:
                whole.append(delta)
    return whole


def test_texts_that_come_together_are_passed_on_together():
    assert parser().feed(text("a") + text("b") + text("c")) == [TextDelta("abc")]


@given(st.lists(PIECES), st.lists(st.integers(0, 1 << 20), max_size=40))
def test_chunking_does_not_matter(pieces, places):
    begins = [call(index, f"id{index}", f"tool{index}") for index in range(4)]
    stream = b"".join([*begins, *pieces, chunk("tool_calls"), usage(3, 4), DONE])
    whole = parsed([stream])
    assert smooth(parsed(cut(stream, places))) == smooth(whole)
    expected: dict[int, str] = defaultdict(str)
    for piece in pieces:
        if b"tool_calls" in piece:
            [asked] = json.loads(piece.removeprefix(b"data: "))["choices"][0]["delta"].get(
                "tool_calls", [None]
            )
            if asked:
                expected[asked["index"]] += asked["function"]["arguments"]
    for index, parts in joined(whole)[2].items():
        assert parts == [f"id{index}", f"tool{index}", expected[index]]


@given(
    st.lists(st.one_of(st.binary(), PIECES, st.sampled_from([b"data: ", b"\n", b"{", b'{"choices":[', DONE])))
)
def test_garbage_raises_nothing_but_model_errors(pieces):
    answer = parser()
    for piece in pieces:
        assert not any(isinstance(delta, Finished) for delta in answer.feed(piece))
    try:
        deltas = answer.close()
    except ModelError:
        return
    assert isinstance(deltas[-1], Finished)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "delta", "message", "tool_calls", "function", "index", "id", "name", "arguments", "content",
             "error", "code", "usage", "finish_reason", "reasoning", "object", "type"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=30,
)  # fmt: skip


@given(st.lists(JSON, max_size=4))
def test_wrongly_typed_json_raises_nothing_but_model_errors(values):
    stream = b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)
    try:
        parsed([stream, DONE])
    except ModelError:
        return


REAL = b"".join(
    [
        chunk(role="assistant", content=""),
        chunk(reasoning_content="查一下"),
        text("Ich prüfe 任务 🚨"),
        call(0, "call_a", "query_tasks", '{"status": "fai'),
        call(1, "call_b", "query_logs"),
        call(0, None, None, 'led"}'),
        call(1, None, None, '{"task": "备份"}'),
        chunk("tool_calls"),
        usage(120, 31, 64),
        DONE,
    ]
)


@pytest.mark.case("nightingale-T64")
def test_a_stream_cut_at_any_byte_is_whole_or_broken():
    whole = joined(parsed([REAL]))
    assert whole[2] == {
        0: ["call_a", "query_tasks", '{"status": "failed"}'],
        1: ["call_b", "query_logs", '{"task": "备份"}'],
    }
    broken = 0
    for place in range(len(REAL)):
        try:
            deltas = parsed([REAL[:place]])
        except ModelBroke:
            broken += 1
            continue
        assert joined(deltas)[:3] == whole[:3]
        assert isinstance(deltas[-1], Finished)
        assert deltas[-1].reason is FinishReason.TOOL_CALLS
    assert broken > 200


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        ({"message": "boom"}, ModelBroke, "boom"),
        ({"detail": "Not Found"}, ModelBroke, "Not Found"),
        ({"code": "rate_limit", "message": "slow down"}, ModelUnavailable, "rate limited"),
    ],
)
def test_an_error_under_no_key_is_an_error(error, kind, says):
    answer = parser()
    answer.feed(event(error) + DONE)
    with pytest.raises(kind, match=says):
        answer.close()


@pytest.mark.parametrize(
    "odd",
    [
        b'data: {"choices":[null,{"index":0,"delta":{"content":"a"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"a"},"logprobs":NaN}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"a","tool_calls":[null]}}]}\n\n',
    ],
)
def test_what_gateways_leave_in_lists_and_numbers_costs_no_answer(odd):
    answer = parser()
    assert answer.feed(odd) == [TextDelta("a")]
    answer.feed(chunk("stop") + DONE)
    assert answer.close()[-1] == Finished(FinishReason.STOP)
