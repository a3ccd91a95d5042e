"""A long result made shorter: a result stays valid JSON, a text keeps head and tail, and both say what was cut of them.

With a handle they say, under the name of the tool `read_result`, how the rest is read.
"""

import json
from collections.abc import Mapping
from typing import Any

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.tool import READ_RESULT

HEAD_SHARE = 2 / 3
"""Of what is kept: the head says what a result is, the tail how it ended."""


def ends(text: str, chars: int) -> tuple[str, str]:
    """Head and tail of `text`, together `chars` characters, which are fewer than it has."""
    head = int(chars * HEAD_SHARE)
    return text[:head], text[len(text) - (chars - head) :]


def cut_text(text: str, limit: int, handle: str) -> str:
    """`text` within about `limit` characters: as `cap_content` where it is a JSON object, else head, a line about the cut, tail."""
    if len(text) <= limit:
        return text
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict):
        return canonical_json(cap_content(content, limit, handle))
    head, tail = ends(text, limit)
    left_out = text[len(head) : len(text) - len(tail)]
    cut = {"characters": len(left_out), "lines": left_out.count("\n")}
    return f"{head}\n{canonical_json({'cut': cut, READ_RESULT: {'handle': handle}})}\n{tail}"


def cap_content(content: Mapping[str, Any], limit: int, handle: str | None = None) -> Mapping[str, Any]:
    """`content` within `limit` characters of JSON, still valid JSON: long lists lose their tail, then long strings their middle.

    What was cut is said in `cut`, in numbers, so that the model can tell people, and how to read it under the name of that tool.
    """
    if len(canonical_json(content)) <= limit:
        return content
    smaller = dict(content)
    cuts: list[Mapping[str, Any]] = []
    smaller |= {"cut": cuts} | ({READ_RESULT: {"handle": handle}} if handle else {})
    for key in _longest_first(content):
        rows, kept = smaller[key], []
        room = limit - len(canonical_json({**smaller, key: []})) - 200
        for row in rows:
            room -= len(canonical_json(row)) + 1
            if room < 0:
                break
            kept.append(row)
        if len(kept) < len(rows):
            smaller[key] = kept
            cuts.append({"key": key, "first_rows": len(kept), "of_rows": len(rows)})
    if len(canonical_json(smaller)) > limit:
        share = max(limit // max(len(smaller), 1) // 2, 100)
        for key in content:
            text = smaller[key] if isinstance(smaller[key], str) else canonical_json(smaller[key])
            if len(text) > share:
                head, tail = ends(text, share)
                smaller[key] = f"{head}\n…\n{tail}"
                cuts.append(
                    {"key": key, "first_characters": len(head), "last_characters": len(tail), "of_characters": len(text), "of_lines": text.count("\n") + 1}
                )  # fmt: skip
    return smaller


def is_short_form(text: str, handle: str) -> bool:
    """Whether `text` is what `cap_content` left of the result that `handle` names."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "cut" in content and content.get(READ_RESULT) == {"handle": handle}


def _longest_first(content: Mapping[str, Any]) -> list[str]:
    lists = [key for key, value in content.items() if isinstance(value, list)]
    return sorted(lists, key=lambda key: -len(canonical_json(content[key])))
