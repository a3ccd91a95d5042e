"""The audit as a chain: each record is sealed with a key that the database does not hold.

A seal is an HMAC-SHA256 over the record's number, the seal before it, the id of the key, and the record's canonical
bytes. So whoever can write to the database, but does not hold the key, can take records away from the end and nothing
else without its being seen; what is missing at the end is seen by the anchors, which are heads that were noted down in a
second place. A bare hash chain would only catch accidents, since anybody can compute it anew.

The body of a row, the canonical text, is the record: nothing else of it is stored, so nothing else can disagree with it.
`audit_check` verifies a chain.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

from chatops_bot.domain.audit import AuditRecord

VERSION = 1
"""Of the canonical bytes. A record with another version is written and read by another program."""


@dataclass(frozen=True, slots=True)
class ChainKey:
    """A key that seals, with the id that its rows carry. `repr` shows nothing of the secret."""

    id: str
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, secret: bytes) -> "ChainKey":
        """The key with its id: the first 8 bytes, in hex, of a hash that gives nothing of the secret away."""
        return cls(hashlib.sha256(b"chatops-bot audit key id\0" + secret).hexdigest()[:16], secret)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: the number of its last record, and that record's seal in hex."""

    seq: int
    mac: str


GENESIS = Head(0, "0" * 64)
"""The head of a chain without a record."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A row of the chain: `prev` is the seal of the row before, `body` the canonical text of the record."""

    seq: int
    key_id: str
    prev: str
    mac: str
    body: str

    @property
    def head(self) -> Head:
        return Head(self.seq, self.mac)

    @property
    def record(self) -> AuditRecord:
        """Raises ValueError when the body is no record of this version."""
        return record_from(self.body)


def link(key: ChainKey, head: Head, record: AuditRecord) -> Sealed:
    """The record, sealed as the one after `head`."""
    body = canonical_text(record)
    seq = head.seq + 1
    return Sealed(seq, key.id, head.mac, seal(key, seq, head.mac, body), body)


def seal(key: ChainKey, seq: int, prev: str, body: str) -> str:
    """The seal, in hex, of `body` as record `seq` after the seal `prev`."""
    # Neither a seal nor a canonical text holds a line end, so no two rows give the same bytes.
    message = f"chatops-bot audit\n{seq}\n{key.id}\n{prev}\n{body}".encode(errors="surrogatepass")
    return hmac.digest(key.secret, message, "sha256").hex()


_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
).encode


def canonical_text(record: AuditRecord) -> str:
    """Every field of the record as JSON: ASCII only, sorted keys, no spaces. One record has one such text."""
    return _CANONICAL({**asdict(record), "at": record.at.isoformat(), "v": VERSION})


_FIELDS = {one.name: int if one.type is int else str for one in fields(AuditRecord)}


def record_from(body: str) -> AuditRecord:
    """The record of a canonical text. Raises ValueError when it is none of this version."""
    try:
        value = json.loads(body)
    except RecursionError as error:
        raise ValueError("the body is nested too deep") from error
    if not isinstance(value, Mapping) or value.get("v") != VERSION:
        raise ValueError(f"the body is no record of version {VERSION}")
    given: dict[str, Any] = {name: item for name, item in value.items() if name != "v"}
    if given.keys() != _FIELDS.keys() or any(type(given[name]) is not kind for name, kind in _FIELDS.items()):
        raise ValueError("the body has not the fields of a record")
    return AuditRecord(**{**given, "at": datetime.fromisoformat(given["at"])})
