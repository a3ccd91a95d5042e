"""Log-in, health, counters, and what this service can do beyond the Go service."""

from __future__ import annotations

import asyncio
import sqlite3

from aiohttp import web

from chatops_bot.scheduler import alerts
from chatops_bot.scheduler.api.context import json_response, require_role, services
from chatops_bot.scheduler.auth import TOKEN_SECONDS, Role
from chatops_bot.scheduler.bodies import Login, parse_body

EXTENSIONS = (
    "task_instances.retry",
    "task_instances.cancel",
    "task_instances.logs",
    "worker_loads",
    "trigger.instance_id_header",
    "idempotency_key",
    "task.timezone",
    "task.retry_interval_seconds",
)


async def log_in(request: web.Request) -> web.Response:
    part = services(request)
    body = parse_body(Login, await request.read())
    who = await asyncio.to_thread(part.accounts.log_in, body.username, body.password)
    token = part.signer.issue(who, part.clock.now())
    return json_response({"token": token, "role": who.role.word, "expires_in": TOKEN_SECONDS})


async def health(_request: web.Request) -> web.Response:
    return json_response({"status": "ok"})


async def capabilities(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    part = services(request)
    return json_response(
        {
            "service": "embedded-scheduler",
            "api_version": 1,
            "extensions": list(EXTENSIONS),
            "instances_order": "newest_first",
            "timezone": part.policy.zone,
            "shell": {
                "enabled": part.shell_enabled,
                "isolation": part.sandbox.isolation.value,
                "network_blocked": part.sandbox.blocks_network,
            },
            "container": {"enabled": False},
            "failure_webhook": part.policy.announce_failures,
        }
    )


async def metrics(request: web.Request) -> web.Response:
    """Prometheus text: requests by status class, runs by state, undelivered alerts."""
    part = services(request)
    runs, waiting = await part.database.read(_stored_counts)
    lines = ["# TYPE scheduler_http_requests_total counter"]
    lines += [f'scheduler_http_requests_total{{class="{k}"}} {v}' for k, v in sorted(part.counters.items())]
    lines.append("# TYPE scheduler_instances gauge")
    lines += [f'scheduler_instances{{status="{k}"}} {v}' for k, v in sorted(runs.items())]
    lines += ["# TYPE scheduler_alerts_undelivered gauge", f"scheduler_alerts_undelivered {waiting}"]
    return web.Response(text="\n".join(lines) + "\n", content_type="text/plain", charset="utf-8")


def _stored_counts(conn: sqlite3.Connection) -> tuple[dict[str, int], int]:
    runs = dict(conn.execute("SELECT status, count(*) FROM instances GROUP BY status").fetchall())
    return runs, alerts.undelivered(conn)
