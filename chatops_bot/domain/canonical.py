"""The one spelling of a JSON value, for whatever is hashed, compared or kept as text; and how text that may be an object is read."""

import json
from collections.abc import Mapping
from typing import Any

_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def canonical_json(value: object) -> str:
    """One spelling per value: sorted keys, no spaces, text unescaped. Equal values give equal text whatever the key order."""
    return _CANONICAL(value)


def object_of(text: str) -> Mapping[str, Any]:
    """The JSON object that `text` is; an empty one if it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
