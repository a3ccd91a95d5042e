"""One file, one writer: refused in one sentence when it cannot be used, whole after a kill."""

import sqlite3
from pathlib import Path

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import StoreError, StoreTooNew
from chatops_bot.domain.session import SessionKey
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.stores.sqlite_file import SqliteFile


async def test_a_second_process_is_refused(tmp_path: Path, clock: ManualClock):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    try:
        with pytest.raises(StoreError, match="in use by another running bot"):
            await SqliteStore.open(tmp_path / "bot.db", clock)
    finally:
        await store.aclose()


async def test_a_file_of_a_newer_version_is_refused(tmp_path: Path, clock: ManualClock):
    with sqlite3.connect(tmp_path / "bot.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreTooNew, match="start the newer version"):
        await SqliteStore.open(tmp_path / "bot.db", clock)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path, clock: ManualClock):
    (tmp_path / "bot.db").write_text("this is not a database, whatever its name says" * 50)
    with pytest.raises(StoreError, match="cannot be opened as a database"):
        await SqliteStore.open(tmp_path / "bot.db", clock)


async def test_what_was_written_is_there_after_a_restart(tmp_path: Path, clock: ManualClock):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    assert await store.inbox.claim("event-1")
    await store.aclose()
    again = await SqliteStore.open(tmp_path / "bot.db", clock)
    assert not await again.inbox.claim("event-1")
    assert await again.transcripts.load(SessionKey("slack", "T", "C", "1")) == []
    await again.aclose()


async def test_the_audit_can_only_grow(tmp_path: Path, clock: ManualClock):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    await store.aclose()
    connection = sqlite3.connect(tmp_path / "bot.db")
    connection.execute(
        "INSERT INTO audit VALUES (1, '', '', '', '', '', '', '', '', '', '', '', '', '', 0)",
    )
    for statement in ("DELETE FROM audit", "UPDATE audit SET tool = 'x'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


async def test_no_cursor_outlives_its_write_on_another_thread(tmp_path: Path):
    """One that is freed elsewhere resets its statement, which the writer may be running again by then."""
    file = await SqliteFile.open(tmp_path / "bot.db", ["CREATE TABLE numbers (number INTEGER);"])
    try:
        for insert in (
            lambda db: db.execute("INSERT INTO numbers VALUES (1) RETURNING number"),
            lambda db: db.executemany("INSERT INTO numbers VALUES (?)", [(2,), (3,)]),
        ):
            cursor = await file.write(insert)
            with pytest.raises(sqlite3.ProgrammingError, match="closed cursor"):
                cursor.fetchone()
    finally:
        await file.aclose()
