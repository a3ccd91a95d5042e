"""Stored messages: write, change, read back as Slack returns them.

All functions run inside one database transaction and take its connection. A message's `body` holds what was
posted; what Slack derives (reply_count, latest_reply, ...) is computed on reading. Every change also appends a
version, so that a driver can ask what a message looked like when.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from chatops_bot.simulators.slack.database import read_meta, write_meta
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.settings import Settings

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """One message row; `ephemeral_to` is the only user id that sees it, None when everyone does."""

    channel: str
    ts: str
    thread_ts: str | None
    author: str
    ephemeral_to: str | None
    body: Json


def next_ts(connection: sqlite3.Connection, now: float) -> str:
    """A message time like Slack's, unique and strictly increasing in this workspace."""
    last = int(read_meta(connection, "last_ts") or 0)
    micros = max(int(now * 1_000_000), last + 1)
    write_meta(connection, "last_ts", str(micros))
    return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"


def insert(connection: sqlite3.Connection, message: Stored, now: float) -> None:
    in_channel = message.thread_ts is None or message.body.get("subtype") == "thread_broadcast"
    connection.execute(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            message.channel,
            message.ts,
            message.thread_ts,
            message.author,
            message.ephemeral_to,
            in_channel,
            json.dumps(message.body),
        ),
    )
    _add_version(connection, message, now)


def replace_body(connection: sqlite3.Connection, message: Stored, body: Json, now: float) -> Stored:
    changed = Stored(
        message.channel, message.ts, message.thread_ts, message.author, message.ephemeral_to, body
    )
    connection.execute(
        "UPDATE messages SET body = ? WHERE channel = ? AND ts = ?",
        (json.dumps(body), message.channel, message.ts),
    )
    _add_version(connection, changed, now)
    return changed


def replace_reactions(connection: sqlite3.Connection, message: Stored, body: Json) -> Stored:
    """Reactions are not an edit: no version is kept."""
    connection.execute(
        "UPDATE messages SET body = ? WHERE channel = ? AND ts = ?",
        (json.dumps(body), message.channel, message.ts),
    )
    return Stored(message.channel, message.ts, message.thread_ts, message.author, message.ephemeral_to, body)


def remove(connection: sqlite3.Connection, message: Stored, now: float) -> None:
    connection.execute("DELETE FROM messages WHERE channel = ? AND ts = ?", (message.channel, message.ts))
    gone = Stored(
        message.channel,
        message.ts,
        message.thread_ts,
        message.author,
        message.ephemeral_to,
        {"deleted": True},
    )
    _add_version(connection, gone, now)


def find(connection: sqlite3.Connection, channel: str, ts: str) -> Stored | None:
    row = connection.execute("SELECT * FROM messages WHERE channel = ? AND ts = ?", (channel, ts)).fetchone()
    return None if row is None else _stored(row)


def find_visible(connection: sqlite3.Connection, channel: str, ts: str) -> Stored | None:
    """A message that is not ephemeral."""
    message = find(connection, channel, ts)
    return message if message is not None and message.ephemeral_to is None else None


def thread_root(connection: sqlite3.Connection, channel: str, thread_ts: str) -> Stored:
    """The message a reply hangs on; raises invalid_thread_ts for a malformed ts or a reply's own ts."""
    seconds, _, micros = thread_ts.partition(".")
    if not (seconds.isdecimal() and micros.isdecimal()):
        raise SlackError("invalid_thread_ts")
    root = find_visible(connection, channel, thread_ts)
    if root is None:
        raise SlackError("thread_not_found")
    if root.thread_ts is not None:
        raise SlackError("invalid_thread_ts")
    return root


def roots(
    connection: sqlite3.Connection,
    channel: str,
    viewer: str | None,
    *,
    before: str | None,
    limit: int,
    after: str | None = None,
    inclusive: bool = False,
) -> tuple[list[Stored], bool]:
    """Newest first: what the channel itself shows, and whether older ones remain. `viewer`'s ephemerals count in."""
    clauses, values = ["channel = ?", "in_channel = 1"], [channel]
    equal = "=" if inclusive else ""
    if before is not None:
        clauses.append(f"ts <{equal} ?")
        values.append(before)
    if after is not None:
        clauses.append(f"ts >{equal} ?")
        values.append(after)
    return _page(connection, clauses, values, viewer, f"ORDER BY ts DESC LIMIT {limit + 1}", limit)


def thread(
    connection: sqlite3.Connection, channel: str, thread_ts: str, viewer: str | None = None
) -> list[Stored]:
    """The root, if it still stands, and its replies, oldest first."""
    clauses = ["channel = ?", "(ts = ? OR thread_ts = ?)"]
    found, _ = _page(connection, clauses, [channel, thread_ts, thread_ts], viewer, "ORDER BY ts", None)
    return found


def ephemerals(connection: sqlite3.Connection, user: str) -> list[Stored]:
    rows = connection.execute("SELECT * FROM messages WHERE ephemeral_to = ? ORDER BY ts", (user,))
    return [_stored(row) for row in rows]


def versions(connection: sqlite3.Connection, channel: str, ts: str) -> list[Json]:
    """Every state of a message, oldest first, each with `at` (seconds)."""
    rows = connection.execute(
        "SELECT at, body FROM versions WHERE channel = ? AND ts = ? ORDER BY id", (channel, ts)
    )
    return [{"text": "", "blocks": [], **json.loads(body), "at": at} for at, body in rows]


def trim_versions(connection: sqlite3.Connection, message: Stored, settings: Settings) -> None:
    """Forget the oldest states of a message, and the oldest of all, beyond what is kept."""
    connection.execute(
        "DELETE FROM versions WHERE channel = ? AND ts = ? AND id NOT IN "
        "(SELECT id FROM versions WHERE channel = ? AND ts = ? ORDER BY id DESC LIMIT ?)",
        (message.channel, message.ts, message.channel, message.ts, settings.versions_kept),
    )
    connection.execute(
        "DELETE FROM versions WHERE id <= (SELECT MAX(id) FROM versions) - ?",
        (settings.versions_kept_in_all,),
    )


def as_slack(connection: sqlite3.Connection, message: Stored, *, metadata: bool = True) -> Json:
    """The message as Slack's read methods return it, thread figures included."""
    shown = {**message.body, "ts": message.ts}
    if not metadata:
        shown.pop("metadata", None)
    if message.thread_ts is not None:
        shown["thread_ts"] = message.thread_ts
        root = find(connection, message.channel, message.thread_ts)
        if root is not None:
            shown["parent_user_id"] = root.author
        return shown
    replies = connection.execute(
        "SELECT ts, author FROM messages WHERE channel = ? AND thread_ts = ? AND ephemeral_to IS NULL ORDER BY ts",
        (message.channel, message.ts),
    ).fetchall()
    if replies:
        authors = list(dict.fromkeys(author for _, author in replies))
        shown |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users_count": len(authors),
            "latest_reply": replies[-1][0],
            "reply_users": authors[:5],
            "is_locked": False,
            "subscribed": True,
        }
    return shown


def unread(connection: sqlite3.Connection, channel: str, user: str, *, direct: bool) -> tuple[int, int]:
    """(unread, mentions) of a channel for a user: others' messages in the channel itself, and those that name the
    user. In a direct conversation each one counts as a mention."""
    row = connection.execute(
        "SELECT ts FROM reads WHERE user = ? AND channel = ?", (user, channel)
    ).fetchone()
    seen = row[0] if row else "0"
    count = (
        "SELECT COUNT(*) FROM messages WHERE channel = ? AND ts > ? AND author != ? AND ephemeral_to IS NULL"
        " AND in_channel = 1"
    )
    fresh = int(connection.execute(count, (channel, seen, user)).fetchone()[0])
    if direct:
        return fresh, fresh
    named = connection.execute(f"{count} AND body LIKE ?", (channel, seen, user, f"%<@{user}%")).fetchone()[0]
    return fresh, int(named)


def unread_threads(connection: sqlite3.Connection, channel: str, user: str) -> list[Json]:
    """The threads of a channel with replies that a user has not read, the latest reply first: {thread_ts, text, heading,
    unread, mentions, latest_reply}. Only threads that the user wrote in or follows count, and replies that name the user."""
    rows = connection.execute(
        """
        SELECT reply.thread_ts, root.body, COUNT(*), SUM(reply.body LIKE :named), MAX(reply.ts)
        FROM messages reply JOIN messages root ON root.channel = reply.channel AND root.ts = reply.thread_ts
        WHERE reply.channel = :channel AND reply.author != :user AND reply.ephemeral_to IS NULL
          AND reply.ts > COALESCE((SELECT ts FROM reads WHERE user = :user AND channel = :channel || '/' || root.ts), '0')
          AND (reply.body LIKE :named OR EXISTS (
            SELECT 1 FROM messages own WHERE own.channel = :channel AND own.author = :user
              AND (own.ts = root.ts OR own.thread_ts = root.ts))
            OR EXISTS (SELECT 1 FROM follows WHERE user = :user AND channel = :channel AND thread_ts = root.ts))
        GROUP BY reply.thread_ts ORDER BY MAX(reply.ts) DESC
        """,
        {"channel": channel, "user": user, "named": f"%<@{user}%"},
    )
    return [
        {
            "thread_ts": thread_ts,
            **_title(json.loads(root)),
            "unread": unread,
            "mentions": mentions,
            "latest_reply": latest,
        }
        for thread_ts, root, unread, mentions, latest in rows
    ]


def _title(root: Json) -> Json:
    """What a list calls a thread by: its root's `text`, and for one without, the `heading` of what stands in its place."""
    inside = [*root.get("attachments", ()), *root.get("blocks", ())]
    texts = [part.get("title") or part.get("fallback") or part.get("text") for part in inside]
    said = [text.get("text") if isinstance(text, dict) else text for text in texts]
    heading = next((text for text in said if isinstance(text, str) and text.strip()), "")
    return {"text": root.get("text", ""), "heading": heading}


def follow(connection: sqlite3.Connection, channel: str, user: str, thread_ts: str) -> None:
    """From now on a user hears of replies in a thread, as if they had written in it."""
    connection.execute("INSERT OR IGNORE INTO follows VALUES (?, ?, ?)", (user, channel, thread_ts))


def mark_read(
    connection: sqlite3.Connection, channel: str, user: str, ts: str, thread_ts: str | None = None
) -> None:
    """Read up to `ts`: a channel, or one thread of it, which has a mark of its own."""
    place = channel if thread_ts is None else f"{channel}/{thread_ts}"
    connection.execute(
        "INSERT INTO reads VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET ts = MAX(ts, excluded.ts)",
        (user, place, ts),
    )


def _page(
    connection: sqlite3.Connection,
    clauses: Iterable[str],
    values: list[str],
    viewer: str | None,
    tail: str,
    limit: int | None,
) -> tuple[list[Stored], bool]:
    # The clauses and the tail are literals of this module; every value is bound.
    query = f"SELECT * FROM messages WHERE {' AND '.join(clauses)} AND (ephemeral_to IS NULL OR ephemeral_to = ?) {tail}"  # noqa: S608
    found = [_stored(row) for row in connection.execute(query, [*values, viewer])]
    return (found, False) if limit is None else (found[:limit], len(found) > limit)


def _add_version(connection: sqlite3.Connection, message: Stored, now: float) -> None:
    connection.execute(
        "INSERT INTO versions (channel, ts, at, body) VALUES (?, ?, ?, ?)",
        (message.channel, message.ts, now, json.dumps(message.body)),
    )


def _stored(row: tuple[Any, ...]) -> Stored:
    channel, ts, thread_ts, author, ephemeral_to, _, body = row
    return Stored(channel, ts, thread_ts, author, ephemeral_to, json.loads(body))
