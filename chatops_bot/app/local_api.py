"""The bot's local API: HTTP over a Unix socket under its data folder, for commands on the same machine.

    POST /ask                {"text", "thread"?, "as"?}   frames as JSON lines while the turn runs
    POST /stop               {"thread"}
    POST /approve, /reject   {"code", "as"?, "reason"?}   {"is_done", "views"}

Who may open the socket is a matter of file rights (`local_socket`). Who it is that opened it, the kernel says
(SO_PEERCRED); no header and no field of a request names a person. A refusal is {"error": one sentence}.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatops_bot.app.local_desk import LocalDesk
from chatops_bot.app.local_socket import KNOWS_PEERS, listen, peer_name, socket_path
from chatops_bot.domain.people import Role
from chatops_bot.platforms.terminal.frames import frame_to_json, view_to_json
from chatops_bot.platforms.terminal.people import LocalRefused
from chatops_bot.sessions.commands import Verdict

_log = logging.getLogger(__name__)

MAX_BODY_BYTES = 256 * 1024
CLOSING_SECONDS = 2.0
"""How long an answer that has come to its end has to reach its reader before the process goes."""
_THREAD = r"^[A-Za-z0-9_-]{1,64}$"

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_Body = TypeVar("_Body", bound=BaseModel)


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class AskBody(_Request):
    text: str
    thread: str | None = Field(default=None, pattern=_THREAD)
    role: Role | None = Field(default=None, alias="as")


class StopBody(_Request):
    thread: str = Field(pattern=_THREAD)


class DecisionBody(_Request):
    code: str = Field(min_length=1, max_length=32)
    role: Role | None = Field(default=None, alias="as")
    reason: str = Field(default="", max_length=2_000)


class LocalApi:
    """Serves `desk` on a folder's socket between `start` and `aclose`; the desk stays its owner's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runner: web.AppRunner | None = None

    async def start(self, desk: LocalDesk) -> None:
        """Listen. Where that cannot be, the log says so and the bot goes on without: chats do not depend on it."""
        if not KNOWS_PEERS:
            _log.warning("there is no local API: this system does not say who opens a connection")
            return
        try:
            listener = listen(self._folder)
        except OSError as error:
            _log.warning("there is no local API: %s cannot hold its socket (%s)", self._folder, error)
            return
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.add_routes(_routes(desk))
        # A reader who goes away ends the handler, and with it the turn that nobody reads any more.
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=CLOSING_SECONDS
        )
        self._runner = runner
        await runner.setup()
        await web.SockSite(runner, listener).start()

    async def aclose(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            with contextlib.suppress(OSError):
                socket_path(self._folder).unlink()


@asynccontextmanager
async def local_api(folder: Path) -> AsyncIterator[LocalApi]:
    """An API that is not started yet, closed at the end."""
    api = LocalApi(folder)
    try:
        yield api
    finally:
        await api.aclose()


def _routes(desk: LocalDesk) -> list[web.RouteDef]:
    async def about(_: web.Request) -> web.Response:
        return web.json_response({"model": desk.model_name})

    async def ask(request: web.Request) -> web.StreamResponse:
        body = await _read(request, AskBody)
        frames = desk.ask(_peer(request), body.text, thread=body.thread, role=body.role)
        async with aclosing(frames):
            first = await anext(frames)
            response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
            await response.prepare(request)
            await response.write(_line(frame_to_json(first)))
            async for frame in frames:
                await response.write(_line(frame_to_json(frame)))
        return response

    async def stop(request: web.Request) -> web.Response:
        body = await _read(request, StopBody)
        await desk.stop(_peer(request), body.thread)
        return web.json_response({})

    def decide(verdict: Verdict) -> web.RouteDef:
        async def handler(request: web.Request) -> web.Response:
            body = await _read(request, DecisionBody)
            decision = await desk.decide(
                _peer(request), body.code, verdict, role=body.role, reason=body.reason
            )
            views = [view_to_json(view) for view in decision.views]
            return web.json_response({"is_done": decision.is_done, "views": views})

        return web.post(f"/{verdict}", _refusing(handler))

    return [
        web.get("/", about),
        web.post("/ask", _refusing(ask)),
        web.post("/stop", _refusing(stop)),
        decide("approve"),
        decide("reject"),
    ]


def _refusing(handler: _Handler) -> _Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except LocalRefused as refusal:
            return web.json_response({"error": str(refusal)}, status=403)
        except (ConnectionResetError, asyncio.IncompleteReadError):
            return web.Response()  # nobody is there to read it

    return answer


async def _read(request: web.Request, shape: type[_Body]) -> _Body:
    try:
        return shape.model_validate_json(await request.read())
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(map(str, e["loc"])) or "body" for e in error.errors()}))
        raise LocalRefused(f"The request cannot be read; missing or wrong: {fields}.") from error


def _peer(request: web.Request) -> str:
    """The system's name of whoever opened the connection."""
    peer = request.get_extra_info("socket")
    if peer is None:
        raise LocalRefused("The connection is gone.")
    return peer_name(peer)


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
