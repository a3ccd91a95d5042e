"""Verification of the chain: the first record that is not what was sealed, and what is wrong there.

Every seal is computed anew, from the first record on; nothing that is stored is believed. Rows come one by one, in the
order in which they are stored, so a chain of any length needs the memory of one row. After the first bad row the rest is
only looked at to say what happened: whether the record that should stand there comes later, or is gone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from chatops_bot.domain.audit_chain import GENESIS, ChainKey, Head, Sealed, seal

Wrong = Literal[
    "changed", "missing", "reordered", "duplicated", "inserted", "forked", "cut", "not_as_anchored", "wrong_key",
    "old_key", "unreadable",
]  # fmt: skip
"""What is wrong with the first bad record:

- changed: its content or its seal is not what was sealed.
- missing: it is gone, and records that came after it are there.
- reordered: it stands later than it should.
- duplicated: where it should stand, an earlier record stands a second time.
- inserted: something that was never sealed stands before it.
- forked: it was sealed with the key, as the successor of a record that does not stand before it.
- cut: an anchor knows it, or one after it, and the chain ends before.
- not_as_anchored: the chain holds, and an anchor knows another seal for this number.
- wrong_key: it was sealed with a key that was not given.
- old_key: it was sealed with an older key than the record before.
- unreadable: the row cannot be read.
"""

_RENUMBERED = 64
"""How many lost records in a row are recognised as lost, where what came after them was given their numbers."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that is there and cannot be read as one. `why` quotes nothing of it."""

    seq: int
    why: str


Row = Sealed | Unreadable


@dataclass(frozen=True, slots=True)
class Broken:
    """`seq` is the number of the first record that is not as it was sealed; the `seq - 1` before it are good."""

    seq: int
    wrong: Wrong
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """All records are as they were sealed. `anchored` is the newest number that an anchor confirms, 0 for none."""

    head: Head
    anchored: int = 0

    @property
    def count(self) -> int:
        return self.head.seq


def verify(keys: Sequence[ChainKey], rows: Iterable[Row], anchors: Iterable[Head] = ()) -> Verified | Broken:
    """Verify a whole chain. `keys`: the current one first, then older ones, newest first."""
    check = Check(keys, anchors)
    for row in rows:
        check.take(row)
    return check.end()


class Check:
    """A verification that is fed row by row: `take` each, then ask `end`."""

    def __init__(self, keys: Sequence[ChainKey], anchors: Iterable[Head] = ()) -> None:
        self._keys = {key.id: (age, key) for age, key in enumerate(keys)}
        self._anchors: dict[int, set[str]] = {}
        for anchor in anchors:
            self._anchors.setdefault(anchor.seq, set()).add(anchor.mac)
        self._age = len(keys)
        self._head = GENESIS
        self._anchored = 0
        self._bad: Row | None = None
        self._after_bad = 0
        self._found: Broken | None = None

    def take(self, row: Row) -> None:
        if self._found is not None:
            return
        if self._bad is not None:
            self._look_for_the_lost(row)
            return
        found = self._judge(row)
        if found == "later":
            self._bad = row
        elif found is not None:
            self._found = found
        elif isinstance(row, Sealed):
            self._head = row.head
            self._age = self._keys[row.key_id][0]

    def end(self) -> Verified | Broken:
        """What came of it, once all rows were taken."""
        if self._found is None and self._bad is not None:
            self._found = self._without_the_lost(self._bad)
        if self._found is not None:
            return self._found
        beyond = max(self._anchors, default=0)
        if beyond > self._head.seq:
            return Broken(self._head.seq + 1, "cut", f"an anchor knows record {beyond}")
        return Verified(self._head, self._anchored)

    def _judge(self, row: Row) -> Broken | Literal["later"] | None:
        """What is wrong with the next row, if anything; `later` when the rows behind it decide."""
        expected = self._head.seq + 1
        if isinstance(row, Unreadable):
            return Broken(expected, "unreadable", row.why)
        if row.seq != expected or not self._is_sealed(row, row.seq, row.prev):
            return self._judge_misfit(row)
        if row.prev != self._head.mac:
            return Broken(expected, "forked")
        age, _ = self._keys[row.key_id]
        if age > self._age:
            return Broken(expected, "old_key", f"key {row.key_id}")
        if expected in self._anchors:
            if self._anchors[expected] != {row.mac}:
                return Broken(expected, "not_as_anchored")
            self._anchored = expected
        return None

    def _judge_misfit(self, row: Sealed) -> Broken | Literal["later"]:
        """A row that is not the next one, or is not as it was sealed."""
        expected = self._head.seq + 1
        if row.key_id not in self._keys and not self._is_sealed_with_any(row):
            return Broken(expected, "wrong_key", f"key {row.key_id}")
        if row.seq < expected and self._is_sealed(row, row.seq, row.prev):
            is_other = row.seq == self._head.seq and row.mac != self._head.mac
            return (
                Broken(row.seq, "forked") if is_other else Broken(expected, "duplicated", f"record {row.seq}")
            )
        if self._is_sealed(row, self._head.seq, row.prev) and row.mac == self._head.mac:
            return Broken(expected, "duplicated", f"record {self._head.seq}")
        return "later"

    def _look_for_the_lost(self, row: Row) -> None:
        """Behind the bad row: is this the record that should have stood in its place?"""
        self._after_bad += 1
        expected = self._head.seq + 1
        if isinstance(row, Sealed) and self._is_sealed(row, expected, self._head.mac):
            is_next = self._after_bad == 1 and not self._is_later(self._bad)
            self._found = Broken(expected, "inserted" if is_next else "reordered")

    def _without_the_lost(self, bad: Row) -> Broken:
        return Broken(self._head.seq + 1, "missing" if self._is_later(bad) else "changed")

    def _is_later(self, row: Row | None) -> bool:
        """Whether the row holds a true record of a later number, under its own number or under another."""
        if not isinstance(row, Sealed):
            return False
        next_up = self._head.seq + 2
        numbers = {row.seq, *range(next_up, next_up + _RENUMBERED)}
        return any(self._is_sealed(row, seq, row.prev) for seq in numbers)

    def _is_sealed(self, row: Sealed, seq: int, prev: str) -> bool:
        known = self._keys.get(row.key_id)
        return known is not None and seal(known[1], seq, prev, row.body) == row.mac

    def _is_sealed_with_any(self, row: Sealed) -> bool:
        return any(seal(key, row.seq, row.prev, row.body) == row.mac for _, key in self._keys.values())
