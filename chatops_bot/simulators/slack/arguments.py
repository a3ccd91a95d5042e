"""Arguments of a Web API call, wherever they travelled: query, form or JSON body.

Forms and queries carry only strings, so a structure may arrive as JSON text and a flag as `1` or `true`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl

from aiohttp import web

from chatops_bot.simulators.slack.apps import Apps
from chatops_bot.simulators.slack.clock import Clock
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.guard import NotJson, parse_json
from chatops_bot.simulators.slack.identity import Caller, Channel, Identity
from chatops_bot.simulators.slack.posting import Posting
from chatops_bot.simulators.slack.rooms import Rooms
from chatops_bot.simulators.slack.scopes import check_channel
from chatops_bot.simulators.slack.settings import Settings
from chatops_bot.simulators.slack.socket_mode import SocketMode
from chatops_bot.simulators.slack.streams import Streams
from chatops_bot.simulators.slack.views import Views

Json = dict[str, Any]
Use = Literal["see", "read", "write"]
PAGE_MOST = 999


@dataclass(frozen=True, slots=True)
class Api:
    """What the methods work on."""

    identity: Identity
    apps: Apps
    rooms: Rooms
    database: Database
    posting: Posting
    views: Views
    streams: Streams
    socket_mode: SocketMode
    settings: Settings
    clock: Clock
    url: str

    def channel(
        self, args: "Arguments", caller: Caller, name: str = "channel", *, use: Use = "see", method: str = ""
    ) -> Channel:
        """The channel named by id, `#name`, or (a DM with the bot) user id.

        `use` is what for: to read or write in it the bot must be a member. Raises channel_not_found, not_in_channel,
        is_archived, and missing_scope for a `method` whose scope depends on the channel.
        """
        channel = self._named(args.text(name).lstrip("#"), caller.user_id)
        room = self.rooms.of(channel)
        if caller.kind == "bot":
            check_channel(method, channel, self.settings.bot_scopes)
            if use != "see" and not room.bot_is_member:
                raise SlackError("not_in_channel")
        if use == "write" and room.archived:
            raise SlackError("is_archived")
        return channel

    def _named(self, given: str, user_id: str) -> Channel:
        identity = self.identity
        person = identity.person_by_id(given)
        for channel in identity.channels:
            named = channel.id == given or (channel.kind == "channel" and channel.name == given)
            if (named or (person is not None and channel.id == person.dm)) and identity.sees(
                user_id, channel
            ):
                return channel
        raise SlackError("channel_not_found")


class Arguments:
    """Typed reads; each raises SlackError for a value of the wrong shape."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = {key: value for key, value in values.items() if value is not None}

    def has(self, name: str) -> bool:
        return name in self.values

    def text(self, name: str) -> str:
        """The string, '' when absent."""
        value = self.values.get(name, "")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise SlackError("invalid_arguments", [f"[ERROR] must be a string [json-pointer:/{name}]"])
        return str(value)

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if name in self.values else None

    def flag(self, name: str) -> bool:
        return str(self.values.get(name, "")).lower() in ("1", "true")

    def structure(self, name: str) -> Any:
        """A JSON value that may have arrived as text; None when absent."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return parse_json(value.encode())
        except NotJson as error:
            code = "invalid_blocks_format" if name == "blocks" else "invalid_arguments"
            raise SlackError(code, [f"[ERROR] not JSON [json-pointer:/{name}]"]) from error

    def limit(self, default: int) -> int:
        given = self.text("limit") or str(default)
        if not (given.isascii() and given.isdecimal() and 1 <= int(given[:9]) <= PAGE_MOST):
            raise SlackError("invalid_limit")
        return int(given)


async def read_arguments(request: web.Request) -> Arguments:
    """Raises SlackError invalid_json, json_not_object, invalid_form_data or invalid_post_type."""
    values: Json = dict(request.query)
    raw = await request.read()
    if not raw:
        return Arguments(values)
    kind = request.content_type
    if kind == "application/json":
        try:
            body = parse_json(raw)
        except NotJson as error:
            raise SlackError("invalid_json") from error
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        return Arguments({**values, **body})
    try:
        if kind == "application/x-www-form-urlencoded":
            return Arguments({**values, **dict(parse_qsl(raw.decode(), keep_blank_values=True))})
        if kind == "multipart/form-data":
            form = await request.post()
            return Arguments(
                {**values, **{key: value for key, value in form.items() if isinstance(value, str)}}
            )
    except (ValueError, LookupError, AssertionError, RuntimeError) as error:
        # aiohttp's multipart reader reports a malformed body as any of these.
        raise SlackError("invalid_form_data") from error
    raise SlackError("invalid_post_type")
