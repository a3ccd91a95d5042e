"""What a model is told of a failed call, people do not read: their tool line says in a few words what is the matter."""

import re
from typing import get_args

import pytest

from chatops_bot.app.bundled import load_phrases
from chatops_bot.domain.errors import Sentence
from chatops_bot.domain.language import Language
from tests.tools.conftest import Bench

LANGUAGES: tuple[Language, ...] = get_args(Language)
TO_A_MODEL = re.compile(
    r"\b(?:you|your|call|again|choose|send|handle|valid names)\b|请|重新|handle", re.IGNORECASE
)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("swich", "{}", "unknown_tool"),
        ("look", '{"name": ', "not_json"),
        ("look", '"' + "x" * 70_000 + '"', "too_long"),
    ],
)
async def test_the_line_for_people_is_not_the_sentence_for_the_model(
    bench: Bench, tool: str, arguments: str, told: Sentence, language: str
):
    result = (await bench.call(tool, arguments)).result
    begins = getattr(load_phrases()["en"].calls, told).partition("{")[0]
    assert result.content["error"].startswith(begins)
    said = result.summary.zh if language == "zh" else result.summary.en
    assert said
    assert not TO_A_MODEL.search(said)


@pytest.mark.parametrize("sentence", get_args(Sentence))
def test_every_sentence_that_an_error_asks_for_has_the_same_blanks_in_both_languages(sentence: str):
    zh, en = (
        sorted(re.findall(r"\{\w+\}", getattr(load_phrases()[language].calls, sentence)))
        for language in LANGUAGES
    )
    assert zh == en
