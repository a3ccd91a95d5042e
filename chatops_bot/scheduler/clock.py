"""Time as whole microseconds since 1970 in UTC, and the two clocks that hand it out.

Integers sort in SQLite, compare exactly and lose nothing. The wire speaks RFC 3339; an unset time is Go's zero time.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

SECOND = 1_000_000
ZERO_TIME = "0001-01-01T00:00:00Z"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# A sleeping laptop or a stepped wall clock is noticed after this long at most.
_LONGEST_WAIT_SECONDS = 5.0


class Clock(Protocol):
    """Where the service gets its time from."""

    def now(self) -> int:
        """The current time in microseconds since the epoch."""

    async def wait_until(self, when: int | None, wake: asyncio.Event) -> None:
        """Return at `when`, when `wake` is set, or earlier; the caller looks again. None waits for `wake`."""


class SystemClock:
    """The wall clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000

    async def wait_until(self, when: int | None, wake: asyncio.Event) -> None:
        seconds = _LONGEST_WAIT_SECONDS if when is None else (when - self.now()) / SECOND
        # Not wait_for: in Python 3.11 it swallows a cancellation that comes together with the event.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS)):
                await wake.wait()


class ManualClock:
    """A clock that stands still until `advance`; the shipped fake."""

    def __init__(self, now: int) -> None:
        self._now = now
        self._moved = asyncio.Event()

    def now(self) -> int:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the time forward and wake everyone who waits for it."""
        self._now += round(seconds * SECOND)
        self._moved.set()
        self._moved = asyncio.Event()

    async def wait_until(self, when: int | None, wake: asyncio.Event) -> None:
        if when is not None and when <= self._now:
            await asyncio.sleep(0)
            return
        waits = [asyncio.ensure_future(wake.wait()), asyncio.ensure_future(self._moved.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def to_datetime(micros: int) -> datetime:
    """The aware UTC datetime of a microsecond count."""
    return _EPOCH + timedelta(microseconds=micros)


def from_datetime(moment: datetime) -> int:
    """The microsecond count of an aware datetime; a naive one counts as UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def to_wire(micros: int | None) -> str:
    """RFC 3339 in UTC; None becomes Go's zero time."""
    if micros is None:
        return ZERO_TIME
    return to_datetime(micros).isoformat().replace("+00:00", "Z")


def from_wire(text: str | None) -> int | None:
    """The count behind an RFC 3339 text; empty and zero times are None. Raises ValueError on anything else."""
    if not text:
        return None
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return None if moment.year <= 1 else from_datetime(moment)
