"""Runs: list (newest first, in every filter), read, log, retry, cancel; and what workers report."""

from __future__ import annotations

import sqlite3

from aiohttp import web

from chatops_bot.scheduler import instances, lifecycle
from chatops_bot.scheduler.api.context import (
    json_response,
    path_id,
    query_int,
    require_role,
    require_worker,
    services,
    write_once,
)
from chatops_bot.scheduler.auth import Role
from chatops_bot.scheduler.bodies import RunCancel, RunReport, parse_body
from chatops_bot.scheduler.errors import Invalid
from chatops_bot.scheduler.idempotency import Reply
from chatops_bot.scheduler.records import Instance, Worker
from chatops_bot.scheduler.states import TERMINAL, RunStatus

_MOST_ROWS = 500
_MOST_BYTES = 2 * 1024 * 1024


async def list_instances(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    status = request.query.get("status") or None
    if status is not None and status not in set(RunStatus):
        raise Invalid(f"status: must be one of {', '.join(RunStatus)}")
    task_id = query_int(request, "task_id", 0, 0, 2**62) or None
    limit = query_int(request, "limit", 50, 1, _MOST_ROWS)
    offset = query_int(request, "offset", 0, 0, 2**62)
    found, total = await services(request).database.read(
        lambda conn: instances.page(conn, status=status, task_id=task_id, limit=limit, offset=offset)
    )
    return json_response({"instances": [run.wire() for run in found], "total": total})


async def get_instance(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    instance_id = path_id(request, "task instance")
    run = await services(request).database.read(lambda conn: instances.get(conn, instance_id))
    return json_response(run.wire())


async def get_log(request: web.Request) -> web.Response:
    """What a run printed: `content` is cut to the last `tail` characters, after skipping `offset` from its start."""
    require_role(request, Role.VIEWER)
    instance_id = path_id(request, "task instance")
    tail = query_int(request, "tail", _MOST_BYTES, 1, _MOST_BYTES)
    offset = query_int(request, "offset", 0, 0, 2**62)

    def look(conn: sqlite3.Connection) -> tuple[Instance, tuple[str, int, bool]]:
        return instances.get(conn, instance_id), instances.read_log(conn, instance_id)

    run, (content, total_bytes, truncated) = await services(request).database.read(look)
    return json_response(
        {
            "instance_id": run.id,
            "content": content[offset:][-tail:],
            "total_bytes": total_bytes,
            "truncated": truncated,
            "complete": run.status in TERMINAL,
        }
    )


async def retry_instance(request: web.Request) -> web.Response:
    """201 with the new run; `RetryOfInstanceID` names the old one."""
    who = require_role(request, Role.OPERATOR)
    part = services(request)
    instance_id = path_id(request, "task instance")

    def effect(conn: sqlite3.Connection) -> Reply:
        return Reply(201, lifecycle.retry_by_hand(conn, instance_id, part.clock.now()).wire())

    return await write_once(request, who, effect)


async def cancel_instance(request: web.Request) -> web.Response:
    who = require_role(request, Role.OPERATOR)
    instance_id = path_id(request, "task instance")
    part = services(request)
    told: list[tuple[Instance, Worker]] = []

    def effect(conn: sqlite3.Connection) -> Reply:
        run, worker = lifecycle.cancel(conn, instance_id, part.clock.now())
        if worker is not None:
            told.append((run, worker))
        return Reply(200, run.wire())

    response = await write_once(request, who, effect)
    for run, worker in told:
        await part.dispatcher.tell_to_cancel(run, worker)
    return response


async def cancel_by_schedule_id(request: web.Request) -> web.Response:
    """The scheduler's own route: POST with schedule_instance_id."""
    require_worker(request)
    part = services(request)
    body = parse_body(RunCancel, await request.read())

    def effect(conn: sqlite3.Connection) -> tuple[Instance, Worker | None]:
        run = instances.by_schedule_id(conn, body.schedule_instance_id)
        return lifecycle.cancel(conn, run.id, part.clock.now())

    run, worker = await part.database.write(effect)
    if worker is not None:
        await part.dispatcher.tell_to_cancel(run, worker)
    return json_response({"status": "cancelled"})


async def report(request: web.Request) -> web.Response:
    require_worker(request)
    part = services(request)
    body = parse_body(RunReport, await request.read())
    run = await part.database.write(lambda conn: lifecycle.report(conn, body, part.clock.now(), part.policy))
    if run.status in TERMINAL:
        part.changed()
    return json_response({"status": "ok"})


async def acknowledge(request: web.Request) -> web.Response:
    """Kept for workers that send it; a hand-over is acknowledged by its own 202."""
    require_worker(request)
    return json_response({"status": "ok"})
