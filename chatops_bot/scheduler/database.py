"""One writer, a few readers, all off the event loop.

SQLite corrupts nothing and locks nobody out when exactly one connection writes: this writer lives on a thread of its
own and wraps each piece of work in BEGIN IMMEDIATE .. COMMIT. Readers are read-only connections on two more threads;
WAL lets them see the last commit while a write is under way.

Work is a plain function of a connection: it either returns, and everything it did is durable (synchronous=FULL), or
raises, and nothing happened. Cancelling the waiting task never cuts a transaction in half.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from chatops_bot.scheduler.errors import StartRefused
from chatops_bot.scheduler.schema import migrate

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_READERS = 2


class Database:
    """The service's only door to its data file. Make one with `open`, end it with `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="scheduler-writer")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="scheduler-reader")
        self._connection: sqlite3.Connection | None = None
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open or create the file (mode 0600) and migrate it. Raises StartRefused."""
        database = cls(path)
        try:
            await asyncio.get_running_loop().run_in_executor(database._writer, database._connect)
        except BaseException:
            await database.close()
            raise
        return database

    async def write(self, work: Work[T]) -> T:
        """Run `work` in a transaction of its own; its exceptions roll back and come out here."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._transact, work)

    async def read(self, work: Work[T]) -> T:
        """Run `work` on a read-only connection, in one snapshot."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._look, work)

    async def close(self) -> None:
        """Let running work finish, then close every connection."""
        await asyncio.to_thread(self._shut)

    def _connect(self) -> None:
        if not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        self._connection = connection
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            migrate(connection, str(self._path))
        except sqlite3.DatabaseError as error:
            raise StartRefused(
                f"{self._path} can't be used as a data file ({error}): move it away"
            ) from error

    def _transact(self, work: Work[T]) -> T:
        connection = self._connection
        assert connection is not None, "the database is open"  # noqa: S101  # open() is the only way to get here
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return result

    def _look(self, work: Work[T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=ro",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
            self._local.connection = connection
            self._opened.append(connection)
        connection.execute("BEGIN")
        try:
            return work(connection)
        finally:
            connection.execute("COMMIT")

    def _shut(self) -> None:
        self._readers.shutdown(wait=True)
        self._writer.shutdown(wait=True)
        for connection in self._opened:
            connection.close()
        if self._connection is not None:
            self._connection.close()
