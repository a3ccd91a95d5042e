"""How a card leaves something out: never without saying how much.

The mark stands in ⟨brackets⟩, which `escapes` shows as an escape wherever they stand in a value, so no value can forge it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from chatops_bot.domain.language import Language
from chatops_bot.domain.view import Code
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.card_action import Part
from chatops_bot.rendering.card_pages import LABEL_CHARS, cuts


def cut(text: str, most: int, language: Language) -> str:
    """`text` of one line, already escaped; of a longer one than `most`, the beginning and how much that is of how much."""
    if len(text) <= most:
        return text
    _, end = next(cuts(text, most))
    mark = notices.SOME_CHARACTERS.filled(some=f"{end:,}", all=f"{len(text):,}").said_in(language)
    return f"{text[:end]} {mark}"


@dataclass(slots=True)
class Room:
    """What is left of a card for long texts, which share it: `chars` and `lines`. `is_cut`: something was left out."""

    chars: int
    lines: int
    is_cut: bool = False

    def codes(self, part: Part, language: Language) -> Iterator[Code]:
        """A part as far as it fits, under a label that says how far that is; nothing where nothing fits any more."""
        text = part.text
        if self.chars <= 0 or self.lines <= 0:
            self.is_cut = True
            return
        kept = "\n".join(text.split("\n")[: self.lines])
        if len(kept) > self.chars:
            _, end = next(cuts(kept, self.chars))
            kept = kept[:end]
            kept = kept[: kept.rfind("\n")] if "\n" in kept else kept
        self.chars -= len(kept)
        self.lines -= kept.count("\n") + 1
        short = cut(part.label, LABEL_CHARS, language)
        if kept == text:
            yield Code(text, short)
            return
        self.is_cut = True
        phrase, some, all_ = notices.SOME_LINES, kept.count("\n") + 1, text.count("\n") + 1
        if some == all_ or not text.startswith(f"{kept}\n"):
            phrase, some, all_ = notices.SOME_OF_ONE_LINE, len(kept), len(text)
        yield Code(kept, phrase.filled(label=short, some=f"{some:,}", all=f"{all_:,}").said_in(language))
