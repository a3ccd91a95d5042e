"""Values made harmless before they stand in a prompt: no value adds a line, opens a section or moves the boundary.

Names are checked, not cleaned; schemas whose meaning lies in characters that may not stand there are refused.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

INLINE_CHARS = 300
"""Longest inline value (a tool's scenario, a name); longer ones end in an ellipsis."""
SCHEMA_CHARS = 1_500
"""Longest schema of one tool in the text."""
MAX_LINES = 60
"""Lines of one block that are kept."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
TITLES = ("AGENT IDENTITY", "CAPABILITIES", "AVAILABLE TOOLS", "SKILLS", "CONSTRAINTS", "CONTEXT")

_BREAKS = "\r\n\t\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_BREAK = re.compile(f"[{_BREAKS}]")
_LINE = re.compile(r"\r\n|[\r\n\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029]")
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Cn", "Co"})
_OPENING = "[［【〔⟦〚❲⦋⦍⦏⁅︗﹇"
_CLOSING = "]］】〕⟧〛❳⦌⦎⦐⁆︘﹈"
_ROUND = str.maketrans(dict.fromkeys(_OPENING, "(") | dict.fromkeys(_CLOSING, ")"))
_COMMENT = re.compile(r"<!-+|-+!?>|/\*|\*/")
_PLAIN = re.compile(r"[ -Z^-~]*")
"""Printable ASCII without brackets and backslash: nothing to do but the spaces."""
_MEANT_LITERALLY = frozenset({"enum", "const", "pattern"})


class NotSpellable(ValueError):
    """A schema says something in characters that may not stand in a prompt."""


def inline(text: str, limit: int = INLINE_CHARS) -> str:
    """`text` as one harmless line of at most `limit` characters: NFC, no controls, format characters or comment marks, brackets
    rounded.

    Brackets are rounded because section titles are bracketed: outside text must not be able to open a section.
    """
    if _PLAIN.fullmatch(text) is None:
        text = unicodedata.normalize("NFC", text)
        text = _BREAK.sub(" ", text)
        text = "".join(c for c in text if unicodedata.category(c) not in _DROPPED).translate(_ROUND)
        text = unicodedata.normalize("NFC", text)  # what stood apart before may have come together
    while (bare := _COMMENT.sub("", text)) != text:
        text = bare  # what is left may form a mark anew
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def block(text: str, limit: int, lines: int = MAX_LINES) -> str:
    """`text` of several lines as a block that cannot be left: each line inline behind `| `, at most `limit` characters in all."""
    kept: list[str] = []
    left = limit
    for each in _LINE.split(text)[:lines]:
        said = inline(each, max(left, 1))
        if not said:
            continue
        kept.append(f"| {said}")
        left -= len(said) + 1
        if left <= 0:
            break
    return "\n".join(kept)


def schema_line(schema: Mapping[str, Any], limit: int = SCHEMA_CHARS) -> str:
    """A schema as one line of JSON, its prose made inline. Raises NotSpellable for an enum, const or pattern that inline would
    change, and for one that is longer than `limit`."""
    line = json.dumps(_leaves(schema), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if len(line) > limit:
        raise NotSpellable(f"the schema is longer than {limit} characters")
    return line


def _leaves(value: Any, *, literal: bool = False) -> Any:
    if isinstance(value, str):
        safe = inline(value)
        if literal and safe != value:
            raise NotSpellable(f"{value[:40]!r} cannot stand in a prompt as it is")
        return safe
    if isinstance(value, Mapping):
        return {
            inline(str(key), 80): _leaves(each, literal=literal or key in _MEANT_LITERALLY)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_leaves(each, literal=literal) for each in value]
    return value
