"""What people and other bots wrote in a thread before ours was spoken to: read once, page by page, within seconds.

`conversations.replies` gives the oldest first, so the newest are only known at the end. An app that Slack limits to one
call a minute and 15 messages gets the beginning of the thread, which is where its alert stands; the excerpt is then
partial, and says so.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from chatops_bot.domain.errors import PlatformError, PlatformUnavailable
from chatops_bot.domain.thread import EarlierMessage, ThreadExcerpt
from chatops_bot.platforms.slack.api import Json, SlackApi
from chatops_bot.platforms.slack.directory import SlackDirectory
from chatops_bot.platforms.slack.errors import RateLimited
from chatops_bot.platforms.slack.message_text import ids_in, text_of
from chatops_bot.platforms.slack.text import name_on_one_line
from chatops_bot.ports import Place

READ_SECONDS = 8.0
"""For everything, pauses that Slack asks for included: a person waits for the answer."""
NAMES_SECONDS = 4.0
PAGE = 200
MAX_PAGES = 10
MAX_NAMES = 40
_SAID = (None, "bot_message", "thread_broadcast", "file_share", "me_message")
"""Subtypes that say something; joins, topics and tombstones do not."""


class SlackThreadReader:
    """`seconds` bounds one reading."""

    def __init__(self, api: SlackApi, directory: SlackDirectory, seconds: float = READ_SECONDS) -> None:
        self._api = api
        self._directory = directory
        self._seconds = seconds

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        """As the port says. Raises PlatformError when not even the first page can be read."""
        if place.thread is None:
            return ThreadExcerpt()
        raw, unread = await self._read(place.channel, place.thread, before)
        own = (await self._api.identity()).user_id
        said = [each for each in raw if _counts(each, place.thread, own)]
        # The first message is what the thread is about, so it stays, however long the thread has grown.
        kept = said if len(said) <= limit else [said[0], *said[len(said) - limit + 1 :]]
        names = await self._names(kept)
        told = [_told(each, names) for each in kept]
        messages = tuple(each for each in told if each.text)
        return ThreadExcerpt(messages, len(said) - len(kept) + unread, is_partial=unread > 0)

    async def _read(self, channel: str, thread: str, before: str) -> tuple[list[Json], int]:
        """The messages before `before`, oldest first, and how many Slack has that were not read."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._seconds
        found: list[Json] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            try:
                answer = await self._page(channel, thread, before, cursor, deadline)
            except PlatformUnavailable:
                if not found:
                    raise
                break
            found += [each for each in answer.get("messages", []) if isinstance(each, dict) and "ts" in each]
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return [each for each in found if not before or each["ts"] < before], 0
        total = 1 + int(found[0].get("reply_count") or 0)
        return [each for each in found if not before or each["ts"] < before], max(1, total - len(found))

    async def _page(
        self, channel: str, thread: str, before: str, cursor: str | None, deadline: float
    ) -> Json:
        loop = asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._api.read(
                        "conversations.replies",
                        channel=channel, ts=thread, latest=before or None, limit=PAGE, cursor=cursor,
                    )  # fmt: skip
            except RateLimited as error:
                if loop.time() + error.retry_after >= deadline:
                    raise
                await asyncio.sleep(error.retry_after)
            except TimeoutError as error:
                raise PlatformUnavailable(
                    "Slack did not give the thread's messages in time.", "timeout"
                ) from error

    async def _names(self, messages: Sequence[Json]) -> dict[str, str]:
        """Names of everybody who wrote or is mentioned; whoever cannot be asked about in time keeps the id."""
        users: dict[str, None] = {}
        channels: dict[str, None] = {}
        for message in reversed(messages):
            mentioned, rooms = ids_in(message)
            users |= dict.fromkeys([str(message["user"])] if message.get("user") else [])
            users |= dict.fromkeys(sorted(mentioned))
            channels |= dict.fromkeys(sorted(rooms))
        names: dict[str, str] = {}

        async def look_up() -> None:
            for user in list(users)[:MAX_NAMES]:
                names[user] = name_on_one_line(await self._directory.user_name(user))
            for channel in list(channels)[:MAX_NAMES]:
                names[channel] = name_on_one_line(await self._directory.channel_name(channel))

        try:
            async with asyncio.timeout(NAMES_SECONDS):
                await look_up()
        except (TimeoutError, PlatformError):
            pass  # an id names its bearer too
        return names


def _counts(message: Json, thread: str, own: str) -> bool:
    if message.get("subtype") not in _SAID:
        return False
    return message["ts"] == thread or message.get("user") != own


def _told(message: Json, names: dict[str, str]) -> EarlierMessage:
    at = datetime.fromtimestamp(float(message["ts"]), UTC).replace(microsecond=0)
    return EarlierMessage(_author(message, names), at, text_of(message, names))


def _author(message: Json, names: dict[str, str]) -> str:
    """A bot goes by the name that it posted under."""
    profile = message.get("bot_profile") or {}
    user = str(message.get("user") or "")
    shown = message.get("username") or (profile.get("name") if isinstance(profile, dict) else "")
    if message.get("bot_id") and shown:
        return name_on_one_line(str(shown))
    return names.get(user) or user or name_on_one_line(str(shown or "")) or "?"
