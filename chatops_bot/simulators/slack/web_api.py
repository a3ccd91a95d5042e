"""`ANY /api/{method}`: authenticate, limit, dispatch, answer as Slack does (HTTP 200 with `ok`), remember the call.

A fault that a driver asked for comes between: before the call, in its place, or after it.
"""

import asyncio
import json
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from chatops_bot.simulators.slack import api_chat, api_people, api_reads, api_streams, api_surfaces
from chatops_bot.simulators.slack.arguments import Api, Arguments, read_arguments
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.faults import CallRule, Faults
from chatops_bot.simulators.slack.identity import Caller
from chatops_bot.simulators.slack.rate_limits import RateLimits
from chatops_bot.simulators.slack.scopes import check_method

Json = dict[str, Any]
Method = Callable[[Api, Caller, Arguments], Awaitable[Json]]

METHODS: Mapping[str, Method] = {
    **api_chat.METHODS,
    **api_streams.METHODS,
    **api_reads.METHODS,
    **api_people.METHODS,
    **api_surfaces.METHODS,
}
BOT_ONLY = frozenset(
    {
        "assistant.threads.setStatus",
        "chat.appendStream",
        "chat.postEphemeral",
        "chat.startStream",
        "chat.stopStream",
        "views.open",
        "views.push",
        "views.update",
    }
)
APP_ONLY = frozenset({"apps.connections.open"})
AFTERWARDS = frozenset({"reset_after", "truncated"})
"""Faults of the answer: the call itself is performed."""


class WebApi:
    def __init__(self, api: Api, faults: Faults) -> None:
        self._api = api
        self._faults = faults
        self._limits = RateLimits(distributed=api.settings.distributed)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            args = await read_arguments(request)
            caller = self._authenticate(request, args)
        except SlackError as error:
            return web.json_response(_refusal(error))
        fault = self._faults.for_call(method, caller.kind, args.values)
        if fault is not None and fault.fault == "delay":
            await asyncio.sleep(fault.seconds)
        elif fault is not None and fault.fault not in AFTERWARDS:
            code = fault.error if fault.fault == "error" else fault.fault
            await self._remember(method, caller, args, error=code)
            return _instead(request, fault)
        answer, retry_after = await self._perform(method, caller, args)
        await self._remember(method, caller, args, error=None if answer["ok"] else answer["error"])
        if fault is not None and fault.fault == "reset_after":
            return _cut(request)
        body = json.dumps(answer)
        return web.Response(
            status=429 if retry_after else 200,
            text=body[: len(body) // 2] if fault is not None and fault.fault == "truncated" else body,
            content_type="application/json",
            headers=self._headers(caller, retry_after),
        )

    async def _perform(self, method: str, caller: Caller, args: Arguments) -> tuple[Json, int]:
        """The answer, and the seconds of its Retry-After when the call came too soon."""
        perform = METHODS.get(method)
        granted = self._api.settings.bot_scopes
        try:
            if perform is None:
                raise SlackError("unknown_method")
            allowed = {"app": method in APP_ONLY, "bot": method not in APP_ONLY}
            if not allowed.get(caller.kind, method not in APP_ONLY | BOT_ONLY):
                raise SlackError("not_allowed_token_type")
            if wait := self._wait(method, caller, args):
                return {"ok": False, "error": "ratelimited"}, wait
            if caller.kind == "bot":
                check_method(method, granted)
            return {"ok": True, **await perform(self._api, caller, args)}, 0
        except SlackError as error:
            return _refusal(error), 0

    def _wait(self, method: str, caller: Caller, args: Arguments) -> int:
        """Seconds until the app may make this call; people are never limited."""
        if caller.kind == "person" or self._api.settings.rate_limits == "off":
            return 0
        return self._limits.take(method, str(args.values.get("channel")), self._api.clock.monotonic())

    def _headers(self, caller: Caller, retry_after: int) -> dict[str, str]:
        headers = {"Retry-After": str(retry_after)} if retry_after else {}
        if caller.kind == "bot":
            headers["X-OAuth-Scopes"] = ",".join(self._api.settings.bot_scopes)
        return headers

    def _authenticate(self, request: web.Request, args: Arguments) -> Caller:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            token = args.text("token")
        args.values.pop("token", None)
        if not token.strip():
            raise SlackError("not_authed")
        caller = self._api.identity.caller(token.strip())
        if caller is None:
            raise SlackError("invalid_auth")
        return caller

    async def _remember(self, method: str, caller: Caller, args: Arguments, error: str | None) -> None:
        if caller.kind == "person":
            return
        call = {"at": time.time(), "method": method, "args": args.values, "ok": error is None, "error": error}
        kept = self._api.settings.calls_kept

        def work(connection: sqlite3.Connection) -> None:
            row = (
                connection.execute("INSERT INTO calls (body) VALUES (?)", (json.dumps(call),)).lastrowid or 0
            )
            connection.execute("DELETE FROM calls WHERE id <= ?", (row - kept,))

        await self._api.database.run(work)


def _instead(request: web.Request, fault: CallRule) -> web.StreamResponse:
    """What comes in place of an answer when the call is not performed."""
    match fault.fault:
        case "ratelimited":
            retry_after = {"Retry-After": str(max(1, math.ceil(fault.seconds)))}
            return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=retry_after)
        case "error":
            return web.json_response({"ok": False, "error": fault.error})
        case "status":
            page = f"<!DOCTYPE html><html><body><h1>{fault.status}</h1></body></html>"
            return web.Response(status=fault.status, text=page, content_type="text/html")
        case _:
            return _cut(request)


def _cut(request: web.Request) -> web.StreamResponse:
    """Reset the connection: the caller gets no answer at all."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _refusal(error: SlackError) -> Json:
    refusal: Json = {"ok": False, "error": error.code, **error.details}
    if error.messages:
        refusal |= {"errors": error.messages, "response_metadata": {"messages": error.messages}}
    return refusal
