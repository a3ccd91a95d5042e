"""A long Markdown text, cut into messages.

Pieces are filled greedily. A piece ends after a paragraph where one ends in its second half, else after a line, else
at a space, else between two characters. Where a cut falls inside a fence, the piece closes it and the next one reopens
it with the same language; a table that goes on repeats its header. These repairs are kept apart from the body, and the
bodies joined are exactly the text.

Stability: where a piece ends is decided by the characters that fit into it and the one behind them, and never by what
comes later. So appending to a text leaves every piece but the last as it was; only the last one grows, or is cut.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chatops_bot.rendering.graphemes import may_cut
from chatops_bot.rendering.markdown import Fence, after_line

SMALLEST_LIMIT = 80
"""A message must hold a line of text besides the longest repairs that are worth making."""

_TABLE_ROW = re.compile(r"[ \t]*\|")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r]*")
_HALF_ENTITY = re.compile(r"&(?:#?\w{0,31})\Z")
_HALF_LINK = re.compile(r"\[[^\[\]\n]{0,300}\Z|\]\([^()\s]{0,2000}\Z")
_ENTITY_REACH = 34


@dataclass(frozen=True, slots=True)
class Piece:
    """One message's share: `body` is the text's own, `opening` and `closing` are repairs around it."""

    body: str
    opening: str = ""
    closing: str = ""

    def __str__(self) -> str:
        return self.opening + self.body + self.closing


@dataclass(frozen=True, slots=True)
class _Structure:
    """What is open between two lines: a fence, or a table with its header (and its rule, once that has come)."""

    fence: Fence | None = None
    header: str = ""
    has_rule: bool = False

    def after(self, line: str) -> "_Structure":
        bare = line.removesuffix("\n")
        fence = after_line(self.fence, bare)
        if fence is not None or self.fence is not None or not _TABLE_ROW.match(bare):
            return _Structure(fence)
        if not self.header:
            return _Structure(None, line)
        if not self.has_rule and _TABLE_RULE.fullmatch(bare):
            return _Structure(None, self.header + line, True)
        return self


@dataclass(frozen=True, slots=True)
class _Cut:
    """A place where a piece may end, `at` characters into the rest, with what is open there."""

    at: int
    structure: _Structure
    closing: str = ""


def split(text: str, limit: int) -> list[str]:
    """`text` as pieces of at most `limit` code points each, repairs included; never an empty list.

    Raises ValueError when `limit` is below `SMALLEST_LIMIT`.
    """
    return [str(piece) for piece in pieces(text, limit)]


def pieces(text: str, limit: int) -> list[Piece]:
    """As `split`, with the repairs kept apart: the bodies joined are `text`."""
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"a message limit of {limit} characters is too small; use at least {SMALLEST_LIMIT}")
    found: list[Piece] = []
    start, structure, opening = 0, _Structure(), ""
    while len(text) - start > limit - len(opening):
        cut = _best_cut(text[start : start + limit - len(opening) + 1], structure, limit)
        end = start + cut.at
        found.append(Piece(text[start:end], opening, cut.closing))
        start, structure = end, cut.structure
        opening = _opening(structure, text[start : start + 1], limit)
    found.append(Piece(text[start:], opening))
    return found


def _best_cut(window: str, structure: _Structure, limit: int) -> _Cut:
    """The best end of a piece within `window`, whose last character is only there to look at.

    A paragraph's end or a line's end in the second half is taken at once; otherwise the line that doesn't fit is cut.
    """
    room = len(window) - 1
    paragraph = line_end = None
    latest = _Cut(0, structure)
    end = 0
    for line in _whole_lines(window):
        before, structure = structure, structure.after(line)
        end += len(line)
        closing = _closing(structure, limit, line_is_over=True)
        if end > room:
            break
        if end + len(closing) > room:
            continue  # the end of the fence may still fit, as nothing has to be closed behind it
        latest = _Cut(end, structure, closing)
        if _is_sound(before, structure, line):
            line_end = latest
            if structure.fence is None and not line.strip():
                paragraph = latest
    for cut in (paragraph, line_end):
        if cut is not None and cut.at * 2 >= room:
            return cut
    return _cut_inside(window, latest, line_end, limit)


def _is_sound(before: _Structure, after: _Structure, line: str) -> bool:
    """False right behind the opening line of a fence, and behind a table's header while its rule may still follow."""
    if after.fence is not None:
        return before.fence is not None
    return not after.header or (after.has_rule and before.has_rule)


def _cut_inside(window: str, before: _Cut, line_end: _Cut | None, limit: int) -> _Cut:
    """A cut within the line that begins at `before`, or ahead of that line when it must stay whole."""
    text, structure = window[before.at :], before.structure
    if structure.fence is None and before.at and (_TABLE_ROW.match(text) or _opens_fence(text)):
        return line_end or before
    closing = _closing(structure, limit, line_is_over=False)
    last = len(window) - 1 - len(closing)
    hard = 0
    for at in range(last, before.at, -1):
        if not may_cut(window, at) or _HALF_ENTITY.search(window, max(before.at, at - _ENTITY_REACH), at):
            continue
        hard = hard or at
        if at * 2 < last:
            break
        if window[at - 1] in " \t" and (structure.fence or not _is_inside_inline(window[before.at : at])):
            return _Cut(at, structure, closing)
    if line_end is not None and line_end.at * 4 >= last:
        return line_end
    if hard:
        return _Cut(hard, structure, closing)
    return before if before.at else _Cut(last, structure, closing)


def _is_inside_inline(line: str) -> bool:
    """True when a code span, bold text or a link seems to be open at the end of `line`."""
    return line.count("`") % 2 == 1 or line.count("**") % 2 == 1 or _HALF_LINK.search(line) is not None


def _opens_fence(text: str) -> bool:
    return after_line(None, text.partition("\n")[0]) is not None


def _opening(structure: _Structure, follows: str, limit: int) -> str:
    """What the next piece must begin with; nothing when that would take more than a quarter of it."""
    if structure.fence is not None:
        opening = structure.fence.opening
    elif structure.has_rule and follows == "|":
        opening = structure.header
    else:
        return ""
    return opening if len(opening) * 4 <= limit else ""


def _closing(structure: _Structure, limit: int, *, line_is_over: bool) -> str:
    if structure.fence is None or len(structure.fence.opening) * 4 > limit:
        return ""
    return ("" if line_is_over else "\n") + structure.fence.closing


def _whole_lines(window: str) -> Iterator[str]:
    start = 0
    while (end := window.find("\n", start)) >= 0:
        yield window[start : end + 1]
        start = end + 1
