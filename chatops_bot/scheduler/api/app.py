"""The table of routes, and the one place where refusals become answers.

Three answers aren't ours: an unknown path is a plain 404, and a fault of this program is aiohttp's plain 500 with the
trace in the log. Everything else is JSON, an error being `{"error": text}`.
"""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler

from chatops_bot.scheduler.api import instance_routes, session_routes, task_routes, worker_routes
from chatops_bot.scheduler.api.context import SERVICES, Services, json_response
from chatops_bot.scheduler.errors import ApiError

# A report carries up to 1 MiB of log, which JSON escapes may double and more.
_LARGEST_BODY = 8 * 1024 * 1024

_V1 = "/api/v1"
ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", "/api/auth/login", session_routes.log_in),
    ("GET", "/healthz", session_routes.health),
    ("GET", "/metrics", session_routes.metrics),
    ("GET", f"{_V1}/capabilities", session_routes.capabilities),
    ("GET", f"{_V1}/tasks", task_routes.list_tasks),
    ("POST", f"{_V1}/tasks", task_routes.create_task),
    ("GET", f"{_V1}/tasks/dag", task_routes.get_dag),
    ("GET", f"{_V1}/tasks/{{id}}", task_routes.get_task),
    ("PUT", f"{_V1}/tasks/{{id}}", task_routes.replace_task),
    ("DELETE", f"{_V1}/tasks/{{id}}", task_routes.delete_task),
    ("POST", f"{_V1}/tasks/{{id}}/pause", task_routes.pause_task),
    ("POST", f"{_V1}/tasks/{{id}}/resume", task_routes.resume_task),
    ("POST", f"{_V1}/tasks/{{id}}/trigger", task_routes.trigger_task),
    ("GET", f"{_V1}/task-instances", instance_routes.list_instances),
    ("POST", f"{_V1}/task-instances/report", instance_routes.report),
    ("POST", f"{_V1}/task-instances/ack", instance_routes.acknowledge),
    ("POST", f"{_V1}/task-instances/cancel", instance_routes.cancel_by_schedule_id),
    ("GET", f"{_V1}/task-instances/{{id}}", instance_routes.get_instance),
    ("GET", f"{_V1}/task-instances/{{id}}/logs", instance_routes.get_log),
    ("POST", f"{_V1}/task-instances/{{id}}/retry", instance_routes.retry_instance),
    ("POST", f"{_V1}/task-instances/{{id}}/cancel", instance_routes.cancel_instance),
    ("GET", f"{_V1}/workers", worker_routes.list_workers),
    ("POST", f"{_V1}/workers/register", worker_routes.register),
    ("POST", f"{_V1}/workers/heartbeat", worker_routes.heartbeat),
    ("GET", f"{_V1}/workers/{{id}}", worker_routes.get_worker),
    ("GET", f"{_V1}/worker-loads", worker_routes.list_loads),
    ("POST", "/internal/tasks/execute", worker_routes.execute),
    ("POST", "/internal/tasks/cancel", worker_routes.cancel),
)


def build_app(services: Services) -> web.Application:
    """The application, ready to be served."""
    app = web.Application(middlewares=[_count, _answer_refusals], client_max_size=_LARGEST_BODY)
    app[SERVICES] = services
    for method, path, handler in ROUTES:
        app.router.add_route(method, path, handler)
    return app


@web.middleware
async def _count(request: web.Request, handler: Handler) -> web.StreamResponse:
    status = 500
    try:
        response = await handler(request)
        status = response.status
    except web.HTTPException as error:
        status = error.status
        raise
    finally:
        request.app[SERVICES].count(f"{status // 100}xx")
    return response


@web.middleware
async def _answer_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except ApiError as error:
        return json_response({"error": str(error)}, error.status)
    except web.HTTPMethodNotAllowed as error:
        headers = {"Allow": ", ".join(sorted(error.allowed_methods))}
        return json_response({"error": "method not allowed", "method": request.method}, 405, headers)
    except web.HTTPRequestEntityTooLarge:
        return json_response({"error": f"body: must be at most {_LARGEST_BODY} bytes"}, 413)
