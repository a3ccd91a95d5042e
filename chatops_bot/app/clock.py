"""The real clock and real ids. Tests bring their own."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from chatops_bot.domain.proposal import CODE_LENGTH, CODE_LETTERS
from chatops_bot.ports import Ids


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class RandomIds:
    def new(self, prefix: str) -> str:
        return f"{prefix}_{secrets.token_hex(16)}"

    def code(self) -> str:
        return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))

    def nonce(self) -> str:
        return secrets.token_hex(16)


class WatchedIds:
    """`ids`, with nonces from elsewhere."""

    def __init__(self, ids: Ids, nonce: Callable[[], str]) -> None:
        self.new, self.code, self.nonce = ids.new, ids.code, nonce


class ManualClock:
    """A clock that stands still until it is moved, for tests and replays."""

    def __init__(self, at: datetime) -> None:
        self._at = at
        self._seconds = 0.0

    def now(self) -> datetime:
        return self._at

    def monotonic(self) -> float:
        return self._seconds

    def advance(self, by: timedelta) -> None:
        self._at += by
        self._seconds += by.total_seconds()


class CountingIds:
    """Ids that count up, so that a test can name them: `turn_1`, code `AAAAAB`, nonce `00…01`."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self._count}"

    def code(self) -> str:
        self._count += 1
        number, letters = self._count, ""
        for _ in range(CODE_LENGTH):
            number, digit = divmod(number, len(CODE_LETTERS))
            letters = CODE_LETTERS[digit] + letters
        return letters

    def nonce(self) -> str:
        self._count += 1
        return f"{self._count:032x}"
