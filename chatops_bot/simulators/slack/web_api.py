"""`ANY /api/{method}`: authenticate, dispatch, answer as Slack does (HTTP 200 with `ok`), remember the call.

`_perform` is the one place that every call passes: a rate limiter or an injected fault belongs there.
"""

import json
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from chatops_bot.simulators.slack import api_chat, api_people, api_reads, api_surfaces
from chatops_bot.simulators.slack.apps import Apps
from chatops_bot.simulators.slack.arguments import Api, Arguments, read_arguments
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import Caller, Identity
from chatops_bot.simulators.slack.posting import Posting
from chatops_bot.simulators.slack.settings import Settings
from chatops_bot.simulators.slack.socket_mode import SocketMode
from chatops_bot.simulators.slack.views import Views

Json = dict[str, Any]
Method = Callable[[Api, Caller, Arguments], Awaitable[Json]]

METHODS: Mapping[str, Method] = {
    **api_chat.METHODS,
    **api_reads.METHODS,
    **api_people.METHODS,
    **api_surfaces.METHODS,
}
BOT_ONLY = frozenset(
    {"chat.postEphemeral", "views.open", "views.update", "views.push", "assistant.threads.setStatus"}
)
APP_ONLY = frozenset({"apps.connections.open"})
SCOPES = (
    "app_mentions:read,assistant:write,channels:history,channels:read,chat:write,commands,groups:history,groups:read,"
    "im:history,im:read,im:write,reactions:write,users:read"
)


class WebApi:
    def __init__(
        self,
        identity: Identity,
        apps: Apps,
        database: Database,
        posting: Posting,
        views: Views,
        socket_mode: SocketMode,
        settings: Settings,
        url: str,
    ) -> None:
        self._api = Api(identity, apps, database, posting, views, socket_mode, settings, url)

    async def handle(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        try:
            args = await read_arguments(request)
            caller = self._authenticate(request, args)
        except SlackError as error:
            return web.json_response(_refusal(error))
        answer = await self._perform(method, caller, args)
        if caller.kind != "person":
            await self._remember(method, args, answer)
        headers = {"X-OAuth-Scopes": SCOPES} if caller.kind == "bot" else None
        return web.json_response(answer, headers=headers)

    async def _perform(self, method: str, caller: Caller, args: Arguments) -> Json:
        perform = METHODS.get(method)
        try:
            if perform is None:
                raise SlackError("unknown_method")
            allowed = {"app": method in APP_ONLY, "bot": method not in APP_ONLY}
            if not allowed.get(caller.kind, method not in APP_ONLY | BOT_ONLY):
                raise SlackError("not_allowed_token_type")
            return {"ok": True, **await perform(self._api, caller, args)}
        except SlackError as error:
            return _refusal(error)

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

    async def _remember(self, method: str, args: Arguments, answer: Json) -> None:
        call = {
            "at": time.time(),
            "method": method,
            "args": args.values,
            "ok": answer["ok"],
            "error": answer.get("error"),
        }
        kept = self._api.settings.calls_kept

        def work(connection: sqlite3.Connection) -> None:
            row = (
                connection.execute("INSERT INTO calls (body) VALUES (?)", (json.dumps(call),)).lastrowid or 0
            )
            connection.execute("DELETE FROM calls WHERE id <= ?", (row - kept,))

        await self._api.database.run(work)


def _refusal(error: SlackError) -> Json:
    refusal: Json = {"ok": False, "error": error.code}
    if error.messages:
        refusal |= {"errors": error.messages, "response_metadata": {"messages": error.messages}}
    return refusal
