"""A word is known by its shape: whatever it is read as, it says the same as any other chunk would."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.errors import ModelError
from chatops_bot.domain.model import ModelDelta
from chatops_bot.llm.openai_chunk import word_in
from chatops_bot.llm.openai_errors import ProviderErrors
from chatops_bot.llm.openai_wire import AnswerParser

_OF_A_CALL = {"index": 0, "id": "call_1", "function": {"name": "add", "arguments": "{}"}}
_FIELDS: dict[str, list[Any]] = {
    "content": ["", "word ", "<think>", "</think>", "\n", None, [{"type": "text", "text": "part"}]],
    "role": ["assistant", None],
    "refusal": [None, "no"],
    "reasoning_content": [None, "", "thought"],
    "reasoning": [None, "thought"],
    "reasoning_details": [None, [], [{"type": "reasoning.text", "text": "thought"}]],
    "thinking_blocks": [None, []],
    "extra_content": [None, {"signature": "x"}],
    "tool_calls": [None, [], [_OF_A_CALL]],
    "function_call": [None, {"name": "add", "arguments": "{}"}],
    "unknown": [1],
}
"""Each field of a delta with what providers put there."""


def _objects(values: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(each) for name, each in values.items()})


_CHOICES = st.builds(
    lambda delta, rest: {"delta": delta, **rest},
    _objects({"content": ["word ", "other ", "<think>"], "role": ["assistant"], "refusal": [None]})
    | _objects(_FIELDS),
    _objects({"index": [0, 0, 0, None, 1, "0"], "finish_reason": [None, None, "", "stop"], "usage": [None]}),
)
_CHUNKS = st.builds(
    lambda choices, rest: {"choices": choices, **rest},
    st.lists(_CHOICES, min_size=1, max_size=1) | st.lists(_CHOICES, max_size=2),
    _objects(
        {"usage": [None, None, {"prompt_tokens": 3}], "error": [None, None, None, {"message": "broken"}]}
    ),
)


def _read(chunks: list[dict[str, Any]], kind: str) -> list[ModelDelta | str]:
    """The deltas of a stream of these chunks, and the error that it ended in."""
    parser = AnswerParser(ProviderErrors("localhost", "m", secrets=[]), "m")
    events = [f"data: {json.dumps({**chunk, 'object': kind})}\n\n" for chunk in chunks]
    deltas: list[ModelDelta | str] = []
    for event in (*events, "data: [DONE]\n\n"):
        deltas += parser.feed(event.encode())
    try:
        return [*deltas, *parser.close()]
    except ModelError as error:
        return [*deltas, str(error)]


@given(st.lists(_CHUNKS, max_size=6))
def test_a_chunk_says_the_same_whether_or_not_it_may_be_read_as_a_word(chunks: list[dict[str, Any]]) -> None:
    assert _read(chunks, "chat.completion.chunk") == _read(chunks, "a kind that is no word's")


def test_what_providers_send_for_most_of_an_answer_is_read_as_words() -> None:
    for said in (
        {"content": "word "},
        {"role": "assistant", "content": "word ", "reasoning_content": None},
        {"role": None, "content": "word ", "refusal": None, "function_call": None, "tool_calls": None, "audio": None},
    ):  # fmt: skip
        choice = {"index": 0, "delta": said, "logprobs": None, "finish_reason": None}
        chunk = {"id": "1", "object": "chat.completion.chunk", "choices": [choice], "usage": None}
        assert word_in(json.dumps(chunk).encode()) == "word "


def test_a_chunk_that_says_anything_else_is_no_word() -> None:
    others: list[dict[str, Any]] = [
        {"usage": {}},
        {"error": {"message": "no"}},
        {"object": "error"},
        {"choices": []},
    ]
    for other in others:
        choice = {"index": 0, "delta": {"content": "word "}}
        chunk = {"object": "chat.completion.chunk", "choices": [choice], **other}
        assert word_in(json.dumps(chunk).encode()) is None
    for name, values in _FIELDS.items():
        for value in values[1:] if name not in ("content", "role") else ():
            choice = {"index": 0, "delta": {"content": "word ", name: value}}
            assert (
                word_in(json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode()) is None
            )
