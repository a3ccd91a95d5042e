"""The workspace's time: the machine's, or further on when a test says so."""

import time


class Clock:
    """What expires or refills is measured by this; `advance` lets time pass in no time."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def advance(self, seconds: float) -> None:
        self._ahead += seconds

    def time(self) -> float:
        """Seconds since the epoch."""
        return time.time() + self._ahead

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic() + self._ahead
