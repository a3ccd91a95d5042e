"""The two languages that people here write, and texts that exist in both.

A reply follows the language of the person who asked, so every fixed text is a `Phrase`: one thought, said twice.
"""

import re
from dataclasses import dataclass
from typing import Literal

Language = Literal["zh", "en"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


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


def language_of(text: str, default: Language = "en") -> Language:
    """The language to answer `text` in: Chinese when it holds any Han character, else English.

    Task names, ids and error texts are Latin in both languages, so a single Han character decides; a text without
    letters (an attachment, an emoji) keeps `default`.
    """
    if _HAN.search(text):
        return "zh"
    return "en" if any(character.isalpha() for character in text) else default
