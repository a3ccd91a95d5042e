"""`response_url`: the bot answers an interaction without a token, five times within half an hour."""

import sqlite3
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from chatops_bot.simulators.slack import messages
from chatops_bot.simulators.slack.clock import Clock
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.guard import NotJson, parse_json
from chatops_bot.simulators.slack.identity import Identity
from chatops_bot.simulators.slack.posting import Content, Posting
from chatops_bot.simulators.slack.validation import MESSAGE_TEXT, check_message_blocks

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Target:
    channel: str
    ts: str
    thread_ts: str | None
    user: str


class ResponseUrls:
    def __init__(self, identity: Identity, database: Database, posting: Posting, clock: Clock) -> None:
        self._identity = identity
        self._database = database
        self._posting = posting
        self._clock = clock

    async def handle(self, request: web.Request) -> web.Response:
        """POST /response/{token}; refusals are HTTP 404 for a spent URL, 200 with ok:false for a bad body."""
        raw = await request.read()
        try:
            target = await self._database.run(
                lambda connection: _spend(connection, request.match_info["token"], self._clock.time())
            )
        except SlackError as error:
            return web.json_response({"ok": False, "error": error.code}, status=404)
        try:
            body = parse_json(raw)
            if not isinstance(body, dict):
                raise SlackError("invalid_payload")
            await self._answer(target, body)
        except NotJson:
            return web.json_response({"ok": False, "error": "invalid_json"})
        except SlackError as error:
            details = {"response_metadata": {"messages": error.messages}} if error.messages else {}
            return web.json_response({"ok": False, "error": error.code, **details})
        return web.json_response({"ok": True})

    async def _answer(self, target: _Target, body: Json) -> None:
        channel = self._identity.channel(target.channel)
        if channel is None:
            raise SlackError("channel_not_found")
        if body.get("delete_original") is True:
            await self._posting.delete(channel, target.ts, None, ephemeral=True)
            return
        content = _content(body)
        if body.get("replace_original") is True:
            if not await self._posting.replace(channel, target.ts, content):
                raise SlackError("message_not_found")
            return
        thread_ts = body.get("thread_ts") or target.thread_ts
        await self._posting.post(
            self._identity.bot_user_id,
            channel,
            content,
            thread_ts=thread_ts if isinstance(thread_ts, str) else None,
            ephemeral_to=None if body.get("response_type") == "in_channel" else target.user,
        )


def _content(body: Json) -> Content:
    """`markdown_text` is unknown here, as in Slack: alone it is `no_text`."""
    text, blocks = body.get("text"), body.get("blocks")
    if blocks is not None:
        blocks = check_message_blocks(blocks)
    if not blocks and not (isinstance(text, str) and text):
        raise SlackError("no_text")
    return Content((text if isinstance(text, str) else "")[:MESSAGE_TEXT], blocks)


def _spend(connection: sqlite3.Connection, token: str, now: float) -> _Target:
    row = connection.execute(
        "SELECT channel, ts, thread_ts, user, uses, expires_at FROM response_urls WHERE token = ?", (token,)
    ).fetchone()
    if row is None or row[5] < now:
        raise SlackError("expired_url")
    if row[4] < 1:
        raise SlackError("used_url")
    connection.execute("UPDATE response_urls SET uses = uses - 1 WHERE token = ?", (token,))
    message = messages.find(connection, row[0], row[1])
    thread_ts = row[2] if message is None else message.thread_ts
    return _Target(row[0], row[1], thread_ts, row[3])
