"""The two languages that people here write, and texts that exist in both.

A reply follows the language of the person who asked, so every fixed text is a `Phrase`: one thought, said twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from chatops_bot.domain.regex import regex

Language = Literal["zh", "en"]

_LOOKS_NAMED = regex(r"\w[._\d-]+\w|\d")
_HAN = regex(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Phrase:
    """One fixed text in Chinese and in English."""

    zh: str
    en: str

    def said_in(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en

    def filled(self, **values: object) -> "Phrase":
        """The phrase with its `{placeholders}` replaced in both languages."""
        return Phrase(self.zh.format(**values), self.en.format(**values))


def language_of_words(text: str, names: Iterable[str] = ()) -> Language | None:
    """The language of a message's own words, without the `names` of others that stand in it.

    None for a message of one Latin word, or of task names alone (`log-archive`): it reads alike in every language, so the
    conversation's own goes on.
    """
    for name in names:
        text = text.replace(name, " ")
    if _HAN.search(text):
        return "zh"
    words = [word for word in text.split() if any(character.isalpha() for character in word)]
    says_words = len(words) > 1 and not all(map(_LOOKS_NAMED.search, words))
    return "en" if says_words else None


def language_of(text: str, default: Language = "en") -> Language:
    """The language to answer `text` in: Chinese when it holds any Han character, else English.

    Task names, ids and error texts are Latin in both languages, so a single Han character decides; a text without
    letters (an attachment, an emoji) keeps `default`.
    """
    if _HAN.search(text):
        return "zh"
    return "en" if any(character.isalpha() for character in text) else default
