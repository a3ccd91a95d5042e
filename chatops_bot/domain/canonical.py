"""The one spelling of a JSON value, for whatever is hashed, compared or kept as text."""

import json

_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def canonical_json(value: object) -> str:
    """One spelling per value: sorted keys, no spaces, text unescaped. Equal values give equal text whatever the key order."""
    return _CANONICAL(value)
