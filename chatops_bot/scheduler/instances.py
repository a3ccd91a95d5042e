"""Stored runs. A run changes state in one place, `move`, and only along the table in `states`."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from chatops_bot.scheduler.errors import NotFound
from chatops_bot.scheduler.records import Instance
from chatops_bot.scheduler.states import RunStatus, sources

_NEW = (
    "INSERT OR IGNORE INTO instances (task_id, schedule_instance_id, trigger, scheduled_for, retry_of, trigger_at,"
    " worker_id, status, retry_count, error_code, error_message, analysis_json, next_retry_at, trace_id,"
    " created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, '', '', '', ?, '', ?, ?)"
)


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to store. `trigger` says why it exists: cron, manual, dependency, retry or manual_retry."""

    task_id: int
    trigger: str
    status: RunStatus = RunStatus.PENDING
    scheduled_for: int | None = None
    retry_of: int | None = None
    retry_count: int = 0
    next_retry_at: int | None = None


def add(conn: sqlite3.Connection, new: NewRun, now: int) -> Instance | None:
    """Store a run. None when this task already has one for that scheduled time: nothing fires twice."""
    # Two runs of one task in one microsecond get neighbouring stamps.
    stamp = now * 1_000 + conn.execute("SELECT coalesce(max(id), 0) % 1000 FROM instances").fetchone()[0]
    kind = f"retry-{new.retry_count}-" if new.retry_of is not None else ""
    cursor = conn.execute(
        _NEW,
        (
            new.task_id,
            f"task-{new.task_id}-{kind}{stamp}",
            new.trigger,
            new.scheduled_for,
            new.retry_of,
            now,
            new.status.value,
            new.retry_count,
            new.next_retry_at,
            now,
            now,
        ),
    )
    return get(conn, int(cursor.lastrowid or 0)) if cursor.rowcount else None


def get(conn: sqlite3.Connection, instance_id: int) -> Instance:
    """One run by its number. Raises NotFound."""
    row = conn.execute("SELECT * FROM instances WHERE id = ?", (instance_id,)).fetchone()
    if row is None:
        raise NotFound(f"task instance {instance_id} not found")
    return Instance.of(row)


def by_schedule_id(conn: sqlite3.Connection, schedule_instance_id: str) -> Instance:
    """One run by the name that workers know it by. Raises NotFound."""
    row = conn.execute(
        "SELECT * FROM instances WHERE schedule_instance_id = ?", (schedule_instance_id,)
    ).fetchone()
    if row is None:
        raise NotFound(f"task instance {schedule_instance_id} not found")
    return Instance.of(row)


def page(
    conn: sqlite3.Connection, *, status: str | None, task_id: int | None, limit: int, offset: int
) -> tuple[list[Instance], int]:
    """Runs newest first, and how many match in all."""
    conditions = {"status": status, "task_id": task_id}
    given = {name: value for name, value in conditions.items() if value is not None}
    where = " WHERE " + " AND ".join(f"{name} = :{name}" for name in given) if given else ""
    # The conditions are ours, only values come from outside.
    (total,) = conn.execute(f"SELECT count(*) FROM instances{where}", given).fetchone()  # noqa: S608
    rows = conn.execute(
        f"SELECT * FROM instances{where} ORDER BY id DESC LIMIT :limit OFFSET :offset",  # noqa: S608
        given | {"limit": limit, "offset": offset},
    )
    return [Instance.of(row) for row in rows], int(total)


def with_status(conn: sqlite3.Connection, *statuses: RunStatus) -> list[Instance]:
    """Runs in any of these states, oldest first."""
    marks = ", ".join("?" for _ in statuses)
    rows = conn.execute(
        f"SELECT * FROM instances WHERE status IN ({marks}) ORDER BY id",  # noqa: S608  # only question marks
        [status.value for status in statuses],
    )
    return [Instance.of(row) for row in rows]


def ready_to_dispatch(conn: sqlite3.Connection, now: int, limit: int) -> list[Instance]:
    """Waiting runs whose time has come, oldest first."""
    rows = conn.execute(
        "SELECT * FROM instances WHERE status = 'pending' OR (status = 'retry_waiting' AND next_retry_at <= ?)"
        " ORDER BY id LIMIT ?",
        (now, limit),
    )
    return [Instance.of(row) for row in rows]


def next_attempt_of(conn: sqlite3.Connection, instance_id: int) -> Instance | None:
    """The newest run that was made to repeat this one."""
    row = conn.execute(
        "SELECT * FROM instances WHERE retry_of = ? ORDER BY id DESC LIMIT 1", (instance_id,)
    ).fetchone()
    return None if row is None else Instance.of(row)


def move(conn: sqlite3.Connection, instance_id: int, target: RunStatus, now: int, **columns: Any) -> bool:
    """Compare-and-set one run into `target`, setting `columns` with it. False when the table has no such edge."""
    changed = columns | {"status": target.value, "updated_at": now}
    assignments = ", ".join(f"{name} = :{name}" for name in changed)
    allowed = ", ".join(f"'{status.value}'" for status in sorted(sources(target)))
    cursor = conn.execute(
        # Column names and states are ours, only values come from outside.
        f"UPDATE instances SET {assignments} WHERE id = :id AND status IN ({allowed})",  # noqa: S608
        changed | {"id": instance_id},
    )
    return cursor.rowcount == 1


def store_log(
    conn: sqlite3.Connection, instance_id: int, content: str, total_bytes: int, truncated: bool
) -> None:
    """Keep what a run printed; a later report of the same run replaces it."""
    conn.execute(
        "INSERT OR REPLACE INTO run_logs VALUES (?, ?, ?, ?)",
        (instance_id, content, total_bytes, int(truncated)),
    )


def read_log(conn: sqlite3.Connection, instance_id: int) -> tuple[str, int, bool]:
    """(content, bytes printed, middle lost) of a run; empty when nothing was stored yet."""
    row = conn.execute(
        "SELECT content, total_bytes, truncated FROM run_logs WHERE instance_id = ?", (instance_id,)
    ).fetchone()
    return ("", 0, False) if row is None else (row[0], row[1], bool(row[2]))
