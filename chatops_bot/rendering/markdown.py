"""The little of Markdown's structure that sanitising, healing and splitting have to agree on: fences and code spans.

A line scanner, not a parser: it is exact for fences at the margin, good enough for fences in quotes and list items, and
it may call an indented block text. No token's safety rests on it, since tokens are defused inside code as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPENER = re.compile(
    r"(?P<prefix>[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<marker>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)"
)
_LANGUAGE = re.compile(r"[^\s`]{1,12}(?!\S)")
_LONGEST_FENCE = 16
"""A fence that needs more than that before its language is read as text: no small message could afford to repeat it."""

CODE_SPAN = r"(?P<ticks>`++)(?:[^`\n]++|(?!(?P=ticks)(?!`))`++)*+(?P=ticks)(?!`)"
"""Pattern of a whole code span: a run of backticks up to the next run of the same length in the same line.

Markdown lets a span go on in the next line unless another block begins there, which takes a parser to say; here what is
only perhaps code is prose.
"""


@dataclass(frozen=True, slots=True)
class Fence:
    """An open fence. `prefix` is the quote mark or indentation that its lines carry, `language` its first info word."""

    prefix: str
    marker: str
    language: str

    @property
    def opening(self) -> str:
        return f"{self.prefix}{self.marker}{self.language}\n"

    @property
    def closing(self) -> str:
        return f"{self.prefix}{self.marker}"

    def is_closed_by(self, line: str) -> bool:
        run = line.strip(" \t\r>")
        return len(run) >= len(self.marker) and run == self.marker[0] * len(run)

    def holds(self, line: str) -> bool:
        """False when the quote that the fence stands in has ended."""
        return ">" not in self.prefix or line.lstrip().startswith(">")


def after_line(fence: Fence | None, line: str) -> Fence | None:
    """The fence that is open after `line` (without its line end), given the one that was open before it."""
    if fence is not None and fence.holds(line):
        return None if fence.is_closed_by(line) else fence
    opener = _OPENER.fullmatch(line.rstrip("\r"))
    if opener is None or opener.end("marker") > _LONGEST_FENCE:
        return None
    prefix = opener["prefix"]
    language = _LANGUAGE.match(opener["info"].strip())
    return Fence(
        prefix=prefix if not prefix.strip(" \t>") else "",
        marker=opener["marker"],
        language=language.group() if language else "",
    )


def open_fence(text: str) -> Fence | None:
    """The fence that is still open at the end of `text`."""
    fence = None
    for line in text.split("\n"):
        fence = after_line(fence, line)
    return fence


def regions(text: str) -> Iterator[tuple[bool, str]]:
    """`text` in order as (is fenced code, whole lines with their ends); joined they give `text` back."""
    fence: Fence | None = None
    gathered: list[str] = []
    gathered_is_code = False
    for line in lines_of(text):
        before, fence = fence, after_line(fence, line.removesuffix("\n"))
        is_code = fence is not None or (before is not None and before.holds(line))
        if gathered and is_code is not gathered_is_code:
            yield gathered_is_code, "".join(gathered)
            gathered = []
        gathered.append(line)
        gathered_is_code = is_code
    if gathered:
        yield gathered_is_code, "".join(gathered)


def lines_of(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends a line, whatever Unicode says."""
    *whole, rest = text.split("\n")
    return [line + "\n" for line in whole] + ([rest] if rest else [])
