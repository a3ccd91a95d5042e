"""`/sim/*`, second half: what happens around the bot. Other apps post, channels change, calls and sockets fail."""

from dataclasses import asdict
from typing import Any, Literal, get_args

from aiohttp import web
from pydantic import Field

from chatops_bot.simulators.slack.apps import App, Apps
from chatops_bot.simulators.slack.arguments import Arguments
from chatops_bot.simulators.slack.content import read_content
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.driving_border import Body, answering, read_body
from chatops_bot.simulators.slack.errors import DrivingError, SlackError
from chatops_bot.simulators.slack.faults import (
    CallFault,
    CallRule,
    EventFault,
    EventRule,
    Faults,
    Rule,
    Who,
)
from chatops_bot.simulators.slack.identity import Channel, Identity
from chatops_bot.simulators.slack.posting import Posting
from chatops_bot.simulators.slack.rooms import Rooms
from chatops_bot.simulators.slack.socket_mode import SocketMode
from chatops_bot.simulators.slack.streams import Streams

Json = dict[str, Any]


class _AppPost(Body):
    app: str = Field(min_length=1, max_length=80)
    channel: str
    text: str | None = None
    blocks: list[Any] | None = None
    attachments: list[Any] | None = None
    thread_ts: str | None = None
    ts: str | None = None
    legacy: bool = False


class _Channel(Body):
    channel: str
    archived: bool | None = None
    bot_is_member: bool | None = None


class _Fault(Body):
    """`method` or `event` says which kind of rule it is."""

    method: str | None = Field(None, min_length=1)
    event: str | None = Field(None, min_length=1)
    fault: CallFault | EventFault
    times: int = Field(1, ge=1, le=100_000)
    after: int = Field(0, ge=0)
    who: Who = "bot"
    arguments: dict[str, str] = Field(default_factory=dict)
    error: str = "internal_error"
    status: int = Field(503, ge=400, le=599)
    seconds: float = Field(1.0, ge=0, le=3600)

    def rule(self) -> Rule:
        """Raises DrivingError for a fault that this kind of rule does not know."""
        common: Json = self.model_dump(include={"fault", "times", "after", "seconds"})
        if self.method is not None and self.event is None and self.fault in get_args(CallFault):
            more = self.model_dump(include={"method", "who", "arguments", "error", "status"})
            return CallRule(**common, **more)
        if self.event is not None and self.method is None and self.fault in get_args(EventFault):
            return EventRule(event=self.event, **common)
        known = f"a `method` with {', '.join(get_args(CallFault))}, or an `event` with {', '.join(get_args(EventFault))}"
        raise DrivingError("invalid_fault", f"Give {known}.")


class _StopStream(Body):
    channel: str
    ts: str


class _Socket(Body):
    do: Literal["disconnect", "reset"]
    reason: Literal["warning", "refresh_requested", "link_disabled"] = "refresh_requested"


class Steering:
    def __init__(
        self,
        identity: Identity,
        apps: Apps,
        rooms: Rooms,
        database: Database,
        posting: Posting,
        socket_mode: SocketMode,
        faults: Faults,
        streams: Streams,
    ) -> None:
        self._identity = identity
        self._apps = apps
        self._rooms = rooms
        self._database = database
        self._posting = posting
        self._socket_mode = socket_mode
        self._faults = faults
        self._streams = streams

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/sim/app_post", answering(self.app_post)),
            web.post("/sim/channel", answering(self.channel)),
            web.post("/sim/fault", answering(self.add_fault)),
            web.get("/sim/fault", answering(self.faults)),
            web.delete("/sim/fault", answering(self.clear_faults)),
            web.post("/sim/socket", answering(self.socket)),
            web.post("/sim/stop_stream", answering(self.stop_stream)),
        ]

    async def app_post(self, request: web.Request) -> web.StreamResponse:
        """Another app posts as its bot user, or as an old webhook (`legacy`); with `ts` it edits what it posted."""
        body = await read_body(request, _AppPost)
        channel = self._channel(body.channel)
        app = await self._database.run(lambda connection: self._apps.named(connection, body.app))
        try:
            ts = await self._write(body, channel, app)
        except SlackError as error:
            raise DrivingError(error.code, f"Slack would refuse this message: {error}.") from error
        ids = {"user_id": app.user_id, "bot_id": app.bot_id, "app_id": app.app_id}
        return web.json_response({"ok": True, "ts": ts, **ids})

    async def channel(self, request: web.Request) -> web.StreamResponse:
        """Archive or unarchive a channel, take the bot out of it or let it in."""
        body = await read_body(request, _Channel)
        channel = self._channel(body.channel)
        changes = body.model_dump(include={"archived", "bot_is_member"}, exclude_none=True)
        room = self._rooms.of(channel).model_copy(update=changes)
        await self._database.run(lambda connection: self._rooms.change(connection, channel, room))
        return web.json_response({"ok": True, **room.model_dump()})

    async def add_fault(self, request: web.Request) -> web.StreamResponse:
        rule = (await read_body(request, _Fault)).rule()
        self._faults.add(rule)
        return web.json_response({"ok": True, "fault": asdict(rule)})

    async def faults(self, request: web.Request) -> web.StreamResponse:
        """The rules that still wait for something to hit; `times` is how often yet."""
        return web.json_response({"ok": True, "faults": [asdict(rule) for rule in self._faults.rules()]})

    async def clear_faults(self, request: web.Request) -> web.StreamResponse:
        """All of them, or the one of `?id=`."""
        given = request.query.get("id")
        if given is not None and not (given.isascii() and given.isdecimal()):
            raise DrivingError("invalid_id", "`id` is the number of a fault.")
        cleared = self._faults.clear(None if given is None else int(given[:9]))
        return web.json_response({"ok": True, "cleared": cleared})

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """`disconnect` every connection of the bot as Slack does it, or `reset` them without a word."""
        body = await read_body(request, _Socket)
        if body.do == "reset":
            self._socket_mode.reset()
        else:
            await self._socket_mode.disconnect(body.reason)
        return web.json_response({"ok": True})

    async def stop_stream(self, request: web.Request) -> web.StreamResponse:
        """Somebody presses Stop at a streamed message; the bot learns of it at its next append."""
        body = await read_body(request, _StopStream)
        if not self._streams.stop_by_user(body.channel, body.ts):
            raise DrivingError("not_streaming", f"Nothing streams at {body.ts} in {body.channel}.")
        return web.json_response({"ok": True})

    async def _write(self, body: _AppPost, channel: Channel, app: App) -> str:
        content = read_content(Arguments(body.model_dump(include={"text", "blocks", "attachments"})))
        if body.ts is not None:
            await self._posting.edit(app.user_id, channel, body.ts, content)
            return body.ts
        if body.legacy:
            content.extra.update(subtype="bot_message", username=app.name, user=None, app_id=None)
        stored, _ = await self._posting.post(app.user_id, channel, content, thread_ts=body.thread_ts)
        return stored.ts

    def _channel(self, channel_id: str) -> Channel:
        channel = self._identity.channel(channel_id)
        if channel is None or channel.kind != "channel":
            raise DrivingError("channel_not_found", f"There is no channel {channel_id!r}; name it by its id.")
        return channel
