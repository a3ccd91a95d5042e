"""One file, one writer: refused in one sentence when it cannot be used, whole after a kill."""

import asyncio
import sqlite3
import stat
import threading
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


@pytest.mark.parametrize("turns", [1, 2, 3, 5, 8, 13])
async def test_opening_that_is_cancelled_leaves_the_file_to_the_next(
    tmp_path: Path, clock: ManualClock, turns: int
):
    opening = asyncio.create_task(SqliteStore.open(tmp_path / "bot.db", clock))
    for _ in range(turns):
        await asyncio.sleep(0.001)
    opening.cancel()
    (ended,) = await asyncio.gather(opening, return_exceptions=True)
    if isinstance(ended, SqliteStore):
        await ended.aclose()
    await (await SqliteStore.open(tmp_path / "bot.db", clock)).aclose()


async def test_only_its_owner_may_read_what_is_stored(tmp_path: Path, clock: ManualClock):
    folder = tmp_path / "bot"
    store = await SqliteStore.open(folder / "bot.db", clock)
    try:
        assert await store.inbox.claim("event-1")
        kept = [path for path in folder.iterdir() if path.suffix != ".lock"]
        assert {path.name for path in kept} >= {"bot.db", "bot.db-wal"}
        assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
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
    connection.execute("INSERT INTO audit VALUES (1, '', '', '', '')")
    for statement in ("DELETE FROM audit", "UPDATE audit SET body = 'x'"):
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


async def test_a_full_disk_is_said_plainly_and_the_next_write_works(tmp_path: Path):
    file = await SqliteFile.open(tmp_path / "x.db", ["CREATE TABLE t (x BLOB);"])
    pages = await file.write(lambda db: int(db.execute("PRAGMA page_count").fetchone()[0]))
    await file.read(lambda db: None)

    def fill(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO t VALUES (zeroblob(1000000))")

    file._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match="full"):
        await file.write(fill)
    await file.write(lambda db: db.execute("INSERT INTO t VALUES (1)"))
    await file.aclose()


async def test_a_commit_that_fails_leaves_no_transaction_open(tmp_path: Path):
    schema = "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a DEFERRABLE INITIALLY DEFERRED);"
    file = await SqliteFile.open(tmp_path / "x.db", [schema])
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        await file.write(lambda db: db.execute("INSERT INTO b VALUES (7)"))
    await file.write(lambda db: db.execute("INSERT INTO a VALUES (1)"))
    await file.aclose()


async def test_a_write_that_was_submitted_happens_though_its_caller_is_cancelled(tmp_path: Path):
    file = await SqliteFile.open(tmp_path / "x.db", ["CREATE TABLE t (x);"])
    gate = threading.Event()
    first = asyncio.create_task(file.write(lambda db: gate.wait(5)))
    second = asyncio.create_task(file.write(lambda db: db.execute("INSERT INTO t VALUES (1)")))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    gate.set()
    await first
    await file.write(lambda db: None)
    assert await file.read(lambda db: db.execute("SELECT count(*) FROM t").fetchone()[0]) == 1
    await file.aclose()
