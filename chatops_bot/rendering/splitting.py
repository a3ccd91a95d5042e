"""A long Markdown text, cut into messages.

Pieces are filled greedily. A piece ends after a paragraph where one ends in its second half, else after a line, else
at a space, else between two characters. Where a cut falls inside a fence, the piece closes it and the next one reopens
it with the same language; a table that goes on repeats its header. These repairs are kept apart from the body, and the
bodies joined are exactly the text. What is open at a cut is what is open in the piece as it is shown: where a line had
to be cut, both halves are lines.

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
_TABLE_RULE = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t\r]*+")
_HALF_ENTITY = re.compile(r"&(?:#?\w{0,31})\Z")
_HALF_LINK = re.compile(r"\[[^\[\]\n]{0,300}\Z|\]\([^()\s]{0,2000}\Z")
_ENTITY_REACH = 34
_FENCE_BEGINS = "`~>"


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
    """What is open between two lines: a fence, or a table with its header (and its rule, once that has come).

    `lead` is the quote mark that the rest of a cut line needs to stay in its fence.
    """

    fence: Fence | None = None
    header: str = ""
    has_rule: bool = False
    lead: str = ""

    def after(self, line: str) -> "_Structure":
        bare = self.lead + line.removesuffix("\n")
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
        cut = _best_cut(text[start : start + limit - len(opening) + 1], structure)
        end = start + cut.at
        found.append(Piece(text[start:end], opening, cut.closing))
        start, structure = end, cut.structure
        opening = _opening(structure, text[start : start + 1], limit)
    found.append(Piece(text[start:], opening))
    return found


def _best_cut(window: str, structure: _Structure) -> _Cut:
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
        closing = structure.fence.closing if structure.fence else ""
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
    return _cut_inside(window, latest, line_end)


def _is_sound(before: _Structure, after: _Structure, line: str) -> bool:
    """False right behind the opening line of a fence, and behind a table's header while its rule may still follow."""
    if after.fence is not None:
        return before.fence is not None
    return not after.header or (after.has_rule and before.has_rule)


def _cut_inside(window: str, before: _Cut, line_end: _Cut | None) -> _Cut:
    """A cut within the line that begins at `before`, or ahead of that line when it must stay whole."""
    text, structure = window[before.at :], before.structure
    if structure.fence is None and before.at and (_TABLE_ROW.match(text) or _opens_fence(text)):
        return line_end or before
    last = len(window) - 1
    line_over = window.find("\n", before.at, last)
    hard = None
    for at in range(last if line_over < 0 else line_over, before.at, -1):
        if hard and at * 2 < last:
            break
        is_soft = window[at - 1] in " \t"
        if (hard and not is_soft) or window[at] in _FENCE_BEGINS or not may_cut(window, at):
            continue
        if _HALF_ENTITY.search(window, max(before.at, at - _ENTITY_REACH), at):
            continue
        cut = _cut_at(window, at, before)
        if at + len(cut.closing) > last:
            continue
        hard = hard or cut
        if is_soft and (structure.fence or not _is_inside_inline(window[before.at : at])):
            return cut
    if line_end is not None and line_end.at * 4 >= last:
        return line_end
    return hard or (before if before.at else _anywhere(window, before))


def _anywhere(window: str, before: _Cut) -> _Cut:
    """Where nothing allows a cut: the longest share that fits with its closing."""
    last = len(window) - 1
    cuts = (_cut_at(window, at, before) for at in range(last, 0, -1))
    return next(cut for cut in cuts if cut.at + len(cut.closing) <= last)


def _cut_at(window: str, at: int, before: _Cut) -> _Cut:
    """The cut at `at` within the line that begins at `before`, which makes a line of each half."""
    fence = before.structure.after(window[before.at : at]).fence
    if fence is None:
        return _Cut(at, _Structure())
    lead = fence.prefix if ">" in fence.prefix else ""
    return _Cut(at, _Structure(fence, lead=lead), f"\n{fence.closing}")


def _is_inside_inline(line: str) -> bool:
    """True when a code span, bold text or a link seems to be open at the end of `line`."""
    return line.count("`") % 2 == 1 or line.count("**") % 2 == 1 or _HALF_LINK.search(line) is not None


def _opens_fence(text: str) -> bool:
    return after_line(None, text.partition("\n")[0]) is not None


def _opening(structure: _Structure, follows: str, limit: int) -> str:
    """What the next piece must begin with; no header of a table that would take more than a quarter of it."""
    if structure.fence is not None:
        return structure.fence.opening + structure.lead
    if structure.has_rule and follows == "|" and len(structure.header) * 4 <= limit:
        return structure.header
    return ""


def _whole_lines(window: str) -> Iterator[str]:
    start = 0
    while (end := window.find("\n", start)) >= 0:
        yield window[start : end + 1]
        start = end + 1
