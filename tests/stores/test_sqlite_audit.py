"""The chain in the database: sealed with a key that it does not hold, in the transaction of what it tells of."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.domain.audit_check import Broken, Verified, verify
from chatops_bot.domain.errors import StoreError
from chatops_bot.stores.sqlite import MIGRATIONS, SqliteStore
from chatops_bot.stores.sqlite_audit import AUDIT_CHAIN_TABLE, append
from chatops_bot.stores.sqlite_file import SqliteFile
from tests.audit_rows import read_audit, read_rows

KEY = ChainKey.of(b"k" * 32)


def a_record(clock: ManualClock, number: int) -> AuditRecord:
    return AuditRecord(
        clock.now(),
        "U1",
        "林浩然",
        "viewer",
        "s",
        "turn_1",
        "list_tasks",
        f'{{"n":{number}}}',
        "auto",
        "ok",
        "{}",
        "ab",
        "",
        1,
    )


async def written(path: Path, clock: ManualClock, *numbers: int) -> None:
    store = await SqliteStore.open(path, clock, KEY)
    for number in numbers:
        await store.audit.record(a_record(clock, number))
    await store.aclose()


@contextmanager
def the_database(path: Path) -> Iterator[sqlite3.Connection]:
    """As somebody who can write to it and has taken the triggers away."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TRIGGER IF EXISTS audit_is_append_only_u")
        db.execute("DROP TRIGGER IF EXISTS audit_is_append_only_d")
        yield db
        db.commit()


async def test_the_chain_goes_on_after_a_restart(tmp_path: Path, clock: ManualClock):
    path = tmp_path / "bot.db"
    await written(path, clock, 1, 2)
    await written(path, clock, 3)
    found = verify([KEY], read_rows(path))
    assert isinstance(found, Verified)
    assert found.count == 3
    assert [record.arguments for _, record in read_audit(path)] == ['{"n":1}', '{"n":2}', '{"n":3}']


async def test_the_head_is_that_of_the_last_row(tmp_path: Path, clock: ManualClock):
    store = await SqliteStore.open(tmp_path / "bot.db", clock, KEY)
    try:
        assert (await store.audit.head()).seq == 0
        await store.audit.record(a_record(clock, 1))
        found = verify([KEY], read_rows(tmp_path / "bot.db"))
        assert isinstance(found, Verified)
        assert await store.audit.head() == found.head
    finally:
        await store.aclose()


async def test_the_key_stands_nowhere_in_the_database(tmp_path: Path, clock: ManualClock):
    await written(tmp_path / "bot.db", clock, 1)
    whole = (tmp_path / "bot.db").read_bytes()
    assert KEY.secret not in whole
    assert KEY.secret.hex().encode() not in whole


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("UPDATE audit SET body = replace(body, 'list_tasks', 'list_taskz') WHERE seq = 2", (2, "changed")),
        ("DELETE FROM audit WHERE seq = 2", (2, "missing")),
        ("DELETE FROM audit WHERE seq = 1; UPDATE audit SET seq = seq - 1", (1, "missing")),
        (
            "UPDATE audit SET seq = -seq WHERE seq IN (2, 3); UPDATE audit SET seq = 5 + seq WHERE seq < 0",
            (2, "reordered"),
        ),
        ("UPDATE audit SET body = x'00ff' WHERE seq = 3", (3, "unreadable")),
        ("DELETE FROM audit WHERE seq > 2", (3, "cut")),
        ("DELETE FROM audit", (1, "cut")),
        ("INSERT INTO audit SELECT 5, key_id, prev, mac, body FROM audit WHERE seq = 4", (5, "duplicated")),
    ],
)
async def test_what_somebody_changes_in_the_database_is_named(
    tmp_path: Path, clock: ManualClock, change: str, expected: tuple[int, str]
):
    path = tmp_path / "bot.db"
    await written(path, clock, 1, 2, 3, 4)
    whole = verify([KEY], read_rows(path))
    assert isinstance(whole, Verified)
    with the_database(path) as db:
        db.executescript(change)
    found = verify([KEY], read_rows(path), [whole.head])
    assert isinstance(found, Broken)
    assert (found.seq, found.wrong) == expected


async def test_a_row_is_stored_with_what_it_tells_of_or_not_at_all(tmp_path: Path, clock: ManualClock):
    file = await SqliteFile.open(tmp_path / "x.db", ["CREATE TABLE t (x);" + AUDIT_AS_NEW])

    def fails(db: sqlite3.Connection) -> None:
        append(db, KEY, a_record(clock, 1))
        db.execute("INSERT INTO nowhere VALUES (1)")

    try:
        with pytest.raises(StoreError, match="nowhere"):
            await file.write(fails)
        assert (await file.write(lambda db: append(db, KEY, a_record(clock, 2)))).seq == 1
    finally:
        await file.aclose()
    assert [record.arguments for _, record in read_audit(tmp_path / "x.db")] == ['{"n":2}']


AUDIT_AS_NEW = MIGRATIONS[0] + AUDIT_CHAIN_TABLE


async def test_rows_of_before_the_chain_are_sealed_once_behind_a_record_that_counts_them(
    tmp_path: Path, clock: ManualClock
):
    path = tmp_path / "bot.db"
    before = MIGRATIONS[: MIGRATIONS.index(AUDIT_CHAIN_TABLE)]
    old = await SqliteFile.open(path, before)
    rows = [
        (clock.now().isoformat(), *[getattr(record, name) for name in record.__slots__[1:]])
        for record in (a_record(clock, 1), a_record(clock, 2))
    ]
    marks = ", ".join("?" * len(rows[0]))
    await old.write(lambda db: db.executemany(f"INSERT INTO audit VALUES (NULL, {marks})", rows))
    await old.aclose()
    await written(path, clock, 3)
    found = verify([KEY], read_rows(path))
    assert isinstance(found, Verified)
    records = [record for _, record in read_audit(path)]
    assert (records[0].decision, records[0].at) == ("imported", clock.now())
    assert "next 2 records" in records[0].result
    assert records[1:] == [a_record(clock, number) for number in (1, 2, 3)]


async def test_an_empty_audit_of_before_the_chain_leaves_no_row(tmp_path: Path, clock: ManualClock):
    await written(tmp_path / "bot.db", clock)
    assert list(read_rows(tmp_path / "bot.db")) == []
