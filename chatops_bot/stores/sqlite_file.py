"""One SQLite file, one writer.

Every write runs on one thread that owns the one writing connection and its transactions; reads run on another thread
with a read-only connection. The loop never waits on the disk itself. Work that was submitted runs to its end even if the
caller is cancelled; the caller then does not learn how it ended. WAL with synchronous=FULL: what was committed survives a
power cut. One process only: the lock file frees itself when the process dies.
"""

import asyncio
import fcntl
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, TypeVar

from chatops_bot.domain.errors import StoreError, StoreTooNew, StoreUnavailable
from chatops_bot.ports import Clock

_T = TypeVar("_T")
Work = Callable[[sqlite3.Connection], _T]

BUSY_MILLISECONDS = 5000


class SqliteFile:
    """Open with `SqliteFile.open`, close with `aclose`."""

    def __init__(
        self, path: Path, writer: sqlite3.Connection, reader: sqlite3.Connection, lock: IO[str]
    ) -> None:
        self._path = path
        self._writer = writer
        self._reader = reader
        self._lock = lock
        self._writing = ThreadPoolExecutor(1, "store-writer")
        self._reading = ThreadPoolExecutor(1, "store-reader")

    @classmethod
    async def open(cls, path: Path, migrations: Sequence[str]) -> "SqliteFile":
        """Open or create the file and bring its schema forward. Raises StoreError in one sentence when it cannot."""
        opening = asyncio.create_task(asyncio.to_thread(cls._open, path, migrations))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            with suppress(StoreError):
                await (await opening).aclose()  # nobody has it
            raise

    @classmethod
    def _open(cls, path: Path, migrations: Sequence[str]) -> "SqliteFile":
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = path.with_suffix(".lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise StoreError(
                f"{path} is in use by another running bot; stop that one or choose another data folder."
            ) from error
        writer = None
        try:
            if not path.exists():
                path.touch(mode=0o600)  # conversations are in it, whoever may look into the folder
            writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            writer.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
            writer.execute("PRAGMA journal_mode = WAL")
            writer.execute("PRAGMA synchronous = FULL")
            writer.execute("PRAGMA foreign_keys = ON")
            _migrate(writer, path, migrations)
            reader = open_read_only(path)
        except (sqlite3.DatabaseError, StoreError) as error:
            if writer is not None:
                writer.close()
            lock.close()
            if isinstance(error, StoreError):
                raise
            raise StoreError(
                f"{path} cannot be opened as a database ({error}); restore it from a backup or move it away."
            ) from error
        return cls(path, writer, reader, lock)

    async def write(self, work: Work[_T]) -> _T:
        """Run `work` in one transaction of its own; committed when this returns, rolled back when it raises.

        Raises StoreError when the file cannot be written, such as on a full disk.
        """
        return await self._submitted(self._writing, _in_transaction, self._writer, work)

    async def read(self, work: Work[_T]) -> _T:
        """Run `work` on the reading connection. Raises StoreError when the file cannot be read."""
        return await self._submitted(self._reading, _run, self._reader, work)

    async def _submitted(
        self,
        thread: ThreadPoolExecutor,
        run: Callable[[sqlite3.Connection, Work[_T]], _T],
        connection: sqlite3.Connection,
        work: Work[_T],
    ) -> _T:
        # Shielded: a cancelled caller must not take back work that stands in the queue.
        submitted = asyncio.get_running_loop().run_in_executor(thread, run, connection, work)
        try:
            return await asyncio.shield(submitted)
        except sqlite3.Error as error:
            raise StoreUnavailable(f"{self._path} cannot be used ({error}); check the disk.") from error

    async def aclose(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writing.shutdown()
        self._reading.shutdown()
        self._reader.close()
        self._writer.close()
        self._lock.close()


def open_read_only(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, for readers beside the running bot. Raises sqlite3.OperationalError if there is no file."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
    connection.execute("PRAGMA query_only = ON")
    return connection


def _in_transaction(connection: sqlite3.Connection, work: Work[_T]) -> _T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = _run(connection, work)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors, a full disk among them, have rolled back already
            connection.execute("ROLLBACK")
        raise
    return result


def _run(connection: sqlite3.Connection, work: Work[_T]) -> _T:
    result = work(connection)
    if isinstance(result, sqlite3.Cursor):
        # Freed by another thread, a cursor would reset its statement while this one is running it again.
        result.close()
    return result


def _migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[str]) -> None:
    """Each migration is one script; the file's user_version counts those that have run."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(migrations):
        raise StoreTooNew(
            f"{path} has schema {version}, but this version knows only {len(migrations)}; start the newer version again."
        )
    for number, script in enumerate(migrations[version:], version + 1):
        connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")


def lateness(clock: Clock, now: datetime, expires_at: datetime) -> Callable[[], bool]:
    """Whether `expires_at` has come, asked inside a transaction: by then the caller's `now` is older by as long as it waited."""
    asked = clock.monotonic()
    return lambda: now + timedelta(seconds=clock.monotonic() - asked) >= expires_at


def never() -> bool:
    """The lateness of a move that may come at any time."""
    return False


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """For readers beside a running bot: what cannot be read raises StoreError, which says what to name instead."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path} is not a bot's store ({error}); name the data folder of the bot with --data."
        ) from error
