"""The folder that one running service owns.

Ownership is an flock on `scheduler.lock`: the kernel drops it when the process dies, however it dies. Only files named
`scheduler*` are ours; whatever else lies in the folder is left alone.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path
from typing import Self

from chatops_bot.scheduler.errors import StartRefused


class DataFolder:
    """Claimed with `claim`, given back with `release`."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def claim(cls, path: Path) -> Self:
        """Create the folder if needed and lock it. Raises StartRefused."""
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(path / "scheduler.lock", os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise StartRefused(f"the data folder {path} can't be used: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise StartRefused(
                f"another scheduler is running on {path}: stop it or use another data folder"
            ) from error
        return cls(path, lock)

    @property
    def database(self) -> Path:
        return self.path / "scheduler.db"

    def read_private(self, name: str) -> str | None:
        """The text of a private file, or None when there is none."""
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def write_private(self, name: str, text: str) -> None:
        """Replace a file that only the owner may read (mode 0600), all or nothing."""
        target, draft = self.path / name, self.path / f"{name}.new"
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)

    def secret(self, name: str) -> str:
        """A random secret of 256 bits, made once and kept."""
        kept = self.read_private(name)
        if kept:
            return kept.strip()
        fresh = secrets.token_urlsafe(32)
        self.write_private(name, fresh)
        return fresh

    def release(self) -> None:
        os.close(self._lock)
