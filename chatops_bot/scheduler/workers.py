"""Stored workers and how busy they were."""

from __future__ import annotations

import json
import sqlite3

from chatops_bot.scheduler.bodies import RouteStrategy, WorkerHeartbeat, WorkerRegister
from chatops_bot.scheduler.clock import SECOND
from chatops_bot.scheduler.errors import NotFound
from chatops_bot.scheduler.records import LoadSample, Worker

_KEEP_LOADS = 7 * 24 * 3_600 * SECOND


def all_workers(conn: sqlite3.Connection) -> list[Worker]:
    """Every worker ever registered, by id."""
    return [Worker.of(row) for row in conn.execute("SELECT * FROM workers ORDER BY id")]


def get_worker(conn: sqlite3.Connection, worker_id: str) -> Worker:
    """One worker. Raises NotFound."""
    row = conn.execute("SELECT * FROM workers WHERE id = ?", (worker_id,)).fetchone()
    if row is None:
        raise NotFound(f"worker {worker_id} not found")
    return Worker.of(row)


def register(conn: sqlite3.Connection, body: WorkerRegister, now: int) -> Worker:
    """Add a worker, or bring one back online under its old id."""
    conn.execute(
        "INSERT INTO workers VALUES (?, ?, ?, ?, ?, ?, 'online', ?, ?, 0, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET hostname = excluded.hostname, ip = excluded.ip,"
        " callback_url = excluded.callback_url, grpc_addr = excluded.grpc_addr, protocol = excluded.protocol,"
        " status = 'online', labels = excluded.labels, max_concurrency = excluded.max_concurrency,"
        " current_load = 0, last_heartbeat_at = excluded.last_heartbeat_at",
        (
            body.worker_id,
            body.hostname,
            body.ip,
            body.callback_url,
            body.grpc_addr,
            body.protocol,
            json.dumps(body.labels or {}, ensure_ascii=False, sort_keys=True),
            body.max_concurrency,
            now,
            now,
        ),
    )
    return get_worker(conn, body.worker_id)


def heartbeat(conn: sqlite3.Connection, body: WorkerHeartbeat, now: int) -> Worker:
    """Note that a worker lives. Raises NotFound, which tells it to register again."""
    get_worker(conn, body.worker_id)
    conn.execute(
        "UPDATE workers SET status = 'online', current_load = ?, last_heartbeat_at = ? WHERE id = ?",
        (body.current_load, now, body.worker_id),
    )
    return get_worker(conn, body.worker_id)


def mark_offline(conn: sqlite3.Connection, silent_since: int) -> list[str]:
    """Workers not heard of since then go offline; the ids that just did."""
    rows = conn.execute(
        "UPDATE workers SET status = 'offline' WHERE status = 'online' AND last_heartbeat_at < ? RETURNING id",
        (silent_since,),
    )
    return [row[0] for row in rows]


def free_slots(conn: sqlite3.Connection) -> dict[str, int]:
    """Online worker id -> runs it can still take, counted from the runs it holds, not from what it says."""
    rows = conn.execute(
        "SELECT w.id, w.max_concurrency - (SELECT count(*) FROM instances i WHERE i.worker_id = w.id"
        " AND i.status IN ('dispatched', 'running')) FROM workers w"
        " WHERE w.status = 'online' AND w.callback_url != '' ORDER BY w.id"
    )
    return {worker_id: slots for worker_id, slots in rows if slots > 0}


def pick(slots: dict[str, int], strategy: str, turn: int) -> str | None:
    """The worker that gets the next run, or None when all are busy."""
    able = [worker_id for worker_id, left in slots.items() if left > 0]
    if not able:
        return None
    if strategy == RouteStrategy.LEAST_LOADED:
        return max(able, key=lambda worker_id: slots[worker_id])
    return able[turn % len(able)]


def sample_loads(conn: sqlite3.Connection, now: int) -> None:
    """Store one sample a worker and drop those older than seven days."""
    conn.execute(
        "INSERT INTO worker_loads (worker_id, current_load, max_concurrency, status, recorded_at)"
        " SELECT id, current_load, max_concurrency, status, ? FROM workers",
        (now,),
    )
    conn.execute("DELETE FROM worker_loads WHERE recorded_at < ?", (now - _KEEP_LOADS,))


def loads(conn: sqlite3.Connection, worker_id: str | None, since: int, limit: int) -> list[LoadSample]:
    """Samples newest first."""
    rows = conn.execute(
        "SELECT * FROM worker_loads WHERE recorded_at >= ? AND (? IS NULL OR worker_id = ?)"
        " ORDER BY id DESC LIMIT ?",
        (since, worker_id, worker_id, limit),
    )
    return [LoadSample.of(row) for row in rows]
