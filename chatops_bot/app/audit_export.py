"""The chain as JSON lines: a row a line, with its seal, so that it can be verified where there is no store."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO

from chatops_bot.domain.audit_chain import Sealed
from chatops_bot.domain.audit_check import Row, Unreadable

MAX_LINE = 1024 * 1024
"""Bytes. A record holds 4 KiB of a result, its arguments and a few names; a longer line is none of ours."""
_TYPES = {"seq": int, "key_id": str, "prev": str, "mac": str, "body": str}


def export_line(row: Row) -> str:
    """ASCII only. A row that cannot be read is exported as that, so that the copy says what the original says."""
    return json.dumps(asdict(row), separators=(",", ":"))


def exported_rows(file: IO[bytes]) -> Iterator[Row]:
    """The rows of an export, in its order. A line that is no row is an `Unreadable`."""
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        yield _row(number, line)


def _row(number: int, line: bytes) -> Row:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return Unreadable(number, "it is no line of JSON")
    if not isinstance(value, dict):
        return Unreadable(number, "it is no JSON object")
    if value.keys() == {"seq", "why"}:
        return Unreadable(number, str(value["why"]))
    if value.keys() != _TYPES.keys() or any(type(value[key]) is not kind for key, kind in _TYPES.items()):
        return Unreadable(number, "it has not the fields of a row")
    return Sealed(**value)
