"""The audit in SQLite: a chain in one table, which only grows.

`append` runs on an open connection, inside whatever transaction its caller has: it reads the head and writes the row after
it, so a change and its audit row are stored together or not at all.

Rows of versions before the chain cannot be proved to be what they were. They are sealed when the file is first opened by
this version, behind a record that says how many they are; from then on nobody changes them unseen.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import GENESIS, ChainKey, Head, Sealed, link
from chatops_bot.domain.audit_check import Row, Unreadable
from chatops_bot.domain.errors import AuditGone, StoreError
from chatops_bot.stores.sqlite_file import SqliteFile, open_read_only, readable

AUDIT_CHAIN_TABLE = """
    ALTER TABLE audit RENAME TO audit_before_the_chain;
    DROP TRIGGER audit_is_append_only_u;
    DROP TRIGGER audit_is_append_only_d;
    CREATE TABLE audit (
        seq INTEGER PRIMARY KEY, key_id TEXT NOT NULL, prev TEXT NOT NULL, mac TEXT NOT NULL, body TEXT NOT NULL
    );
    CREATE TRIGGER audit_is_append_only_u BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
    CREATE TRIGGER audit_is_append_only_d BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
    """

_OLD_COLUMNS = ", ".join(field.name for field in fields(AuditRecord))


def append(db: sqlite3.Connection, key: ChainKey, record: AuditRecord) -> Sealed:
    """Seal `record` behind the head and store it, in the transaction that is open on `db`."""
    sealed = link(key, _head(db), record)
    db.execute(
        "INSERT INTO audit (seq, key_id, prev, mac, body) VALUES (?, ?, ?, ?, ?)",
        (sealed.seq, sealed.key_id, sealed.prev, sealed.mac, sealed.body),
    )
    return sealed


def seal_old_rows(db: sqlite3.Connection, key: ChainKey, now: datetime) -> None:
    """Bring the rows of versions before the chain into it, once."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'audit_before_the_chain'").fetchone():
        return
    count = db.execute("SELECT count(*) FROM audit_before_the_chain").fetchone()[0]
    if count:
        append(db, key, _imported(now, count))
        rows = db.execute(f"SELECT {_OLD_COLUMNS} FROM audit_before_the_chain ORDER BY seq")  # noqa: S608  # our own names
        for at, *rest in rows:
            append(db, key, AuditRecord(datetime.fromisoformat(at), *rest))
    db.execute("DROP TABLE audit_before_the_chain")


def _imported(now: datetime, count: int) -> AuditRecord:
    return AuditRecord(
        at=now, person_id="", person_name="", role="", session="", turn_id="", tool="", arguments="", decision="imported",
        status="sealed", result=f"the next {count} records were written before the audit was a chain", result_sha256="",
    )  # fmt: skip


class SqliteAudit:
    def __init__(self, file: SqliteFile, key: ChainKey) -> None:
        self._file = file
        self._key = key

    async def record(self, record: AuditRecord) -> None:
        await self._file.write(lambda db: append(db, self._key, record))

    async def head(self) -> Head:
        return await self._file.read(_head)

    async def page(self, after: int, size: int) -> list[Row]:
        return await self._file.read(lambda db: _page(db, after, size))


class SqliteAuditReader:
    """The audit of a file, for a command beside the running bot, in a process that does nothing else meanwhile."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["SqliteAuditReader"]:
        """Raises StoreError when there is no readable store of a bot, AuditGone when it has no audit."""
        with readable(path), closing(open_read_only(path)) as db:
            db.text_factory = _any_text
            if db.execute("PRAGMA user_version").fetchone()[0] and not _has_chain(db):
                if not db.execute("PRAGMA table_info(audit)").fetchall():
                    raise AuditGone(
                        f"{path} has no table of an audit: somebody took it out, or it is not a bot's store."
                    )
                raise StoreError(
                    f"{path} was written by an older version; start the bot once, which seals its audit."
                )
            yield cls(db, path)

    async def head(self) -> Head:
        with readable(self._path):
            return _head(self._db)

    async def page(self, after: int, size: int) -> list[Row]:
        with readable(self._path):
            return _page(self._db, after, size)


def _any_text(text: bytes) -> str:
    """Bytes that are no text are kept, so that the row they stand in can be named, and no other is lost over it."""
    return text.decode(errors="surrogateescape")


def _has_chain(db: sqlite3.Connection) -> bool:
    return any(column[1] == "mac" for column in db.execute("PRAGMA table_info(audit)"))


def _head(db: sqlite3.Connection) -> Head:
    row = db.execute("SELECT seq, mac FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(*row) if row else GENESIS


def _page(db: sqlite3.Connection, after: int, size: int) -> list[Row]:
    rows = db.execute(
        "SELECT seq, key_id, prev, mac, body FROM audit WHERE seq > ? ORDER BY seq LIMIT ?", (after, size)
    )
    return [_row(*row) for row in rows]


def _row(seq: int, key_id: object, prev: object, mac: object, body: object) -> Row:
    if isinstance(key_id, str) and isinstance(prev, str) and isinstance(mac, str) and isinstance(body, str):
        return Sealed(seq, key_id, prev, mac, body)
    return Unreadable(seq, "a field of it is no text")
