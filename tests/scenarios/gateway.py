"""A reverse proxy between the bot and one of its services: it counts what passes, and loses calls when a test says so."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp
from aiohttp import web

_HOP_BY_HOP = {"host", "content-length", "transfer-encoding", "connection", "content-encoding"}


@dataclass
class Fault:
    """What becomes of the next `times` calls whose `METHOD /path` matches `pattern`.

    `refused`: the connection is cut and nothing is passed on; `reply_lost`: it is cut once the service has done its work;
    a dict is answered in the service's place, with `headers`.
    """

    pattern: str
    how: Literal["refused", "reply_lost"] | dict[str, Any]
    times: int = 1
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Passed:
    """A call that reached the service."""

    call: str
    key: str
    status: int
    sent: bytes = b""


@dataclass
class Gateway:
    """`url` stands for the service; `passed` is every call that reached it, in order of the answers.

    `under_way` are those that the service has not answered yet. `alter` rewrites the service's answers: it is given the call and the body.
    """

    target: str
    url: str = ""
    passed: list[Passed] = field(default_factory=list)
    under_way: int = 0
    faults: list[Fault] = field(default_factory=list)
    alter: Callable[[str, bytes], bytes] | None = None

    def reached(self, pattern: str) -> list[Passed]:
        return [passed for passed in self.passed if re.search(pattern, passed.call)]

    def _fault(self, call: str) -> Fault | None:
        for fault in self.faults:
            if fault.times and re.search(fault.pattern, call):
                fault.times -= 1
                return fault
        return None

    async def _answer(self, request: web.Request, session: aiohttp.ClientSession) -> web.StreamResponse:
        call = f"{request.method} {request.path}"
        fault = self._fault(call)
        if fault is not None and isinstance(fault.how, dict):
            return web.json_response(fault.how, status=fault.status, headers=fault.headers)
        if fault is not None and fault.how == "refused":
            return _cut(request)
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _HOP_BY_HOP}
        url = self.target.rstrip("/") + request.path_qs
        sent = await request.read()
        async with session.request(request.method, url, headers=headers, data=sent) as response:
            body = await response.read()
            if self.alter is not None:
                body = self.alter(call, body)
            key = request.headers.get("Idempotency-Key", "")
            self.passed.append(Passed(call, key, response.status, sent))
            if fault is not None:
                return _cut(request)
            kept = {k: v for k, v in response.headers.items() if k.lower() not in _HOP_BY_HOP}
            return web.Response(status=response.status, headers=kept, body=body)


def _cut(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@asynccontextmanager
async def open_gateway(target: str) -> AsyncIterator[Gateway]:
    """A gateway to `target` (scheme, host and port), on a free port."""
    gateway = Gateway(target)
    async with aiohttp.ClientSession() as session:

        async def answer(request: web.Request) -> web.StreamResponse:
            gateway.under_way += 1
            try:
                return await gateway._answer(request, session)
            finally:
                gateway.under_way -= 1

        app = web.Application(client_max_size=8 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        gateway.url = f"http://{host}:{port}"
        try:
            yield gateway
        finally:
            await runner.cleanup()
