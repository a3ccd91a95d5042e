"""Workers: list, load history, registration, and the embedded worker's own two routes."""

from __future__ import annotations

from aiohttp import web

from chatops_bot.scheduler import workers
from chatops_bot.scheduler.api.context import json_response, query_int, require_role, require_worker, services
from chatops_bot.scheduler.auth import Role
from chatops_bot.scheduler.bodies import (
    ExecuteRequest,
    RunCancel,
    WorkerHeartbeat,
    WorkerRegister,
    parse_body,
)
from chatops_bot.scheduler.clock import SECOND
from chatops_bot.scheduler.errors import NotFound


async def list_workers(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    found = await services(request).database.read(workers.all_workers)
    return json_response([worker.wire() for worker in found])


async def get_worker(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    worker_id = request.match_info["id"]
    found = await services(request).database.read(lambda conn: workers.get_worker(conn, worker_id))
    return json_response(found.wire())


async def list_loads(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    part = services(request)
    worker_id = request.query.get("worker_id") or None
    hours = query_int(request, "hours", 24, 1, 168)
    limit = query_int(request, "limit", 500, 1, 2_000)
    since = part.clock.now() - hours * 3_600 * SECOND
    found = await part.database.read(lambda conn: workers.loads(conn, worker_id, since, limit))
    return json_response([sample.wire() for sample in found])


async def register(request: web.Request) -> web.Response:
    require_worker(request)
    part = services(request)
    body = parse_body(WorkerRegister, await request.read())
    now = part.clock.now()
    worker = await part.database.write(lambda conn: workers.register(conn, body, now))
    part.changed()
    return json_response(worker.wire(), 201)


async def heartbeat(request: web.Request) -> web.Response:
    require_worker(request)
    part = services(request)
    body = parse_body(WorkerHeartbeat, await request.read())
    now = part.clock.now()
    await part.database.write(lambda conn: workers.heartbeat(conn, body, now))
    part.changed()  # it may be back from being offline
    return json_response({"status": "ok"})


async def execute(request: web.Request) -> web.Response:
    require_worker(request)
    worker = services(request).worker
    if worker is None:
        raise NotFound("worker not found")
    worker.execute(parse_body(ExecuteRequest, await request.read()))
    return json_response({"status": "accepted"}, 202)


async def cancel(request: web.Request) -> web.Response:
    require_worker(request)
    worker = services(request).worker
    body = parse_body(RunCancel, await request.read())
    if worker is None or not worker.cancel(body.schedule_instance_id):
        raise NotFound(f"task instance {body.schedule_instance_id} not found")
    return json_response({"status": "cancelling"})
