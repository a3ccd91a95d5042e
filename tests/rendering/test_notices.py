"""Fixed sentences exist in both languages, with the same placeholders."""

import re
from string import Formatter

from chatops_bot.domain.language import Phrase
from chatops_bot.rendering import notices


def _phrases() -> list[Phrase]:
    found: list[Phrase] = []
    for value in vars(notices).values():
        if isinstance(value, Phrase):
            found.append(value)
        elif isinstance(value, dict):
            found.extend(item for item in value.values() if isinstance(item, Phrase))
        elif isinstance(value, tuple):
            found.extend(item for item in value if isinstance(item, Phrase))
    return found


def _placeholders(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_every_phrase_is_said_in_both_languages_with_the_same_placeholders():
    for phrase in _phrases():
        assert phrase.zh.strip()
        assert phrase.en.strip()
        assert _placeholders(phrase.zh) == _placeholders(phrase.en)
        assert not re.search(r"[\u4e00-\u9fff]", phrase.en)
