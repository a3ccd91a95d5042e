"""Values made harmless before they stand in a prompt: no value adds a line, opens a section or moves the boundary.

Names are checked, not cleaned; schemas whose meaning lies in characters that may not stand there are refused.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from chatops_bot.domain.regex import regex

INLINE_CHARS = 300
"""Longest inline value (a tool's scenario, a name); longer ones end in an ellipsis."""
SCHEMA_CHARS = 1_500
"""Longest schema of one tool in the text."""
KEY_CHARS = 80
"""Longest name of a property."""
MAX_LINES = 60
"""Lines of one block that are kept."""

NAME = regex(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
TITLES = ("AGENT IDENTITY", "CAPABILITIES", "AVAILABLE TOOLS", "SKILLS", "CONSTRAINTS", "CONTEXT")

_BREAKS = "\r\n\t\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_BREAK = regex(f"[{_BREAKS}]")
_LINE = regex(r"\r\n|[\r\n\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029]")
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Cn", "Co"})
_OPENING = "[［【〔〖〘⟦〚❲⦋⦍⦏⦗⁅︗︹︻﹇﹝"
_CLOSING = "]］】〕〗〙⟧〛❳⦌⦎⦐⦘⁆︘︺︼﹈﹞"
_ROUND = str.maketrans(dict.fromkeys(_OPENING, "(") | dict.fromkeys(_CLOSING, ")"))
_COMMENT = regex(r"<!-+|(?<!-)-++!?>")
_PLAIN = regex(r"[ -)+-;=?-Z^-~]*")
"""Printable ASCII without brackets, backslash and what comment marks are made of: nothing to do but the spaces."""
_MEANT_LITERALLY = frozenset({"enum", "const", "pattern"})
_OF_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords of a schema whose values are named by its author: a property may be called `pattern`."""
MAX_DEPTH = 32
MAX_VALUES = 5_000
"""Of a schema; deeper and larger ones are made to break whoever reads them."""


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
    """A schema as one line of JSON, its prose made inline. Raises NotSpellable for a key, enum, const or pattern that inline would
    change, and for a schema that is longer than `limit`."""
    line = json.dumps(_leaves(schema), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if len(line) > limit:
        raise NotSpellable(f"the schema is longer than {limit} characters")
    return line


def json_problem(value: Any) -> str:
    """Why `value` is no JSON that can be hashed and sent, in words; empty when it is."""
    level, values = [value], 0
    for _ in range(MAX_DEPTH):
        values += len(level)
        level = [each for outer in level for each in _inside(outer)]
        if values + len(level) > MAX_VALUES:
            return f"has more than {MAX_VALUES} values"
    if level:
        return f"is nested more than {MAX_DEPTH} levels deep"
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        return f"is no JSON: {error}"
    return ""


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _leaves(value: Any, *, literal: bool = False, names: bool = False) -> Any:
    """`names`: the keys of `value` are names that the schema's author chose, not keywords."""
    if isinstance(value, str):
        safe = inline(value)
        if literal and safe != value:
            raise NotSpellable(f"{value[:40]!r} cannot stand in a prompt as it is")
        return safe
    if isinstance(value, Mapping):
        return {
            _key(str(key)): _leaves(
                each,
                literal=literal or (key in _MEANT_LITERALLY and not names),
                names=key in _OF_NAMES and not names,
            )
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_leaves(each, literal=literal) for each in value]
    return value


def _key(key: str) -> str:
    """A key is what a call must say, so it stands as it is or not at all."""
    if inline(key, KEY_CHARS) != key:
        raise NotSpellable(f"the name {key[:40]!r} cannot stand in a prompt as it is")
    return key
