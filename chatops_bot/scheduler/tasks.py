"""Stored tasks and their dependencies. Every function runs inside one `Database.write` or `read`."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from typing import Any

from chatops_bot.scheduler import cron
from chatops_bot.scheduler.bodies import TaskStatus, TaskUpsert
from chatops_bot.scheduler.clock import from_wire
from chatops_bot.scheduler.dag import find_cycle
from chatops_bot.scheduler.errors import Conflict, Invalid, NotFound
from chatops_bot.scheduler.records import Task


def all_tasks(conn: sqlite3.Connection) -> list[Task]:
    """Every task, oldest first."""
    return [Task.of(row) for row in conn.execute("SELECT * FROM tasks ORDER BY id")]


def get_task(conn: sqlite3.Connection, task_id: int) -> Task:
    """One task. Raises NotFound."""
    row = conn.execute("SELECT * FROM tasks WHERE id = ?", (task_id,)).fetchone()
    if row is None:
        raise NotFound(f"task {task_id} not found")
    return Task.of(row)


def create_task(conn: sqlite3.Connection, body: TaskUpsert, now: int, zone: str) -> Task:
    """Store a new task; `zone` is the service's default. Raises Invalid, Conflict for a taken name."""
    columns = _columns(body, now, zone) | {"version": 1, "created_at": now, "updated_at": now}
    names = ", ".join(columns)
    marks = ", ".join(f":{name}" for name in columns)
    try:
        # The column names are ours, only values come from outside.
        cursor = conn.execute(f"INSERT INTO tasks ({names}) VALUES ({marks})", columns)  # noqa: S608
    except sqlite3.IntegrityError as error:
        raise _name_taken(body.name) from error
    task_id = int(cursor.lastrowid or 0)
    _replace_dependencies(conn, task_id, body.depends_on or [])
    return get_task(conn, task_id)


def replace_task(conn: sqlite3.Connection, task_id: int, body: TaskUpsert, now: int, zone: str) -> Task:
    """Replace every field and every dependency. Raises NotFound, Invalid, Conflict."""
    old = get_task(conn, task_id)
    columns = _columns(body, now, zone) | {"version": old.version + 1, "updated_at": now}
    marks = ", ".join(f"{name} = :{name}" for name in columns)
    try:
        conn.execute(f"UPDATE tasks SET {marks} WHERE id = :id", columns | {"id": task_id})  # noqa: S608  # as above
    except sqlite3.IntegrityError as error:
        raise _name_taken(body.name) from error
    _replace_dependencies(conn, task_id, body.depends_on or [])
    return get_task(conn, task_id)


def delete_task(conn: sqlite3.Connection, task_id: int) -> None:
    """Forget a task and its edges; its runs stay readable. Raises NotFound."""
    get_task(conn, task_id)
    conn.execute("DELETE FROM tasks WHERE id = ?", (task_id,))


def set_status(conn: sqlite3.Connection, task_id: int, status: TaskStatus, now: int, zone: str) -> Task:
    """Pause or resume. Resuming computes the next time anew, so a time that passed meanwhile doesn't fire."""
    task = get_task(conn, task_id)
    if task.status == status:
        return task
    next_trigger = None
    if status is TaskStatus.ENABLED and task.cron_expr:
        next_trigger = cron.parse(task.cron_expr).next_after(now, task.timezone or zone)
    conn.execute(
        "UPDATE tasks SET status = ?, next_trigger_at = ?, version = version + 1, updated_at = ? WHERE id = ?",
        (status.value, next_trigger, now, task_id),
    )
    return get_task(conn, task_id)


def due_tasks(conn: sqlite3.Connection, now: int, limit: int) -> list[Task]:
    """Enabled tasks whose time has come, the longest overdue first."""
    rows = conn.execute(
        "SELECT * FROM tasks WHERE status = 'enabled' AND next_trigger_at IS NOT NULL AND next_trigger_at <= ?"
        " ORDER BY next_trigger_at, id LIMIT ?",
        (now, limit),
    )
    return [Task.of(row) for row in rows]


def set_next_trigger(conn: sqlite3.Connection, task_id: int, when: int | None) -> None:
    """Store the next time; the version stays, since nobody edited the task."""
    conn.execute("UPDATE tasks SET next_trigger_at = ? WHERE id = ?", (when, task_id))


def dependencies(conn: sqlite3.Connection) -> dict[int, list[int]]:
    """task id -> the ids it waits for."""
    edges: defaultdict[int, list[int]] = defaultdict(list)
    for task_id, upstream in conn.execute("SELECT * FROM dependencies ORDER BY task_id, depends_on_task_id"):
        edges[task_id].append(upstream)
    return dict(edges)


def dag(conn: sqlite3.Connection) -> list[dict[str, Any]]:
    """Every task with what it waits for, in the Go service's snake_case shape."""
    edges = dependencies(conn)
    return [
        {"id": t.id, "name": t.name, "type": t.type, "status": t.status, "depends_on": edges.get(t.id, [])}
        for t in all_tasks(conn)
    ]


def _columns(body: TaskUpsert, now: int, zone: str) -> dict[str, Any]:
    return {
        "name": body.name,
        "type": body.type,
        "cron_expr": body.cron_expr,
        "payload": body.payload,
        "image": body.image,
        "status": body.status,
        "timeout_seconds": body.timeout_seconds,
        "max_retry": body.max_retry,
        "retry_policy": body.retry_policy,
        "retry_on_errors": body.retry_on_errors,
        "retry_interval_seconds": body.retry_interval_seconds,
        "route_strategy": body.route_strategy,
        "labels": json.dumps(body.labels or {}, ensure_ascii=False, sort_keys=True),
        "timezone": body.timezone,
        "next_trigger_at": _first_trigger(body, now, zone),
        "tenant_id": body.tenant_id,
    }


def _first_trigger(body: TaskUpsert, now: int, zone: str) -> int | None:
    """The asked-for time if it lies ahead, else the next cron time; None when paused or run by hand only."""
    computed = None
    if body.cron_expr:
        # Computed for paused tasks too: an expression that never comes due is refused when it is written.
        try:
            computed = cron.parse(body.cron_expr).next_after(now, body.timezone or zone)
        except cron.BadCron as error:
            raise Invalid(str(error)) from error
    if body.status != TaskStatus.ENABLED:
        return None
    asked = from_wire(body.next_trigger_time)
    return asked if asked is not None and asked > now else computed


def _replace_dependencies(conn: sqlite3.Connection, task_id: int, upstream: list[int]) -> None:
    known = {row[0] for row in conn.execute("SELECT id FROM tasks")}
    missing = sorted(set(upstream) - known)
    if missing:
        raise Invalid(f"depends_on: task {missing[0]} does not exist")
    conn.execute("DELETE FROM dependencies WHERE task_id = ?", (task_id,))
    conn.executemany(
        "INSERT INTO dependencies VALUES (?, ?)", [(task_id, other) for other in sorted(set(upstream))]
    )
    cycle = find_cycle(dependencies(conn))
    if cycle is not None:
        raise Invalid(f"depends_on: would make a cycle {' -> '.join(map(str, cycle))}")


def _name_taken(name: str) -> Conflict:
    return Conflict(f"a task named {name!r} already exists")
