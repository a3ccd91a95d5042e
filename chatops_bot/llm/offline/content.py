"""The data inside messages: fenced JSON as values, whatever it turns out to be."""

import json
from collections.abc import Mapping
from typing import Any

from chatops_bot.context.fence import unfence
from chatops_bot.domain.tool import ToolCall

Content = Mapping[str, Any]
UNREADABLE = "unreadable"
"""The error of a result that is no JSON object."""


def content_of(fenced: str) -> Content:
    """The JSON object inside a fence, or without one; an error instead of it when there is none. Never fails."""
    try:
        inside = unfence(fenced)
    except ValueError:
        inside = fenced
    try:
        value = json.loads(inside)
    except (ValueError, RecursionError):
        return {"error": UNREADABLE}
    return value if isinstance(value, dict) else {"error": UNREADABLE}


def arguments_of(call: ToolCall) -> Content:
    """The arguments of a call, empty when they are no JSON object."""
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def rows_of(content: Content, key: str) -> list[Content]:
    """The rows of a result's list; empty when it has none, rows of another shape left out."""
    rows = content.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def id_of(value: object) -> int | None:
    """`value` when it is an id, which `True` is not."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
