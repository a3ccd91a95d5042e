"""A long action in pages: each letter of it stands on exactly one, in order, and every page says where it is.

Slack's dialogs hold 250 kB, 100 blocks and 3,000 characters a block; a page is far below that, so that one glance at its end is
not the end of a long scroll. Whoever reads page by page to the last has had all of it on the screen.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chatops_bot.domain.language import Language
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.card_action import Action, Part
from chatops_bot.rendering.graphemes import may_cut

PAGE_CHARS = 9_000
PAGE_LINES = 120
PAGE_BOXES = 16
PIECE_CHARS = 3_000
"""As much of one line as is moved to the next page at once."""
LABEL_CHARS = 60
_HALF_AN_ESCAPE = re.compile(r"⟨[^⟩]{0,9}\Z")


@dataclass(frozen=True, slots=True)
class Page:
    """`boxes` are the page's parts, or the pieces of them that fit; `first` to `last` are their lines of `lines` in all."""

    number: int
    count: int
    first: int
    last: int
    lines: int
    boxes: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, or as much of one as a page takes. `is_more`: it goes on from the piece before it."""

    part: int
    label: str
    line: int
    text: str
    is_more: bool


def action_parts(action: Action, language: Language) -> tuple[Part, ...]:
    """All of an action as parts: its fields first, then what is long, then the record."""
    fields = (f"{fact.label}: {fact.value}" for fact in action.fields)
    what = Part(notices.WHAT.said_in(language), "\n".join((action.summary, *fields)))
    record = Part(notices.RECORD.said_in(language), "\n".join(action.record))
    return (what, *action.parts, record)


def pages_of(parts: Iterable[Part], language: Language) -> tuple[Page, ...]:
    """At least one page."""
    groups = list(_grouped(_pieces(parts)))
    total = groups[-1][-1].line
    return tuple(
        Page(
            number, len(groups), group[0].line, group[-1].line, total,
            tuple(_boxes(group, groups[number - 2][-1] if number > 1 else None, language)),
        )
        for number, group in enumerate(groups, 1)
    )  # fmt: skip


def _pieces(parts: Iterable[Part]) -> Iterator[_Piece]:
    line = 0
    for at, part in enumerate(parts):
        # What is too long for a caption is read in the text.
        text = part.text if len(part.label) <= LABEL_CHARS else f"{part.label}\n{part.text}"
        label = part.label if len(part.label) <= LABEL_CHARS else ""
        for whole in text.split("\n"):
            line += 1
            for start, end in cuts(whole, PIECE_CHARS):
                yield _Piece(at, label, line, whole[start:end], start > 0)


def cuts(text: str, most: int) -> Iterator[tuple[int, int]]:
    """Where to cut `text` into pieces of at most `most` characters: never inside an escape, nor inside a visible character."""
    start = 0
    while len(text) - start > most:
        end = start + most
        if half := _HALF_AN_ESCAPE.search(text, start, end):
            end = half.start()
        while end > start + most // 2 and not may_cut(text, end):
            end -= 1
        yield start, end
        start = end
    yield start, len(text)


def _grouped(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """What stands on each page."""
    group: list[_Piece] = []
    chars = boxes = 0
    for piece in pieces:
        is_new_box = not group or group[-1].part != piece.part
        is_full = (
            chars + len(piece.text) > PAGE_CHARS
            or len(group) >= PAGE_LINES
            or boxes + is_new_box > PAGE_BOXES
        )
        if group and is_full:
            yield group
            group, chars, boxes, is_new_box = [], 0, 0, True
        group.append(piece)
        chars += len(piece.text) + 1
        boxes += is_new_box
    yield group


def _boxes(group: list[_Piece], before: _Piece | None, language: Language) -> Iterator[Part]:
    for part in dict.fromkeys(piece.part for piece in group):
        pieces = [piece for piece in group if piece.part == part]
        label = pieces[0].label
        if before is not None and before.part == part:
            label = notices.CONTINUED.filled(label=label).said_in(language)
        yield Part(label, "".join(_joined(pieces)))


def _joined(pieces: list[_Piece]) -> Iterator[str]:
    for at, piece in enumerate(pieces):
        yield piece.text if at == 0 or piece.is_more else f"\n{piece.text}"
