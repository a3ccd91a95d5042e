"""Leases in the SQLite file. A row stays when its lease is over, so that the next fence is higher."""

import sqlite3

from chatops_bot.ports import Clock
from chatops_bot.stores.sqlite_file import SqliteFile

LEASES_TABLE = """
CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, until REAL NOT NULL);
"""
RELEASE = "UPDATE leases SET holder = '', until = 0"
"""Run when the file is opened: whoever held a lease is no more."""


class SqliteLeases:
    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    async def take(self, name: str, holder: str, seconds: float) -> int | None:
        now = self._clock.now().timestamp()

        def work(db: sqlite3.Connection) -> int | None:
            row = db.execute("SELECT holder, fence, until FROM leases WHERE name = ?", (name,)).fetchone()
            held_by, last, until = row if row is not None else ("", 0, 0.0)
            is_held = bool(held_by) and until > now
            if is_held and held_by != holder:
                return None
            fence = last if is_held else last + 1
            db.execute(
                "INSERT OR REPLACE INTO leases (name, holder, fence, until) VALUES (?, ?, ?, ?)",
                (name, holder, fence, now + seconds),
            )
            return int(fence)

        return await self._file.write(work)

    async def renew(self, name: str, holder: str, seconds: float) -> bool:
        now = self._clock.now().timestamp()
        row = (now + seconds, name, holder, now)
        return await self._file.write(
            lambda db: (
                db.execute(
                    "UPDATE leases SET until = ? WHERE name = ? AND holder = ? AND until > ?", row
                ).rowcount
                == 1
            )
        )

    async def drop(self, name: str, holder: str) -> None:
        await self._file.write(
            lambda db: db.execute(
                "UPDATE leases SET holder = '', until = 0 WHERE name = ? AND holder = ?", (name, holder)
            )
        )

    async def holder(self, name: str) -> str | None:
        now = self._clock.now().timestamp()
        row = await self._file.read(
            lambda db: db.execute(
                "SELECT holder FROM leases WHERE name = ? AND holder != '' AND until > ?", (name, now)
            ).fetchone()
        )
        return None if row is None else str(row[0])
