"""What every handler can reach, and how a handler answers."""

from __future__ import annotations

import asyncio
import hmac
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from chatops_bot.scheduler.auth import Accounts, Principal, Role, TokenSigner
from chatops_bot.scheduler.clock import Clock
from chatops_bot.scheduler.database import Database
from chatops_bot.scheduler.dispatch import Dispatcher
from chatops_bot.scheduler.errors import Forbidden, Invalid, Unauthenticated
from chatops_bot.scheduler.idempotency import Once, Reply
from chatops_bot.scheduler.lifecycle import Policy
from chatops_bot.scheduler.worker.agent import WorkerAgent
from chatops_bot.scheduler.worker.sandbox import Sandbox


@dataclass(slots=True)
class Services:
    """The parts behind the API. `worker` is None on a service that only schedules."""

    database: Database
    clock: Clock
    accounts: Accounts
    signer: TokenSigner
    worker_token: str
    policy: Policy
    sandbox: Sandbox
    shell_enabled: bool
    dispatcher: Dispatcher
    changed: Callable[[], None]
    worker: WorkerAgent | None = None
    counters: dict[str, int] = field(default_factory=dict)

    def count(self, name: str) -> None:
        self.counters[name] = self.counters.get(name, 0) + 1


SERVICES = web.AppKey("services", Services)
WORKER_ACCOUNT = "worker"


def services(request: web.Request) -> Services:
    return request.app[SERVICES]


def require_role(request: web.Request, role: Role) -> Principal:
    """Who asks. Raises Unauthenticated, Forbidden."""
    principal = _principal(request)
    if principal.role < role:
        raise Forbidden("insufficient permissions")
    return principal


def require_worker(request: web.Request) -> Principal:
    """The worker token, or an admin's. Raises Unauthenticated, Forbidden."""
    if hmac.compare_digest(_token(request).encode(), services(request).worker_token.encode()):
        return Principal(WORKER_ACCOUNT, Role.ADMIN)
    return require_role(request, Role.ADMIN)


def path_id(request: web.Request, what: str) -> int:
    """The number in the path. Raises Invalid."""
    text = request.match_info["id"]
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 19:
        raise Invalid(f"{what} id must be a positive number")
    return int(text)


def query_int(request: web.Request, name: str, default: int, low: int, high: int) -> int:
    """A number from the query string. Raises Invalid when it is none; one above `high` counts as `high`."""
    text = request.query.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) < low:
        raise Invalid(f"{name}: must be a number of at least {low}")
    return min(int(text), high)


async def write_once(
    request: web.Request, who: Principal, effect: Callable[[sqlite3.Connection], Reply]
) -> web.Response:
    """Run a write, at most once per Idempotency-Key, then wake the trigger loop."""
    part = services(request)
    key = request.headers.get("Idempotency-Key")
    now = part.clock.now()
    if key:
        once = Once.of(key, f"{who.username} {request.method} {request.path}", await request.read())
        reply = await asyncio.shield(part.database.write(lambda conn: once.apply(conn, now, effect)))
    else:
        reply = await asyncio.shield(part.database.write(effect))
    part.changed()
    return respond(reply)


def respond(reply: Reply) -> web.Response:
    """The answer as bytes; status 204 has none."""
    if reply.body is None:
        return web.Response(status=reply.status, headers=reply.headers)
    return json_response(reply.body, reply.status, dict(reply.headers))


def json_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """JSON as the Go service writes it: UTF-8, not escaped."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return web.Response(text=text, status=status, headers=headers, content_type="application/json")


def _principal(request: web.Request) -> Principal:
    part = services(request)
    return part.signer.read(_token(request), part.clock.now())


def _token(request: web.Request) -> str:
    header = request.headers.get("Authorization", "")
    scheme, _, token = header.partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    token = request.query.get("token", "")
    if not token:
        raise Unauthenticated("missing authorization token")
    return token
