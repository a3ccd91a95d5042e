"""What a process brings: its clock and its ids."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, always with a zone (UTC)."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """A fresh id, unguessable (128 random bits), such as `turn_4f…`."""

    def code(self) -> str:
        """A short code that a person can read aloud and type: 6 letters and digits, none that look alike."""

    def nonce(self) -> str:
        """32 hex digits for one fence."""
