"""How turns ended under each text of an agent, in the store's SQLite file; the role `ports.Arms`."""

import sqlite3
from collections.abc import Sequence

from chatops_bot.stores.sqlite_file import SqliteFile

ARMS_TABLE = """
CREATE TABLE arms (
    agent_id TEXT NOT NULL, text TEXT NOT NULL, ends TEXT NOT NULL DEFAULT '', paused INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (agent_id, text)
);
"""
"""`ends` has a character a turn, oldest first: x for one that failed."""


class SqliteArms:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    async def ended(self, agent_id: str, text: str, most: int, *, failed: bool) -> None:
        end = "x" if failed else "."
        await self._file.write(
            lambda db: db.execute(
                "INSERT INTO arms (agent_id, text, ends) VALUES (?, ?, ?) "
                "ON CONFLICT (agent_id, text) DO UPDATE SET ends = substr(ends || excluded.ends, ?)",
                (agent_id, text, end, -most),
            )
        )

    async def turns(self, agent_id: str, text: str) -> Sequence[bool]:
        row = await self._file.read(
            lambda db: db.execute(
                "SELECT ends FROM arms WHERE agent_id = ? AND text = ?", (agent_id, text)
            ).fetchone()
        )
        return [] if row is None else [end == "x" for end in row[0]]

    async def pause(self, agent_id: str, text: str) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            db.execute("INSERT OR IGNORE INTO arms (agent_id, text) VALUES (?, ?)", (agent_id, text))
            paused = "UPDATE arms SET paused = 1 WHERE agent_id = ? AND text = ? AND paused = 0"
            return db.execute(paused, (agent_id, text)).rowcount == 1

        return await self._file.write(work)

    async def paused(self) -> frozenset[tuple[str, str]]:
        return await self._file.read(
            lambda db: frozenset(db.execute("SELECT agent_id, text FROM arms WHERE paused").fetchall())
        )

    async def forget(self) -> None:
        await self._file.write(lambda db: db.execute("DELETE FROM arms"))
