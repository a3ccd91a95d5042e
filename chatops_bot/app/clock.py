"""The real clock and real ids. Tests bring their own."""

import secrets
import time
from datetime import UTC, datetime

_CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
_CODE_LENGTH = 6


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class RandomIds:
    def new(self, prefix: str) -> str:
        return f"{prefix}_{secrets.token_hex(16)}"

    def code(self) -> str:
        return "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))

    def nonce(self) -> str:
        return secrets.token_hex(16)
