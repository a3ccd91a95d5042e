"""The audit in SQLite: a chain in one table, which only grows.

`append` runs on an open connection, inside whatever transaction its caller has: it reads the head and writes the row after
it, so a change and its audit row are stored together or not at all.

Rows of versions before the chain cannot be proved to be what they were. They are sealed when the file is first opened by
this version, behind a record that says how many they are; from then on nobody changes them unseen.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import GENESIS, ChainKey, Head, Sealed, link
from chatops_bot.domain.audit_check import Row, Unreadable
from chatops_bot.stores.sqlite_file import SqliteFile, open_read_only

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

_PAGE = 500
_SELECT_PAGE = "SELECT seq, key_id, prev, mac, body FROM audit WHERE seq > ? ORDER BY seq LIMIT ?"
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


def _head(db: sqlite3.Connection) -> Head:
    row = db.execute("SELECT seq, mac FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(*row) if row else GENESIS


def read_rows(path: Path) -> Iterator[Row]:
    """Every row of the audit, oldest first, read beside a running bot. Raises sqlite3.DatabaseError when it cannot be."""
    after = 0
    with closing(open_read_only(path)) as connection:
        # A page is read to its end before it is handed on: a reader that takes its time holds up no checkpoint.
        while rows := connection.execute(_SELECT_PAGE, (after, _PAGE)).fetchall():
            yield from map(_row, rows)
            after = rows[-1][0]


def _row(row: tuple[int, object, object, object, object]) -> Row:
    seq, key_id, prev, mac, body = row
    if isinstance(key_id, str) and isinstance(prev, str) and isinstance(mac, str) and isinstance(body, str):
        return Sealed(seq, key_id, prev, mac, body)
    return Unreadable(seq, "a field of it is no text")


def read_audit(path: Path) -> Iterator[tuple[int, AuditRecord]]:
    """Every record with its number, oldest first; ValueError at one that cannot be read. Otherwise as `read_rows`."""
    for row in read_rows(path):
        if isinstance(row, Unreadable):
            raise ValueError(f"row {row.seq} of the audit cannot be read: {row.why}")
        yield row.seq, row.record
