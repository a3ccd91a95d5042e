"""Leases and the relay of a process that has its SQLite file to itself; the roles `ports.Leases` and `ports.Relay`."""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncGenerator
from datetime import timedelta

from chatops_bot.ports import Clock
from chatops_bot.stores.sqlite_file import SqliteFile

LEASES_TABLE = """
    CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, until TEXT NOT NULL);
    """
RELEASE = "UPDATE leases SET holder = ''"
"""Run when the file is opened: whoever held a lease is no more. The rows stay, so that fences go on rising."""

_log = logging.getLogger(__name__)


class SqliteLeases:
    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    async def take(self, name: str, holder: str, seconds: float) -> int | None:
        now, until = self._times(seconds)

        def work(db: sqlite3.Connection) -> int | None:
            row = db.execute(
                "SELECT holder, fence, until > ? FROM leases WHERE name = ?", (now, name)
            ).fetchone()
            had, fence, is_held = row or ("", 0, 0)
            if had and is_held and had != holder:
                return None
            fence = fence if had == holder and is_held else fence + 1
            db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", (name, holder, fence, until))
            return int(fence)

        return await self._file.write(work)

    async def renew(self, name: str, holder: str, fence: int, seconds: float) -> bool:
        now, until = self._times(seconds)
        return await self._file.write(
            lambda db: (
                db.execute(
                    "UPDATE leases SET until = ? WHERE name = ? AND holder = ? AND fence = ? AND until > ?",
                    (until, name, holder, fence, now),
                ).rowcount
                == 1
            )
        )

    async def drop(self, name: str, holder: str, fence: int) -> None:
        await self._file.write(
            lambda db: db.execute(
                "UPDATE leases SET holder = '' WHERE name = ? AND holder = ? AND fence = ?",
                (name, holder, fence),
            )
        )

    async def holder(self, name: str) -> str:
        now, _ = self._times(0)
        row = await self._file.read(
            lambda db: db.execute(
                "SELECT holder FROM leases WHERE name = ? AND until > ?", (name, now)
            ).fetchone()
        )
        return row[0] if row else ""

    def _times(self, seconds: float) -> tuple[str, str]:
        now = self._clock.now()
        return now.isoformat(), (now + timedelta(seconds=seconds)).isoformat()


class SqliteRelay:
    """There is nobody but this process."""

    def __init__(self, process: str) -> None:
        self._process = process
        self._bodies: asyncio.Queue[str] = asyncio.Queue()

    async def send(self, process: str, body: str) -> None:
        if process == self._process:
            self._bodies.put_nowait(body)
        else:
            _log.warning("process %s is no more; nothing is sent to it", process)

    async def receive(self) -> AsyncGenerator[str, None]:
        while True:
            yield await self._bodies.get()
