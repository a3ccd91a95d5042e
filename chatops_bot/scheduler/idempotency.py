"""A repeated write with the same `Idempotency-Key` gets the first answer and changes nothing.

The answer is stored in the transaction of the write itself, so there is no moment at which one exists without the
other. A refused write stores nothing: trying it again is a fresh try.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatops_bot.scheduler.clock import SECOND
from chatops_bot.scheduler.errors import Conflict, Invalid

_KEEP = 7 * 24 * 3_600 * SECOND
_LONGEST_KEY = 255


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that can be stored: status, JSON value (None is an empty body), headers."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Once:
    """Who asks for what: `scope` is account, method and path; `digest` fingerprints the body."""

    key: str
    scope: str
    digest: str

    @classmethod
    def of(cls, key: str, scope: str, body: bytes) -> Once:
        """Raises Invalid for an oversized key."""
        if len(key) > _LONGEST_KEY:
            raise Invalid(f"Idempotency-Key: must be at most {_LONGEST_KEY} characters")
        return cls(key, scope, hashlib.sha256(body).hexdigest())

    def apply(
        self, conn: sqlite3.Connection, now: int, effect: Callable[[sqlite3.Connection], Reply]
    ) -> Reply:
        """The stored answer, or that of `effect`, stored. Raises Conflict when the key came with another body."""
        row = conn.execute(
            "SELECT request_digest, status, headers, body FROM replies WHERE scope = ? AND key = ?",
            (self.scope, self.key),
        ).fetchone()
        if row is not None:
            if row[0] != self.digest:
                raise Conflict("Idempotency-Key: was already used with a different body")
            return Reply(row[1], json.loads(row[3]), json.loads(row[2]) | {"Idempotency-Replayed": "true"})
        reply = effect(conn)
        conn.execute(
            "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                self.scope,
                self.key,
                self.digest,
                reply.status,
                json.dumps(dict(reply.headers)),
                json.dumps(reply.body, ensure_ascii=False),
                now,
            ),
        )
        conn.execute("DELETE FROM replies WHERE created_at < ?", (now - _KEEP,))
        return reply
