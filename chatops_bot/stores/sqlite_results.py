"""Long results of tools in the store's SQLite file; the role `ports.Results`."""

import sqlite3

from chatops_bot.domain.session import SessionKey
from chatops_bot.ports import Clock
from chatops_bot.stores.sqlite_file import SqliteFile

RESULTS_TABLE = """
CREATE TABLE results (
    session TEXT NOT NULL, handle TEXT NOT NULL, content TEXT NOT NULL, until REAL NOT NULL, PRIMARY KEY (session, handle)
);
CREATE INDEX results_until ON results (until);
"""


class SqliteResults:
    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    async def put(self, session: SessionKey, handle: str, content: str, seconds: float) -> None:
        now = self._clock.now().timestamp()
        row = (str(session), handle, content, now + seconds)

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM results WHERE until <= ?", (now,))
            db.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", row)

        await self._file.write(work)

    async def get(self, session: SessionKey, handle: str) -> str | None:
        row = await self._file.read(
            lambda db: db.execute(
                "SELECT content, until FROM results WHERE session = ? AND handle = ?", (str(session), handle)
            ).fetchone()
        )
        return None if row is None or row[1] <= self._clock.now().timestamp() else str(row[0])
