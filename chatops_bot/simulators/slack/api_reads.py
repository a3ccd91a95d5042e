"""`conversations.*`: channels and what was said in them."""

import base64
import binascii
import sqlite3
from typing import Any

from chatops_bot.simulators.slack import messages
from chatops_bot.simulators.slack.arguments import Api, Arguments
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import Caller, Channel
from chatops_bot.simulators.slack.rooms import Room

Json = dict[str, Any]
HISTORY_DEFAULT = 100
REPLIES_DEFAULT = 999
DISTRIBUTED_MOST = 15


async def history(api: Api, caller: Caller, args: Arguments) -> Json:
    """Newest first; thread replies are left out."""
    channel = api.channel(args, caller, use="read", method="conversations.history")
    limit, inclusive, metadata = (
        _limit(api, caller, args, HISTORY_DEFAULT),
        args.flag("inclusive"),
        args.flag("include_all_metadata"),
    )
    cursor, latest = _from_cursor(args), args.text("latest") or None
    oldest = args.text("oldest") or None

    def work(connection: sqlite3.Connection) -> tuple[list[Json], bool]:
        before = cursor or latest
        # A cursor names the last message already given, so it is never included again.
        found, more = messages.roots(
            connection, channel.id, None, before=before, after=oldest, limit=limit, inclusive=inclusive
        )
        if cursor is not None and inclusive:
            found = [message for message in found if message.ts != cursor]
        return [messages.as_slack(connection, message, metadata=metadata) for message in found], more

    shown, more = await api.database.run(work)
    return _paged(shown, more, {"pin_count": 0})


async def replies(api: Api, caller: Caller, args: Arguments) -> Json:
    """The root and its replies, oldest first; `oldest` and `latest` bound the replies only."""
    channel = api.channel(args, caller, use="read", method="conversations.replies")
    limit, inclusive, metadata = (
        _limit(api, caller, args, REPLIES_DEFAULT),
        args.flag("inclusive"),
        args.flag("include_all_metadata"),
    )
    ts, cursor = args.text("ts"), _from_cursor(args)
    oldest, latest = args.text("oldest") or "0", args.text("latest") or "9"

    def work(connection: sqlite3.Connection) -> tuple[list[Json], bool]:
        asked = messages.find_visible(connection, channel.id, ts)
        if asked is None:
            raise SlackError("thread_not_found")
        # Asked for a reply instead of a root, Slack returns that one message.
        whole = [asked] if asked.thread_ts else messages.thread(connection, channel.id, ts)
        window = [
            message
            for message in whole
            if message.ts == ts
            or oldest < message.ts < latest
            or (inclusive and message.ts in (oldest, latest))
        ]
        rest = [message for message in window if cursor is None or message.ts > cursor]
        shown = [messages.as_slack(connection, message, metadata=metadata) for message in rest[:limit]]
        return shown, len(rest) > limit

    shown, more = await api.database.run(work)
    return _paged(shown, more, {})


async def info(api: Api, caller: Caller, args: Arguments) -> Json:
    return {"channel": _channel(api, caller, api.channel(args, caller, method="conversations.info"))}


async def list_channels(api: Api, caller: Caller, args: Arguments) -> Json:
    kinds = (args.text("types") or "public_channel").replace(" ", "").split(",")
    visible = [
        channel
        for channel in api.identity.channels
        if api.identity.sees(caller.user_id, channel)
        and ("im" if channel.kind == "im" else "public_channel") in kinds
    ]
    page, cursor = page_of(visible, args)
    return {
        "channels": [_channel(api, caller, channel) for channel in page],
        "response_metadata": {"next_cursor": cursor},
    }


async def open_direct(api: Api, caller: Caller, args: Arguments) -> Json:
    """The DM between the bot and a person, whichever of them asks."""
    asked = [user for user in args.text("users").split(",") if user]
    if not asked and not args.has("channel"):
        raise SlackError("users_list_not_supplied")
    if not asked:
        channel = api.channel(args, caller)
    else:
        others = {*asked, caller.user_id} - {api.identity.bot_user_id}
        person = api.identity.person_by_id(others.pop()) if len(others) == 1 else None
        found = None if person is None else api.identity.channel(person.dm)
        if found is None:
            raise SlackError("user_not_found")
        channel = found
    shown = _channel(api, caller, channel) if args.flag("return_im") else {"id": channel.id}
    return {"channel": shown, "no_op": True, "already_open": True}


async def members(api: Api, caller: Caller, args: Arguments) -> Json:
    page, cursor = page_of(
        api.identity.members(api.channel(args, caller, method="conversations.members")), args
    )
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


async def join(api: Api, caller: Caller, args: Arguments) -> Json:
    channel = api.channel(args, caller)
    if channel.kind == "im":
        raise SlackError("method_not_supported_for_channel_type")
    room = api.rooms.of(channel)
    if room.archived:
        raise SlackError("is_archived")
    if caller.kind == "bot" and not room.bot_is_member:
        joined = Room(archived=room.archived)
        await api.database.run(lambda connection: api.rooms.change(connection, channel, joined))
        return {"channel": _channel(api, caller, channel)}
    return {"channel": _channel(api, caller, channel), "warning": "already_in_channel"}


def page_of(items: list[Any], args: Arguments) -> tuple[list[Any], str]:
    """One page of a short list, and the cursor of the next ('' at the end)."""
    limit, start = args.limit(HISTORY_DEFAULT), _from_cursor(args) or "0"
    if not start.isdecimal():
        raise SlackError("invalid_cursor")
    end = int(start[:9]) + limit
    return items[int(start[:9]) : end], _to_cursor(str(end)) if end < len(items) else ""


def _limit(api: Api, caller: Caller, args: Arguments, default: int) -> int:
    limit = args.limit(default)
    return min(limit, DISTRIBUTED_MOST) if api.settings.distributed and caller.kind == "bot" else limit


def _channel(api: Api, caller: Caller, channel: Channel) -> Json:
    room = api.rooms.of(channel)
    common = {
        "id": channel.id,
        "created": api.identity.created,
        "is_archived": room.archived,
        "is_member": caller.kind != "bot" or room.bot_is_member,
        "is_org_shared": False,
        "context_team_id": api.identity.team_id,
    }
    if channel.kind == "im":
        other = next(user for user in api.identity.members(channel) if user != caller.user_id)
        return {**common, "is_im": True, "is_channel": False, "user": other, "is_user_deleted": False}
    return {
        **common,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": True,
        "is_group": False,
        "is_im": False,
        "is_mpim": False,
        "is_private": False,
        "is_general": False,
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "num_members": len(api.identity.members(channel)),
    }


def _paged(shown: list[Json], more: bool, extra: Json) -> Json:
    cursor = _to_cursor(shown[-1]["ts"]) if more and shown else ""
    return {"messages": shown, "has_more": more, **extra, "response_metadata": {"next_cursor": cursor}}


def _to_cursor(position: str) -> str:
    return base64.b64encode(f"next:{position}".encode()).decode()


def _from_cursor(args: Arguments) -> str | None:
    given = args.text("cursor")
    if not given:
        return None
    try:
        name, _, position = base64.b64decode(given, validate=True).decode("ascii").partition(":")
    except (binascii.Error, ValueError) as error:
        raise SlackError("invalid_cursor") from error
    if name != "next" or not position:
        raise SlackError("invalid_cursor")
    return position


METHODS = {
    "conversations.history": history,
    "conversations.replies": replies,
    "conversations.info": info,
    "conversations.list": list_channels,
    "conversations.open": open_direct,
    "conversations.members": members,
    "conversations.join": join,
    "users.conversations": list_channels,
}
