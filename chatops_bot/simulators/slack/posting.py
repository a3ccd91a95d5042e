"""Writing to channels: one place where a message is stored, its events recorded, and the open pages told.

Bot, people and response URLs all write through here, so that each effect is the same whoever causes it.
"""

import asyncio
import json
import re
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatops_bot.simulators.slack import messages, page_view
from chatops_bot.simulators.slack.apps import Apps
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import Channel, Identity, Person, random_id
from chatops_bot.simulators.slack.live import Live
from chatops_bot.simulators.slack.messages import Stored
from chatops_bot.simulators.slack.rooms import Rooms
from chatops_bot.simulators.slack.settings import Settings
from chatops_bot.simulators.slack.socket_mode import SocketMode, record_event

Json = dict[str, Any]
TOMBSTONE: Json = {
    "type": "message",
    "subtype": "tombstone",
    "text": "This message was deleted.",
    "user": "USLACKBOT",
}


@dataclass(frozen=True, slots=True)
class Content:
    """What an author says; `blocks` None means none were given."""

    text: str
    blocks: list[Json] | None = None
    extra: Json = field(default_factory=dict)
    """Further message fields: attachments, metadata, subtype. None takes a usual field away."""


def with_block_ids(blocks: Iterable[Json]) -> list[Json]:
    """Slack names each block that its author left unnamed."""
    return [block if block.get("block_id") else {**block, "block_id": random_id("")[:5]} for block in blocks]


def _loses_rich_text(old: list[Json], new: list[Json]) -> bool:
    """Whether a message that says everything in rich text, as one from Slack's own composer does, would have none left."""
    kinds = [{block["type"] for block in blocks} for blocks in (old, new)]
    return kinds[0] == {"rich_text"} and bool(new) and "rich_text" not in kinds[1]


class Posting:
    """All changes of messages. Each method returns once the change is stored."""

    def __init__(
        self,
        identity: Identity,
        database: Database,
        live: Live,
        socket_mode: SocketMode,
        settings: Settings,
        apps: Apps,
        rooms: Rooms,
    ) -> None:
        self._identity = identity
        self._apps = apps
        self._rooms = rooms
        self._database = database
        self._live = live
        self._socket_mode = socket_mode
        self._settings = settings
        self._statuses: dict[tuple[str, str], tuple[Json, asyncio.TimerHandle]] = {}

    async def post(
        self,
        author: str,
        channel: Channel,
        content: Content,
        *,
        thread_ts: str | None = None,
        ephemeral_to: str | None = None,
    ) -> tuple[Stored, Json]:
        """Store a message; returns it with its Slack form. Raises is_archived, invalid_thread_ts or thread_not_found."""
        if self._rooms.of(channel).archived:
            raise SlackError("is_archived")
        now = time.time()

        def work(connection: sqlite3.Connection) -> tuple[Stored, Json, Json | None]:
            root = None if thread_ts is None else messages.thread_root(connection, channel.id, thread_ts)
            body = self._body(author, content)
            ts = messages.next_ts(connection, now)
            stored = Stored(channel.id, ts, thread_ts, author, ephemeral_to, body)
            messages.insert(connection, stored, now)
            messages.trim_versions(connection, stored, self._settings)
            shown = messages.as_slack(connection, stored)
            if ephemeral_to is None:
                self._record_message(connection, channel, shown)
            return stored, shown, None if root is None else messages.as_slack(connection, root)

        stored, shown, root = await self._database.run(work)
        if ephemeral_to is not None:
            self._push(self._only(ephemeral_to), "ephemeral", stored, {**shown, "ephemeral": True})
            return stored, shown
        self._push(self.audience(channel), "message", stored, shown)
        if root is not None and thread_ts is not None:
            self._push(
                self.audience(channel), "changed", Stored(channel.id, thread_ts, None, "", None, {}), root
            )
        if author == self._identity.bot_user_id and thread_ts is not None:
            self.set_status(channel, thread_ts, "", [])
        return stored, shown

    async def edit(self, author: str, channel: Channel, ts: str, content: Content) -> Json:
        """Replace a message's text; blocks only when given ([] removes them).

        Raises message_not_found, cant_update_message (only its author may), or block_mismatch: a message
        of rich text alone keeps some.
        """

        def work(connection: sqlite3.Connection) -> tuple[Stored, Json]:
            message = messages.find_visible(connection, channel.id, ts)
            if message is None or message.body.get("subtype") == "tombstone":
                raise SlackError("message_not_found")
            if message.author != author:
                raise SlackError("cant_update_message")
            if _loses_rich_text(message.body.get("blocks", []), content.blocks or []):
                raise SlackError("block_mismatch")
            return self._edit(connection, channel, message, content)

        stored, shown = await self._database.run(work)
        self._push(self.audience(channel), "changed", stored, shown)
        return shown

    async def grow(self, channel: Channel, ts: str, content: Content, *, final: bool) -> Json:
        """Show what a stream has so far; only its end raises an event. Raises message_not_found when it was deleted."""

        def work(connection: sqlite3.Connection) -> tuple[Stored, Json]:
            message = messages.find_visible(connection, channel.id, ts)
            if message is None or message.body.get("subtype") == "tombstone":
                raise SlackError("message_not_found")
            now = time.time()
            previous = messages.as_slack(connection, message)
            body = {**message.body, **content.extra, "text": content.text}
            body["blocks"] = with_block_ids(content.blocks or [])
            changed = messages.replace_body(connection, message, body, now)
            messages.trim_versions(connection, changed, self._settings)
            shown = messages.as_slack(connection, changed)
            if final:
                self._record_change(connection, channel, "message_changed", previous, {"message": shown})
            return changed, shown

        stored, shown = await self._database.run(work)
        self._push(self.audience(channel), "changed", stored, shown)
        return shown

    async def replace(self, channel: Channel, ts: str, content: Content) -> bool:
        """Replace a message, ephemeral or not, whole (a response URL does this); False when it is gone."""

        def work(connection: sqlite3.Connection) -> tuple[Stored, Json] | None:
            message = messages.find(connection, channel.id, ts)
            if message is None:
                return None
            whole = Content(content.text, content.blocks or [], content.extra)
            return self._edit(connection, channel, message, whole)

        changed = await self._database.run(work)
        if changed is None:
            return False
        stored, shown = changed
        if stored.ephemeral_to is None:
            self._push(self.audience(channel), "changed", stored, shown)
        else:
            self._push(self._only(stored.ephemeral_to), "ephemeral", stored, {**shown, "ephemeral": True})
        return True

    async def delete(self, channel: Channel, ts: str, author: str | None, *, ephemeral: bool = False) -> None:
        """Delete a message; `author` must have written it (None: a response URL, which may).

        Raises message_not_found or cant_delete_message.
        """
        now = time.time()

        def work(connection: sqlite3.Connection) -> tuple[Stored, Json | None]:
            find = messages.find if ephemeral else messages.find_visible
            message = find(connection, channel.id, ts)
            if message is None or message.body.get("subtype") == "tombstone":
                raise SlackError("message_not_found")
            if author is not None and message.author != author:
                raise SlackError("cant_delete_message")
            previous = messages.as_slack(connection, message)
            if message.ephemeral_to is None:
                self._record_change(connection, channel, "message_deleted", previous, {"deleted_ts": ts})
            if "reply_count" in previous:
                # A root with replies leaves a tombstone, so that its thread can still be read and answered.
                left = messages.replace_body(connection, message, TOMBSTONE, now)
                return left, messages.as_slack(connection, left)
            messages.remove(connection, message, now)
            return message, None

        gone, tombstone = await self._database.run(work)
        event = {"channel": channel.id, "ts": ts, "thread_ts": gone.thread_ts}
        if gone.ephemeral_to is not None:
            self._live.push(self._only(gone.ephemeral_to), {"type": "ephemeral_removed", **event})
        elif tombstone is not None:
            self._push(self.audience(channel), "changed", gone, tombstone)
        else:
            self._live.push(self.audience(channel), {"type": "deleted", **event})
        self._socket_mode.wake()

    async def react(self, user: str, channel: Channel, ts: str, name: str, *, add: bool) -> None:
        """Raises message_not_found, already_reacted or no_reaction."""

        def work(connection: sqlite3.Connection) -> tuple[Stored, Json]:
            message = messages.find_visible(connection, channel.id, ts)
            if message is None:
                raise SlackError("message_not_found")
            users = {one["name"]: list(one["users"]) for one in message.body.get("reactions", [])}
            held = user in users.get(name, [])
            if held == add:
                raise SlackError("already_reacted" if add else "no_reaction")
            users.setdefault(name, []).append(user) if add else users[name].remove(user)
            body = {key: value for key, value in message.body.items() if key != "reactions"}
            reactions = [
                {"name": one, "users": them, "count": len(them)} for one, them in users.items() if them
            ]
            if reactions:
                body["reactions"] = reactions
            changed = messages.replace_reactions(connection, message, body)
            return changed, messages.as_slack(connection, changed)

        stored, shown = await self._database.run(work)
        self._push(self.audience(channel), "reaction", stored, shown)

    def set_status(self, channel: Channel, thread_ts: str, status: str, loading_messages: list[str]) -> None:
        """Show a status line in a thread until it is replaced, the bot answers, or two minutes pass."""
        key = (channel.id, thread_ts)
        if (held := self._statuses.pop(key, None)) is not None:
            held[1].cancel()
        elif not status:
            return
        event = {
            "channel": channel.id,
            "thread_ts": thread_ts,
            "status": status,
            "loading_messages": loading_messages,
        }
        if status:
            expire = asyncio.get_running_loop().call_later(
                self._settings.status_seconds, self.set_status, channel, thread_ts, "", []
            )
            self._statuses[key] = (event, expire)
        self._live.push(self.audience(channel), {"type": "status", **event})

    def statuses(self) -> list[Json]:
        return [event for event, _ in self._statuses.values()]

    def forget_statuses(self) -> None:
        for _, expire in self._statuses.values():
            expire.cancel()
        self._statuses.clear()

    def audience(self, channel: Channel) -> list[Person]:
        return [person for person in self._identity.people if self._identity.sees(person.id, channel)]

    def names(self) -> Mapping[str, str]:
        """Display name of every user id and channel id, other apps included."""
        return {**self._identity.names(), **{app.user_id: app.name for app in self._apps.others()}}

    def _only(self, user_id: str) -> list[Person]:
        person = self._identity.person_by_id(user_id)
        return [] if person is None else [person]

    def _body(self, author: str, content: Content) -> Json:
        body: Json = {"type": "message", "user": author, "text": content.text, "team": self._identity.team_id}
        if (app := self._apps.by_user(author)) is not None:
            ids = {"app_id": app.app_id, "user_id": app.user_id, "team_id": self._identity.team_id}
            profile = {"id": app.bot_id, "name": app.name, "deleted": False, **ids}
            body |= {"bot_id": app.bot_id, "app_id": app.app_id, "bot_profile": profile}
        if content.blocks:
            body["blocks"] = with_block_ids(content.blocks)
        return {key: value for key, value in {**body, **content.extra}.items() if value is not None}

    def _edit(
        self, connection: sqlite3.Connection, channel: Channel, message: Stored, content: Content
    ) -> tuple[Stored, Json]:
        now = time.time()
        previous = messages.as_slack(connection, message)
        body = {**message.body, **content.extra, "text": content.text}
        if content.blocks is not None:
            body.pop("blocks", None)
            if content.blocks:
                body["blocks"] = with_block_ids(content.blocks)
        if message.ephemeral_to is None:
            body["edited"] = {"user": message.author, "ts": messages.next_ts(connection, now)}
        changed = messages.replace_body(connection, message, body, now)
        messages.trim_versions(connection, changed, self._settings)
        shown = messages.as_slack(connection, changed)
        if message.ephemeral_to is None:
            self._record_change(connection, channel, "message_changed", previous, {"message": shown})
        return changed, shown

    def _record_message(self, connection: sqlite3.Connection, channel: Channel, shown: Json) -> None:
        if not self._rooms.of(channel).bot_is_member:
            return
        event = {key: value for key, value in shown.items() if key != "metadata"}
        event |= {"channel": channel.id, "event_ts": shown["ts"]}
        record_event(connection, self._envelope({**event, "channel_type": channel.kind}))
        mention = re.search(rf"<@{self._identity.bot_user_id}(\|[^>]*)?>", shown["text"])
        if mention and channel.kind == "channel" and shown.get("user") != self._identity.bot_user_id:
            event.pop("subtype", None)
            record_event(connection, self._envelope({**event, "type": "app_mention"}))

    def _record_change(
        self, connection: sqlite3.Connection, channel: Channel, subtype: str, previous: Json, extra: Json
    ) -> None:
        if not self._rooms.of(channel).bot_is_member:
            return
        ts = messages.next_ts(connection, time.time())
        event = {"type": "message", "subtype": subtype, "hidden": True, "channel": channel.id, "ts": ts}
        event |= {"event_ts": ts, "channel_type": channel.kind, "previous_message": previous, **extra}
        record_event(connection, self._envelope(event))

    def _envelope(self, event: Json) -> Json:
        team = self._identity.team_id
        return {
            "type": "event_callback",
            "token": "unused",
            "team_id": team,
            "context_team_id": team,
            "context_enterprise_id": None,
            "api_app_id": self._identity.app_id,
            "event": event,
            "event_id": random_id("Ev"),
            "event_time": int(float(event["event_ts"])),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": team,
                    "user_id": self._identity.bot_user_id,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
            "event_context": "4-" + random_id(""),
        }

    def _push(self, people: Iterable[Person], kind: str, stored: Stored, shown: Json) -> None:
        """Tell the pages, and wake the pump for the events that were recorded with the change."""
        page = page_view.page_message(json.loads(json.dumps(shown)), self.names())
        event = {"type": kind, "channel": stored.channel, "ts": stored.ts, "thread_ts": stored.thread_ts}
        self._live.push(people, {**event, "message": page})
        self._socket_mode.wake()
