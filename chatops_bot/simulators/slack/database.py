"""One SQLite file, one connection, one thread.

Every piece of work is a function of the connection, run whole in one transaction on the database thread. Work is
therefore serial, a message and the events it raises are stored together or not at all, and the event loop never
waits on the disk. WAL with synchronous=NORMAL survives a killed process, which is all that a simulator promises.
"""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from chatops_bot.simulators.slack.errors import WorkspaceUnusable

T = TypeVar("T")

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS messages (
    channel TEXT NOT NULL, ts TEXT NOT NULL, thread_ts TEXT, author TEXT NOT NULL,
    ephemeral_to TEXT, in_channel INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (channel, ts)
);
CREATE INDEX IF NOT EXISTS messages_by_thread ON messages (channel, thread_ts, ts);
CREATE TABLE IF NOT EXISTS versions (
    id INTEGER PRIMARY KEY, channel TEXT NOT NULL, ts TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS versions_by_message ON versions (channel, ts, id);
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, payload TEXT NOT NULL, attempt INTEGER NOT NULL, due_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS views (
    id TEXT PRIMARY KEY, user TEXT NOT NULL, root TEXT NOT NULL, depth INTEGER NOT NULL, body TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS response_urls (
    token TEXT PRIMARY KEY, channel TEXT NOT NULL, ts TEXT NOT NULL, thread_ts TEXT, user TEXT NOT NULL,
    uses INTEGER NOT NULL, expires_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS reads (user TEXT NOT NULL, channel TEXT NOT NULL, ts TEXT NOT NULL, PRIMARY KEY (user, channel));
CREATE TABLE IF NOT EXISTS follows (
    user TEXT NOT NULL, channel TEXT NOT NULL, thread_ts TEXT NOT NULL, PRIMARY KEY (user, channel, thread_ts)
);
CREATE TABLE IF NOT EXISTS calls (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
"""


class Database:
    """Owns the data folder while open: a lock file keeps a second live process out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="workspace-sqlite")
        self._connection: sqlite3.Connection | None = None
        self._lock: int | None = None

    async def open(self) -> None:
        """Lock the folder and open the file in it; raises WorkspaceUnusable in one sentence."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._open)
        except WorkspaceUnusable:
            await self.close()
            raise

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one transaction: committed when it returns, rolled back when it raises."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _open(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(
                self._folder / "workspace.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise WorkspaceUnusable(
                f"The folder {self._folder} cannot be written ({error.strerror}); choose another --data folder."
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise WorkspaceUnusable(
                f"Another workspace already runs on {self._folder}; stop it or choose another --data folder."
            ) from error
        path = self._folder / "workspace.sqlite3"
        try:
            self._connection = self._connect(path)
        except sqlite3.DatabaseError as error:
            raise WorkspaceUnusable(
                f"{path} is not a usable workspace file ({error}); move it away."
            ) from error

    @staticmethod
    def _connect(path: Path) -> sqlite3.Connection:
        path.touch(mode=0o600)
        connection = sqlite3.connect(path)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise WorkspaceUnusable(
                    f"{path} was written by a newer version (schema {version}, this one knows {SCHEMA_VERSION}); "
                    "use that version or another --data folder."
                )
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(SCHEMA)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        except (sqlite3.DatabaseError, WorkspaceUnusable):
            connection.close()
            raise
        return connection

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            raise WorkspaceUnusable("The workspace is closed.")
        with self._connection:
            result = work(self._connection)
            if isinstance(result, sqlite3.Cursor):
                # Freed by another thread, a cursor would reset its statement while this one is running it again.
                result.close()
            return result

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def read_meta(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def write_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))
