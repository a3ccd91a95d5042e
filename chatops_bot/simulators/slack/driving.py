"""`/sim/*`: what a person does and sees, for the page and for programs that drive the workspace.

Every answer is JSON. A refusal is `{"ok": false, "error": code, "message": sentence}`; see docs/simulator.md.
"""

import json
import sqlite3
from typing import Any

from aiohttp import web
from pydantic import Field

from chatops_bot.simulators.slack import messages, page_view
from chatops_bot.simulators.slack.apps import Apps
from chatops_bot.simulators.slack.composer import compose
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.driving_border import Body, answering, read_body
from chatops_bot.simulators.slack.errors import DrivingError, SlackError
from chatops_bot.simulators.slack.identity import BOT_COLOR, Channel, Identity, Person
from chatops_bot.simulators.slack.interactions import Click, Interactions
from chatops_bot.simulators.slack.live import Live
from chatops_bot.simulators.slack.messages import Stored
from chatops_bot.simulators.slack.posting import Content, Posting
from chatops_bot.simulators.slack.socket_mode import SocketMode
from chatops_bot.simulators.slack.validation import MESSAGE_TEXT
from chatops_bot.simulators.slack.views import Views

Json = dict[str, Any]
PAGE_DEFAULT, PAGE_MOST = 50, 200


class _Click(Body):
    person: str
    channel: str | None = None
    ts: str | None = None
    view_id: str | None = None
    action_id: str
    block_id: str | None = None
    value: str | None = None
    selected: str | list[str] | None = None
    confirm: bool | None = None


class _Suggest(Body):
    person: str
    channel: str | None = None
    ts: str | None = None
    view_id: str | None = None
    action_id: str
    block_id: str | None = None
    query: str


class _Submit(Body):
    person: str
    channel: str | None = None
    ts: str | None = None
    view_id: str | None = None
    action_id: str | None = None
    values: dict[str, dict[str, str | list[str] | None]] = Field(default_factory=dict)
    confirm: bool | None = None


class _CloseView(Body):
    person: str
    view_id: str


class _Post(Body):
    person: str
    channel: str
    text: str
    thread_ts: str | None = None


class _Read(Body):
    person: str
    channel: str
    ts: str = Field(pattern=r"^[0-9]{1,12}\.[0-9]{6}$")
    thread_ts: str | None = Field(default=None, pattern=r"^[0-9]{1,12}\.[0-9]{6}$")


class Driving:
    """Each name in POSTS and GETS is a path under /sim and the method that serves it."""

    POSTS = ("click", "suggest", "submit", "close_view", "post", "read")
    GETS = ("state", "messages", "ephemerals", "versions", "calls", "live")

    def __init__(
        self,
        identity: Identity,
        database: Database,
        posting: Posting,
        interactions: Interactions,
        views: Views,
        socket_mode: SocketMode,
        live: Live,
        apps: Apps,
    ) -> None:
        self._identity = identity
        self._database = database
        self._posting = posting
        self._interactions = interactions
        self._views = views
        self._socket_mode = socket_mode
        self._pages = live
        self._apps = apps

    def routes(self) -> list[web.RouteDef]:
        return [
            *(web.post(f"/sim/{name}", answering(getattr(self, name))) for name in self.POSTS),
            *(web.get(f"/sim/{name}", answering(getattr(self, name))) for name in self.GETS),
        ]

    async def click(self, request: web.Request) -> web.StreamResponse:
        body = await read_body(request, _Click)
        person = self._person(body.person)
        click = Click(body.action_id, body.block_id, body.value, body.selected, body.confirm)
        if body.view_id is not None:
            view = await self._view(person, body.view_id)
            return web.json_response(await self._interactions.click_view(person, view, click))
        channel, ts = self._message(person, body.channel, body.ts)
        return web.json_response(await self._interactions.click_message(person, channel, ts, click))

    async def suggest(self, request: web.Request) -> web.StreamResponse:
        body = await read_body(request, _Suggest)
        person = self._person(body.person)
        asked = Click(body.action_id, body.block_id, body.query)
        if body.view_id is not None:
            view = await self._view(person, body.view_id)
            return web.json_response(await self._interactions.suggest_in_view(person, view, asked))
        channel, ts = self._message(person, body.channel, body.ts)
        return web.json_response(await self._interactions.suggest_in_message(person, channel, ts, asked))

    async def submit(self, request: web.Request) -> web.StreamResponse:
        """A modal by `view_id`; else the button `action_id` of a message, its inputs filled with `values`."""
        body = await read_body(request, _Submit)
        person = self._person(body.person)
        if body.view_id is not None:
            view = await self._view(person, body.view_id)
            return web.json_response(await self._interactions.submit_view(person, view, body.values))
        if body.action_id is None:
            raise DrivingError("action_needed", "Give the `action_id` of the message's submit button.")
        channel, ts = self._message(person, body.channel, body.ts)
        click = Click(body.action_id, confirm=body.confirm)
        return web.json_response(
            await self._interactions.click_message(person, channel, ts, click, body.values)
        )

    async def close_view(self, request: web.Request) -> web.StreamResponse:
        body = await read_body(request, _CloseView)
        person = self._person(body.person)
        await self._interactions.close_view(person, await self._view(person, body.view_id))
        return web.json_response({"ok": True})

    async def post(self, request: web.Request) -> web.StreamResponse:
        body = await read_body(request, _Post)
        person = self._person(body.person)
        channel = self._channel(person, body.channel)
        text = compose(body.text.strip(), self._handles())
        if not text or len(text) > MESSAGE_TEXT:
            raise DrivingError("text_length", f"A message has 1 to {MESSAGE_TEXT} characters.")
        try:
            stored, _ = await self._posting.post(person.id, channel, Content(text), thread_ts=body.thread_ts)
        except SlackError as error:
            raise DrivingError(
                error.code, f"There is no thread {body.thread_ts} in {channel.name}."
            ) from error
        await self._mark_read(person, channel, stored.ts, body.thread_ts)
        return web.json_response({"ok": True, "ts": stored.ts})

    async def read(self, request: web.Request) -> web.StreamResponse:
        body = await read_body(request, _Read)
        person = self._person(body.person)
        await self._mark_read(person, self._channel(person, body.channel), body.ts, body.thread_ts)
        return web.json_response({"ok": True})

    async def state(self, request: web.Request) -> web.StreamResponse:
        me = self._person(request.query.get("person", ""))
        identity = self._identity
        mine = [channel for channel in identity.channels if identity.sees(me.id, channel)]
        counts = await self._database.run(
            lambda connection: [
                messages.unread(connection, channel.id, me.id, direct=channel.kind == "im")
                for channel in mine
            ]
        )
        threads = await self._database.run(lambda connection: self._unread_threads(connection, me, mine))
        users = {
            p.id: {"name": p.name, "is_bot": False, "key": p.key, "color": p.color} for p in identity.people
        }
        for app in self._apps.all():
            users[app.user_id] = {"name": app.name, "is_bot": True, "color": BOT_COLOR}
        channels = []
        for channel, (unread, mentions) in zip(mine, counts, strict=True):
            name = identity.bot_name if channel.kind == "im" else channel.name
            shown = {
                "id": channel.id,
                "name": name,
                "kind": channel.kind,
                "unread": unread,
                "mentions": mentions,
            }
            channels.append(shown | ({"topic": channel.topic} if channel.topic else {}))
        people = {
            p.key: {"id": p.id, "name": p.name, "role": p.role, "title": p.title, "color": p.color}
            for p in identity.people
        }
        ours = {channel.id for channel in mine}
        return web.json_response(
            {
                "team": {"name": identity.team_name},
                "me": me.key,
                "people": people,
                "users": users,
                "channels": channels,
                "threads": threads,
                "bot_user_id": identity.bot_user_id,
                "bot_online": self._socket_mode.online,
                "statuses": [status for status in self._posting.statuses() if status["channel"] in ours],
                "view": self._views.page(await self._views.top(me)),
            }
        )

    async def messages(self, request: web.Request) -> web.StreamResponse:
        person = self._person(request.query.get("person", ""))
        channel = self._channel(person, request.query.get("channel", ""))
        before, thread_ts = request.query.get("before"), request.query.get("thread_ts")
        limit = _limit(request.query.get("limit"))

        def work(connection: sqlite3.Connection) -> tuple[list[Json], bool]:
            if thread_ts is None:
                found, more = messages.roots(connection, channel.id, person.id, before=before, limit=limit)
                found.reverse()
            else:
                whole = messages.thread(connection, channel.id, thread_ts, person.id)
                earlier = [message for message in whole if before is None or message.ts < before]
                found, more = earlier[-limit:], len(earlier) > limit
            return [self._page_message(connection, message) for message in found], more

        shown, has_more = await self._database.run(work)
        return web.json_response({"messages": shown, "has_more": has_more})

    async def ephemerals(self, request: web.Request) -> web.StreamResponse:
        person = self._person(request.query.get("person", ""))
        found = await self._database.run(lambda connection: messages.ephemerals(connection, person.id))
        shown = [
            {
                "channel": message.channel,
                "text": message.body["text"],
                "ts": message.ts,
                "thread_ts": message.thread_ts,
                "blocks": message.body.get("blocks", []),
            }
            for message in found
        ]
        return web.json_response({"ephemerals": shown})

    async def versions(self, request: web.Request) -> web.StreamResponse:
        channel, ts = request.query.get("channel", ""), request.query.get("ts", "")
        found = await self._database.run(lambda connection: messages.versions(connection, channel, ts))
        if not found:
            raise DrivingError("message_not_found", f"There never was a message {ts} in {channel}.")
        return web.json_response({"versions": found})

    async def calls(self, request: web.Request) -> web.StreamResponse:
        def work(connection: sqlite3.Connection) -> list[Json]:
            return [json.loads(body) for (body,) in connection.execute("SELECT body FROM calls ORDER BY id")]

        return web.json_response({"calls": await self._database.run(work)})

    async def live(self, request: web.Request) -> web.StreamResponse:
        person = self._person(request.query.get("person", ""))
        if request.headers.get("Upgrade", "").lower() != "websocket":
            raise DrivingError("websocket_needed", "/sim/live is a WebSocket.")
        return await self._pages.serve(request, person)

    async def _mark_read(self, person: Person, channel: Channel, ts: str, thread_ts: str | None) -> None:
        await self._database.run(
            lambda connection: messages.mark_read(connection, channel.id, person.id, ts, thread_ts)
        )
        where = {"channel": channel.id, "ts": ts} | ({"thread_ts": thread_ts} if thread_ts else {})
        self._pages.push([person], {"type": "read", **where})

    def _unread_threads(self, connection: sqlite3.Connection, me: Person, mine: list[Channel]) -> list[Json]:
        """The unread threads of a person, each with `html` beside its root's text."""
        found = [
            {"channel": channel.id, **thread}
            for channel in mine
            for thread in messages.unread_threads(connection, channel.id, me.id)
        ]
        found.sort(key=lambda thread: str(thread["latest_reply"]), reverse=True)
        return [page_view.page_message(thread, self._identity.names()) for thread in found]

    def _page_message(self, connection: sqlite3.Connection, message: Stored) -> Json:
        shown = messages.as_slack(connection, message)
        if message.ephemeral_to is not None:
            shown["ephemeral"] = True
        return page_view.page_message(shown, self._posting.names())

    def _handles(self) -> dict[str, str]:
        identity = self._identity
        handles = {f"@{person.key}": f"<@{person.id}>" for person in identity.people}
        handles |= {
            f"#{channel.name}": f"<#{channel.id}>"
            for channel in identity.channels
            if channel.kind == "channel"
        }
        handles |= {f"@{name}": f"<!{name}>" for name in ("here", "channel", "everyone")}
        return handles | {f"@{identity.bot_name}": f"<@{identity.bot_user_id}>"}

    def _person(self, key: str) -> Person:
        person = self._identity.person(key)
        if person is None:
            known = ", ".join(one.key for one in self._identity.people)
            raise DrivingError("person_not_found", f"There is no person {key!r}; there are {known}.")
        return person

    def _channel(self, person: Person, channel_id: str) -> Channel:
        channel = self._identity.channel(channel_id)
        if channel is None or not self._identity.sees(person.id, channel):
            raise DrivingError("channel_not_found", f"{person.key} is in no channel {channel_id!r}.")
        return channel

    def _message(self, person: Person, channel_id: str | None, ts: str | None) -> tuple[Channel, str]:
        if channel_id is None or ts is None:
            raise DrivingError(
                "surface_needed", "Name the message by `channel` and `ts`, or the modal by `view_id`."
            )
        return self._channel(person, channel_id), ts

    async def _view(self, person: Person, view_id: str) -> Json:
        view = await self._views.find(person, view_id)
        if view is None:
            raise DrivingError("view_not_found", f"{person.key} has no open modal {view_id!r}.")
        return view


def _limit(given: str | None) -> int:
    if given is None:
        return PAGE_DEFAULT
    if not (given.isascii() and given.isdecimal() and 1 <= int(given[:9]) <= PAGE_MOST):
        raise DrivingError("invalid_limit", f"`limit` is 1 to {PAGE_MOST}.")
    return int(given)
