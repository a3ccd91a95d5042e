"""Characters whose halves came in two events."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.model import TextDelta
from chatops_bot.llm.openai_errors import ProviderErrors
from chatops_bot.llm.openai_wire import AnswerParser
from tests.llm.model_server import DONE, chunk, event


def said_by(*texts: str) -> str:
    """What an answer says whose events hold `texts`, each escaped as JavaScript's serialiser does."""
    parser = AnswerParser(ProviderErrors("api.example.com", "m"))
    deltas = []
    for text in texts:
        content = json.dumps(text)
        deltas += parser.feed(
            event({"choices": [{"delta": {"content": "X"}}]}).replace(b'"X"', content.encode())
        )
    deltas += [*parser.feed(chunk("stop") + DONE), *parser.close()]
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def units(text: str) -> str:
    """`text` with each character outside the basic plane as its two surrogates."""
    pairs = (char.encode("utf-16-be") if ord(char) > 0xFFFF else b"" for char in text)
    return "".join(
        "".join(chr(int.from_bytes(pair[at : at + 2])) for at in (0, 2)) if pair else char
        for char, pair in zip(text, pairs, strict=True)
    )


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("half \ud83d", "\ude00 done"), "half \U0001f600 done"),
        (("\ud83d", "\ude00"), "\U0001f600"),
        (("a\ud83d b", "c"), "a\ufffd bc"),
        (("a\ude00b",), "a\ufffdb"),
        (("C:\\ud83d \ude00",), "C:\\ud83d \ufffd"),
        (("\U0001f600 and \ud83d", "\ude00"), "\U0001f600 and \U0001f600"),
    ],
)
def test_a_half_joins_its_other_half_or_is_shown_as_unknown(texts, said):
    assert said_by(*texts) == said


@given(st.text('a\\"ud83\n\U0001f600\u4e2d'), st.data())
def test_a_text_cut_between_any_two_units_is_the_same_text(text: str, data: st.DataObject):
    split = units(text)
    places = sorted(data.draw(st.lists(st.integers(0, len(split)), max_size=6)))
    pieces = [split[start:end] for start, end in zip([0, *places], [*places, len(split)], strict=True)]
    assert said_by(*filter(None, pieces)) == text
