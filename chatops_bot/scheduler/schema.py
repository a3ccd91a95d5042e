"""The tables of one data file. Column order equals the field order of the records.

`user_version` counts the schema: an older file is migrated forward step by step, a newer one is refused.
"""

from __future__ import annotations

import sqlite3

from chatops_bot.scheduler.errors import StartRefused

_VERSION_1 = """
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    cron_expr TEXT NOT NULL,
    payload TEXT NOT NULL,
    image TEXT NOT NULL,
    status TEXT NOT NULL,
    timeout_seconds INTEGER NOT NULL,
    max_retry INTEGER NOT NULL,
    retry_policy TEXT NOT NULL,
    retry_on_errors TEXT NOT NULL,
    retry_interval_seconds INTEGER NOT NULL,
    route_strategy TEXT NOT NULL,
    labels TEXT NOT NULL,
    timezone TEXT NOT NULL,
    next_trigger_at INTEGER,
    tenant_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (tenant_id, name)
) STRICT;
CREATE INDEX tasks_due ON tasks (next_trigger_at) WHERE status = 'enabled' AND next_trigger_at IS NOT NULL;

CREATE TABLE dependencies (
    task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    depends_on_task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (task_id, depends_on_task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependants ON dependencies (depends_on_task_id);

CREATE TABLE instances (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id INTEGER NOT NULL,
    schedule_instance_id TEXT NOT NULL UNIQUE,
    trigger TEXT NOT NULL,
    scheduled_for INTEGER,
    retry_of INTEGER,
    trigger_at INTEGER NOT NULL,
    dispatch_at INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    worker_id TEXT NOT NULL,
    status TEXT NOT NULL,
    retry_count INTEGER NOT NULL,
    error_code TEXT NOT NULL,
    error_message TEXT NOT NULL,
    analysis_json TEXT NOT NULL,
    next_retry_at INTEGER,
    trace_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_run_a_scheduled_time ON instances (task_id, scheduled_for) WHERE scheduled_for IS NOT NULL;
CREATE INDEX instances_of_task ON instances (task_id, id);
CREATE INDEX instances_by_status ON instances (status, id);
CREATE INDEX instances_to_retry ON instances (next_retry_at) WHERE status = 'retry_waiting';
CREATE INDEX attempts_after ON instances (retry_of) WHERE retry_of IS NOT NULL;

CREATE TABLE run_logs (
    instance_id INTEGER PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
    content TEXT NOT NULL,
    total_bytes INTEGER NOT NULL,
    truncated INTEGER NOT NULL
) STRICT;

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    hostname TEXT NOT NULL,
    ip TEXT NOT NULL,
    callback_url TEXT NOT NULL,
    grpc_addr TEXT NOT NULL,
    protocol TEXT NOT NULL,
    status TEXT NOT NULL,
    labels TEXT NOT NULL,
    max_concurrency INTEGER NOT NULL,
    current_load INTEGER NOT NULL,
    last_heartbeat_at INTEGER NOT NULL,
    registered_at INTEGER NOT NULL
) STRICT;

CREATE TABLE worker_loads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    worker_id TEXT NOT NULL,
    current_load INTEGER NOT NULL,
    max_concurrency INTEGER NOT NULL,
    status TEXT NOT NULL,
    recorded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX loads_by_time ON worker_loads (recorded_at);

CREATE TABLE replies (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dedupe_key TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at INTEGER NOT NULL,
    last_error TEXT NOT NULL,
    delivered_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_due ON outbox (next_attempt_at) WHERE delivered_at IS NULL;

CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""

# One script a step: MIGRATIONS[n] takes a file from version n to n + 1.
MIGRATIONS = (_VERSION_1,)
SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring the file up to SCHEMA_VERSION. Raises StartRefused for a file from a newer program."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > SCHEMA_VERSION:
        raise StartRefused(
            f"{path} has schema version {found} and this program knows up to {SCHEMA_VERSION}: "
            "start the newer program or use another data folder"
        )
    for version in range(found, SCHEMA_VERSION):
        # executescript commits first, so the transaction is part of the script.
        connection.executescript(
            f"BEGIN IMMEDIATE; {MIGRATIONS[version]} PRAGMA user_version = {version + 1}; COMMIT;"
        )
