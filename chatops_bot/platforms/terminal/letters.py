"""Characters on a terminal: what may reach it, how wide it is, where a line may break.

A terminal obeys what it prints, so text from anywhere is made harmless before it gets a look of its own: no escape
sequence, no control character but the line end, no bidirectional mark survives, each is shown as `⟨U+001B⟩` instead.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from chatops_bot.rendering.escapes import shown

BOLD, DIM, RED, GREEN, YELLOW, CYAN = (f"\x1b[{code}m" for code in (1, 2, 31, 32, 33, 36))
_RESET = "\x1b[0m"
TAB_WIDTH = 4

_RETURNS = re.compile(r"\r+\n")
_TOKENS = re.compile(r" +|[^ ]+")


@dataclass(frozen=True, slots=True)
class Look:
    """`width` in columns, None for no wrapping; `has_colour` allows styles, which are ours alone.

    `where` are the options by which a command that is shown reaches the same bot; empty for the one that it finds itself.
    """

    width: int | None = None
    has_colour: bool = False
    where: str = ""

    def paint(self, text: str, *styles: str) -> str:
        return f"{''.join(styles)}{text}{_RESET}" if self.has_colour and styles and text else text

    def narrower(self, by: int) -> "Look":
        return self if self.width is None else replace(self, width=max(10, self.width - by))


def harmless(text: str) -> str:
    """`text` with nothing in it that a terminal would obey; line ends stay, tabs become spaces. Idempotent."""
    return shown(_RETURNS.sub("\n", text).expandtabs(TAB_WIDTH))


def columns(text: str) -> int:
    """Columns that `text` takes, never fewer than a terminal uses for it."""
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if character < "\u0300":
        return 1
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if is_wide(character) else 1


def is_wide(character: str) -> bool:
    """Characters of two columns, between which a line may break anywhere, as in Chinese."""
    return character >= "\u1100" and unicodedata.east_asian_width(character) in "WF"


def wrapped(line: str, width: int | None, hang: int = 0) -> Iterator[str]:
    """One line in lines of at most `width` columns, later ones indented by `hang`; a longer word stays whole.

    Greedy, so that what a longer text begins with stays where it is.
    """
    if width is None or columns(line) <= width:
        yield line
        return
    current, used, gap = "", 0, ""
    for token in _pieces(line):
        if token.isspace():
            gap = token
            continue
        size = columns(token)
        is_first = not current.strip()
        if not is_first and used + len(gap) + size > width:
            yield current
            current, used, gap = " " * hang, hang, ""
        current, used, gap = current + gap + token, used + len(gap) + size, ""
    yield current


def _pieces(line: str) -> Iterator[str]:
    for token in _TOKENS.findall(line):
        word = ""
        for character in token:
            if not is_wide(character):
                word += character
                continue
            if word:
                yield word
                word = ""
            yield character
        if word:
            yield word
