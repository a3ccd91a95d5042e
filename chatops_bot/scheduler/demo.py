"""What `--demo` puts into an empty data folder: three accounts and eight tasks with a little history.

Two tasks fail on purpose: `db-backup` because its database refuses the connection, `cache-warmup` because it is slower
than its timeout. Their crons are hourly or rarer, so a demo that runs for a day isn't flooded.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from typing import Any

from chatops_bot.scheduler import lifecycle, tasks
from chatops_bot.scheduler.auth import LEAST_COST, Account, Role, hash_password
from chatops_bot.scheduler.bodies import TaskUpsert
from chatops_bot.scheduler.data_folder import DataFolder

_ACCOUNTS_FILE = "scheduler-demo-accounts.json"
_SEEDED = "demo_seeded"

_NIGHTLY_REPORT = """\
echo "collecting orders of $(date -u -d yesterday +%F)"
sleep 0.2
echo "rows read: 48211"
echo "report written: orders-$(date -u -d yesterday +%F).csv (3.4 MB)"
"""
_DB_BACKUP = """\
echo "pg_dump: dumping database orders from db-primary.internal"
sleep 0.3
echo 'pg_dump: error: connection to server at "db-primary.internal" (10.20.4.15), port 5432 failed: Connection refused' >&2
echo '	Is the server running on that host and accepting TCP/IP connections?' >&2
exit 1
"""
_LOG_ARCHIVE = """\
mkdir logs && for day in 1 2 3; do seq 20000 > logs/app-$day.log; done
tar czf archive.tar.gz logs
echo "archived 3 files, $(stat -c %s archive.tar.gz) bytes after compression"
"""
_CACHE_WARMUP = """\
echo "warming product cache: 12000 keys"
for shard in 1 2 3 4 5 6 7 8; do
  echo "shard $shard: origin answered after 4 s" >&2
  sleep 4
done
echo "done"
"""
_REPORT_EMAIL = """\
echo "recipients: 14"
echo "sent nightly report to finance-daily"
"""
_CERT_CHECK = """\
echo "shop.example.com: 61 days left"
echo "api.example.com: 23 days left"
echo "all certificates are valid for more than 14 days"
"""
_LEGACY_SYNC = """\
echo "syncing the old CRM"
"""


def demo_tasks(own_url: str) -> list[dict[str, Any]]:
    """The eight tasks as upsert bodies; `depends_on` names a task of the list. The http one calls this service."""
    return [
        _task("nightly-report", _NIGHTLY_REPORT, "0 2 * * *", team="data", max_retry=2, timeout_seconds=600),
        _task("db-backup", _DB_BACKUP, "30 3 * * *", team="dba", max_retry=1, timeout_seconds=1800),
        _task("log-archive", _LOG_ARCHIVE, "15 4 * * *", team="platform", max_retry=1, timeout_seconds=900),
        _task("cache-warmup", _CACHE_WARMUP, "0 */6 * * *", team="shop", timeout_seconds=2),
        _task("report-email", _REPORT_EMAIL, "", team="data", max_retry=2, depends_on=["nightly-report"]),
        _task(
            "metrics-rollup",
            f"{own_url}/healthz",
            "*/30 * * * *",
            type="http",
            team="platform",
            max_retry=3,
            retry_policy="exponential_backoff",
            timeout_seconds=30,
        ),
        _task("cert-check", _CERT_CHECK, "0 9 * * 1-5", team="platform", timeout_seconds=60),
        _task("legacy-sync", _LEGACY_SYNC, "*/15 * * * *", team="crm", status="disabled"),
    ]


FIRST_RUNS = ("db-backup", "cache-warmup", "nightly-report", "metrics-rollup", "log-archive")


def demo_accounts(folder: DataFolder) -> tuple[list[Account], dict[str, dict[str, str]]]:
    """One account a role with a random password, made once; second, the log-ins to hand to the demo's bot."""
    kept = folder.read_private(_ACCOUNTS_FILE)
    if kept is None:
        kept = json.dumps({role.word: secrets.token_urlsafe(18) for role in Role})
        folder.write_private(_ACCOUNTS_FILE, kept)
    passwords: dict[str, str] = json.loads(kept)
    accounts = [
        Account(word, Role.of(word), hash_password(password, LEAST_COST))
        for word, password in passwords.items()
    ]
    log_ins = {word: {"username": word, "password": password} for word, password in passwords.items()}
    return accounts, log_ins


def seed(conn: sqlite3.Connection, own_url: str, now: int, zone: str) -> bool:
    """Store the tasks and trigger some, in a folder that wasn't seeded before. Whether it did.

    On later starts only the http task's target is brought up to date, since the port may have changed.
    """
    if conn.execute("SELECT 1 FROM facts WHERE name = ?", (_SEEDED,)).fetchone() is not None:
        _point_rollup_at(conn, own_url)
        return False
    ids: dict[str, int] = {}
    for item in demo_tasks(own_url):
        upstream = [ids[name] for name in item.pop("depends_on")]
        body = TaskUpsert.model_validate(item | {"depends_on": upstream})
        ids[body.name] = tasks.create_task(conn, body, now, zone).id
    for name in FIRST_RUNS:
        lifecycle.trigger(conn, ids[name], now)
    conn.execute("INSERT INTO facts VALUES (?, 'yes')", (_SEEDED,))
    return True


def _point_rollup_at(conn: sqlite3.Connection, own_url: str) -> None:
    conn.execute(
        "UPDATE tasks SET payload = ? WHERE name = 'metrics-rollup' AND payload LIKE 'http://127.0.0.1:%/healthz'",
        (f"{own_url}/healthz",),
    )


def _task(name: str, payload: str, cron_expr: str, *, team: str, **more: Any) -> dict[str, Any]:
    base = {"name": name, "type": "shell", "payload": payload, "cron_expr": cron_expr, "depends_on": []}
    return base | {"labels": {"team": team, "demo": "true"}} | more
