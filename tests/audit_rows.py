"""The audit of a store's file, for tests that look at it from outside."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_check import Row, Unreadable
from chatops_bot.stores.sqlite_audit import _page
from chatops_bot.stores.sqlite_file import open_read_only


def read_rows(path: Path) -> list[Row]:
    """Every row, oldest first."""
    with closing(open_read_only(path)) as db:
        return _page(db, 0, -1)


def read_audit(path: Path) -> Iterator[tuple[int, AuditRecord]]:
    """Every record with its number, oldest first."""
    for row in read_rows(path):
        assert not isinstance(row, Unreadable), row
        yield row.seq, row.record


def close_audit(path: Path) -> None:
    """From now on no row can be added."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
