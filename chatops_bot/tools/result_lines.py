"""A tool's result as lines that can be numbered and searched: a row of a list is one, and so is a line of a text."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chatops_bot.domain.canonical import canonical_json

LINE_CHARS = 1_000
"""A longer line is told in pieces, each with a number, so that no part of it is out of reach."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a result: its pieces, none longer than `LINE_CHARS`, and what else of it can be searched for, such as the texts
    of a row without the escapes of JSON."""

    pieces: tuple[str, ...]
    texts: tuple[str, ...] = ()

    def has(self, plain: str) -> Iterator[bool]:
        """Of each piece, whether it is to be told to who looks for `plain`: it stands in it or begins in it, or the line as a
        whole says it in other words than the pieces do."""
        found = [
            plain in plainly(piece + behind[: len(plain)])
            for piece, behind in zip(self.pieces, (*self.pieces[1:], ""), strict=True)
        ]
        if not any(found) and any(plain in plainly(text) for text in self.texts):
            return iter([True] * len(found))
        return iter(found)


def plainly(text: str) -> str:
    """As texts are compared: a letter and its accent are one, however they were written, and large letters small."""
    return unicodedata.normalize("NFC", text).casefold()


def as_lines(content: str) -> Iterator[Line]:
    """A result as lines: rows of lists and lines of texts, each under the name of its field, at any depth."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = content
    if isinstance(value, Mapping):
        yield from _fields("", value)
    else:
        yield from _text(value if isinstance(value, str) else content)


def _fields(within: str, value: Mapping[str, Any]) -> Iterator[Line]:
    for key, held in value.items():
        name = f"{within}{key if key.isprintable() else canonical_json(key)}"
        if isinstance(held, list):
            yield from _text(f"{name}: {len(held)} rows")
            for row in held:
                yield from _text(row) if isinstance(row, str) else (_row(canonical_json(row), row),)
        elif isinstance(held, Mapping) and _has_lines(held):
            yield from _fields(f"{name}.", held)
        elif isinstance(held, str) and ("\n" in held or len(held) > LINE_CHARS):
            yield from _text(f"{name}:")
            yield from _text(held)
        else:
            yield _row(f"{name}: {held if isinstance(held, str) else canonical_json(held)}", held)


def _has_lines(value: Any) -> bool:
    """Whether lists or long texts stand in an object."""
    if isinstance(value, Mapping):
        return any(map(_has_lines, value.values()))
    return isinstance(value, list) or (isinstance(value, str) and ("\n" in value or len(value) > LINE_CHARS))


def _text(text: str) -> Iterator[Line]:
    return (Line(_pieces(line)) for line in text.split("\n"))


def _row(shown: str, value: Any) -> Line:
    return Line(_pieces(shown), tuple(_texts(value)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for held in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(held)


def _pieces(line: str) -> tuple[str, ...]:
    return tuple(line[at : at + LINE_CHARS] for at in range(0, max(len(line), 1), LINE_CHARS))
