"""Tasks: list, read, write, pause, resume, trigger."""

from __future__ import annotations

import sqlite3

from aiohttp import web

from chatops_bot.scheduler import lifecycle, tasks
from chatops_bot.scheduler.api.context import json_response, path_id, require_role, services, write_once
from chatops_bot.scheduler.auth import Role
from chatops_bot.scheduler.bodies import TaskStatus, TaskUpsert, parse_body
from chatops_bot.scheduler.idempotency import Reply


async def list_tasks(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    found = await services(request).database.read(tasks.all_tasks)
    return json_response([task.wire() for task in found])


async def get_dag(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    return json_response(await services(request).database.read(tasks.dag))


async def get_task(request: web.Request) -> web.Response:
    require_role(request, Role.VIEWER)
    task_id = path_id(request, "task")
    found = await services(request).database.read(lambda conn: tasks.get_task(conn, task_id))
    return json_response(found.wire())


async def create_task(request: web.Request) -> web.Response:
    who = require_role(request, Role.OPERATOR)
    part = services(request)
    body = parse_body(TaskUpsert, await request.read())

    def effect(conn: sqlite3.Connection) -> Reply:
        return Reply(201, tasks.create_task(conn, body, part.clock.now(), part.policy.zone).wire())

    return await write_once(request, who, effect)


async def replace_task(request: web.Request) -> web.Response:
    who = require_role(request, Role.OPERATOR)
    part = services(request)
    task_id = path_id(request, "task")
    body = parse_body(TaskUpsert, await request.read())

    def effect(conn: sqlite3.Connection) -> Reply:
        return Reply(200, tasks.replace_task(conn, task_id, body, part.clock.now(), part.policy.zone).wire())

    return await write_once(request, who, effect)


async def delete_task(request: web.Request) -> web.Response:
    who = require_role(request, Role.ADMIN)
    task_id = path_id(request, "task")

    def effect(conn: sqlite3.Connection) -> Reply:
        tasks.delete_task(conn, task_id)
        return Reply(204)

    return await write_once(request, who, effect)


async def pause_task(request: web.Request) -> web.Response:
    return await _set_status(request, TaskStatus.DISABLED)


async def resume_task(request: web.Request) -> web.Response:
    return await _set_status(request, TaskStatus.ENABLED)


async def trigger_task(request: web.Request) -> web.Response:
    """200 with the task; the new run's number is in the header X-Instance-ID."""
    who = require_role(request, Role.OPERATOR)
    part = services(request)
    task_id = path_id(request, "task")

    def effect(conn: sqlite3.Connection) -> Reply:
        task, run = lifecycle.trigger(conn, task_id, part.clock.now())
        return Reply(200, task.wire(), {"X-Instance-ID": str(run.id)})

    return await write_once(request, who, effect)


async def _set_status(request: web.Request, status: TaskStatus) -> web.Response:
    who = require_role(request, Role.OPERATOR)
    part = services(request)
    task_id = path_id(request, "task")

    def effect(conn: sqlite3.Connection) -> Reply:
        return Reply(200, tasks.set_status(conn, task_id, status, part.clock.now(), part.policy.zone).wire())

    return await write_once(request, who, effect)
