"""Sealed values in the store's SQLite file; the role `ports.SecretValues`."""

import sqlite3
from collections.abc import Sequence

from chatops_bot.domain.errors import StoreError
from chatops_bot.ports import Clock
from chatops_bot.stores.sqlite_file import SqliteFile

SEALED_VALUES_TABLE = """
CREATE TABLE sealed_values (ref TEXT PRIMARY KEY, sealed TEXT NOT NULL, until REAL NOT NULL);
"""


class SqliteSecretValues:
    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    async def put(self, ref: str, sealed: str, seconds: float) -> None:
        row = (ref, sealed, self._clock.now().timestamp() + seconds)

        def work(db: sqlite3.Connection) -> bool:
            return db.execute("INSERT OR IGNORE INTO sealed_values VALUES (?, ?, ?)", row).rowcount == 1

        if not await self._file.write(work):
            raise StoreError("A sealed value of that reference is stored already; its reference must be new.")

    async def get(self, ref: str) -> str | None:
        row = await self._file.read(
            lambda db: db.execute("SELECT sealed, until FROM sealed_values WHERE ref = ?", (ref,)).fetchone()
        )
        return None if row is None or row[1] <= self._clock.now().timestamp() else str(row[0])

    async def drop(self, refs: Sequence[str]) -> None:
        rows = [(ref,) for ref in refs]
        await self._file.write(lambda db: db.executemany("DELETE FROM sealed_values WHERE ref = ?", rows))

    async def drop_overdue(self) -> None:
        now = self._clock.now().timestamp()
        await self._file.write(lambda db: db.execute("DELETE FROM sealed_values WHERE until <= ?", (now,)))
