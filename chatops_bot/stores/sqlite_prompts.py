"""Kept prompts in the store's SQLite file; the role `ports.Prompts`, and a reader for commands beside a running bot."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.kept_prompt import KeptPrompt, PromptRef, verified
from chatops_bot.ports import Clock
from chatops_bot.stores.codec import prompt_from, prompt_text
from chatops_bot.stores.sqlite_file import SqliteFile, open_read_only, readable

PROMPTS_TABLES = """
CREATE TABLE prompt_prefixes (hash TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE prompts (
    hash TEXT NOT NULL, agent_id TEXT NOT NULL, prefix_hash TEXT NOT NULL, body TEXT NOT NULL, until REAL NOT NULL,
    PRIMARY KEY (hash, agent_id)
);
CREATE INDEX prompts_overdue ON prompts (until);
CREATE INDEX prompts_by_prefix ON prompts (prefix_hash);
"""


class SqlitePrompts:
    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    async def put(self, prompt: KeptPrompt, seconds: float) -> None:
        until = self._clock.now().timestamp() + seconds
        row = (prompt.prompt_hash, prompt.agent_id, prompt.prefix_hash, prompt_text(prompt), until)

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT OR IGNORE INTO prompt_prefixes VALUES (?, ?)", (prompt.prefix_hash, prompt.prefix)
            )
            db.execute("INSERT OR REPLACE INTO prompts VALUES (?, ?, ?, ?, ?)", row)

        await self._file.write(work)

    async def get(self, agent_id: str, prompt_hash: str) -> KeptPrompt | None:
        now = self._clock.now().timestamp()
        return await self._file.read(lambda db: _get(db, agent_id, prompt_hash, now))

    async def find(self, beginning: str) -> list[PromptRef]:
        now = self._clock.now().timestamp()
        return await self._file.read(lambda db: _find(db, beginning, now))

    async def drop_overdue(self) -> None:
        now = self._clock.now().timestamp()

        def work(db: sqlite3.Connection) -> None:
            if db.execute("DELETE FROM prompts WHERE until <= ?", (now,)).rowcount:
                db.execute("DELETE FROM prompt_prefixes WHERE hash NOT IN (SELECT prefix_hash FROM prompts)")

        await self._file.write(work)


class SqlitePromptReader:
    """Open with `SqlitePromptReader.open`."""

    def __init__(self, db: sqlite3.Connection, path: Path, clock: Clock) -> None:
        self._db = db
        self._path = path
        self._clock = clock

    @classmethod
    @contextmanager
    def open(cls, path: Path, clock: Clock) -> Iterator["SqlitePromptReader"]:
        """Raises StoreError when there is no such file, or it has no prompts yet."""
        if not path.exists():
            raise StoreError(f"There is no store at {path}; name the data folder of the bot with --data.")
        with readable(path):
            db = open_read_only(path)
        try:
            with readable(path):
                if not db.execute("PRAGMA table_info(prompts)").fetchall():
                    raise StoreError(
                        f"{path} was written by an older version, which kept no prompts; start the bot once."
                    )
            yield cls(db, path, clock)
        finally:
            db.close()

    async def get(self, agent_id: str, prompt_hash: str) -> KeptPrompt | None:
        with readable(self._path):
            return _get(self._db, agent_id, prompt_hash, self._clock.now().timestamp())

    async def find(self, beginning: str) -> list[PromptRef]:
        with readable(self._path):
            return _find(self._db, beginning, self._clock.now().timestamp())


def _get(db: sqlite3.Connection, agent_id: str, prompt_hash: str, now: float) -> KeptPrompt | None:
    row = db.execute(
        "SELECT body, text FROM prompts JOIN prompt_prefixes ON prompt_prefixes.hash = prefix_hash "
        "WHERE prompts.hash = ? AND agent_id = ? AND until > ?",
        (prompt_hash, agent_id, now),
    ).fetchone()
    return None if row is None else verified(prompt_from(row[0], row[1], prompt_hash))


def _find(db: sqlite3.Connection, beginning: str, now: float) -> list[PromptRef]:
    rows = db.execute(
        "SELECT agent_id, hash FROM prompts WHERE hash >= ? AND hash < ? AND until > ? ORDER BY hash, agent_id",
        (beginning, beginning + "g", now),  # no hex digit comes after f
    )
    return [PromptRef(agent_id, prompt_hash) for agent_id, prompt_hash in rows]
