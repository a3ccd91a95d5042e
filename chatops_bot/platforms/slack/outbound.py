"""The one writer: everything that the bot says in Slack goes through here.

Posting is exactly-once as far as Slack lets us: each post carries an id in its metadata, and when the reply gets lost the
writer looks for that id in the thread before it posts again. Editing is latest-wins: per message one chat.update is in
flight at most, a newer view replaces the one that waits, and `pacing` says when the next may go. Finals and posts never
wait for progress; progress waits for them.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TypeVar

from chatops_bot.domain.errors import MessageGone, PlatformError, PlatformUnavailable
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.view import View
from chatops_bot.platforms.slack.api import Json, SlackApi
from chatops_bot.platforms.slack.blocks import payload
from chatops_bot.platforms.slack.errors import BlocksRefused, RateLimited, Unanswered
from chatops_bot.ports import Clock, Ids, Place
from chatops_bot.rendering.pacing import Allowance, Pace, next_edit_at

log = logging.getLogger(__name__)

T = TypeVar("T")

METADATA_TYPE = "chatops_bot_message"
REMEMBERED_MESSAGES = 2_000
CLOCK_SKEW = timedelta(minutes=5)
"""How far Slack's clock and ours may differ when a lost post is looked for."""
FINDABLE_FOR = timedelta(hours=24)
"""How far back a message is looked for by its key: a crash is recovered from within minutes, an alert redelivered within hours."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
_UNFURL_NOTHING = {"unfurl_links": False, "unfurl_media": False}
"""Slack fetches an address before anybody clicks it; one flag is not enough, and an edit is looked at again."""
POSTS = Pace(spacing=1.0, burst=3)
"""Slack takes one post a second in a channel, all threads of it together, and short bursts."""


class _Message:
    """What the writer knows of a message: its edits, and where to post when it can no longer be edited."""

    __slots__ = (
        "edited_at",
        "finished",
        "key",
        "place",
        "posted_at",
        "ref",
        "sending",
        "successor",
        "wanted",
        "worker",
    )

    def __init__(self, ref: MessageRef, place: Place | None, posted_at: float, key: str = "") -> None:
        self.ref = ref
        self.place = place
        self.key = key
        self.posted_at = posted_at
        self.edited_at: float | None = None
        self.wanted: View | None = None
        self.finished = False
        self.successor: MessageRef | None = None
        self.sending = asyncio.Lock()
        self.worker: asyncio.Task[None] | None = None

    def take_wanted(self) -> View | None:
        view, self.wanted = self.wanted, None
        return view

    def want_again(self, view: View) -> None:
        """Put back a view that could not be shown, unless there is a newer one."""
        if not self.finished and self.wanted is None:
            self.wanted = view

    @property
    def is_busy(self) -> bool:
        return self.sending.locked() or (self.worker is not None and not self.worker.done())


class SlackWriter:
    """Posts, edits and whispers with one bot token.

    `patience`: seconds for which a post or a final edit is tried against rate limits and failures before
    PlatformUnavailable is raised.
    """

    def __init__(
        self,
        api: SlackApi,
        clock: Clock,
        ids: Ids,
        *,
        pace: Pace | None = None,
        posts: Pace = POSTS,
        patience: float = 120.0,
    ) -> None:
        self._api = api
        self._clock = clock
        self._ids = ids
        self._pace = pace or Pace()
        self._allowance = Allowance(self._pace)
        self._posts = posts
        self._channels: dict[str, tuple[Allowance, Allowance]] = {}
        self._patience = patience
        self._messages: OrderedDict[MessageRef, _Message] = OrderedDict()
        self._held_until = 0.0
        self._urgent = 0
        self._calm = asyncio.Event()
        self._calm.set()

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        """As the port says. Raises PlatformError for a refusal, PlatformUnavailable when patience ran out."""
        return await self._post(place, view, key or self._ids.new("out"))

    async def _post(
        self, place: Place, view: View, out_id: str, replaced: MessageRef | None = None
    ) -> MessageRef:
        """Post under `out_id`; `replaced` is the message that had this id before and may still be there."""
        began = self._clock.now()
        message = {
            "channel": place.channel,
            "thread_ts": place.thread,
            "metadata": {"event_type": METADATA_TYPE, "event_payload": {"out_id": out_id}},
            **_UNFURL_NOTHING,
            **payload(view),
        }
        in_doubt = False

        async def once() -> MessageRef:
            nonlocal in_doubt
            if in_doubt and (found := await self._find(place, out_id, began, replaced)):
                return found
            try:
                with self._urgently():
                    answer = await self._send("chat.postMessage", message)
            except Unanswered:
                in_doubt = True
                raise
            return MessageRef(answer["channel"], answer["ts"])

        await self._turn_in(place)
        ref = await self._persist(once)
        self._remember(_Message(ref, place, self._clock.monotonic(), out_id))
        return ref

    async def find(self, place: Place, key: str) -> MessageRef | None:
        """As the port says, among the messages of the last `FINDABLE_FOR`."""
        found = await self._persist(lambda: self._find(place, key, self._clock.now() - FINDABLE_FOR))
        if found is not None and found not in self._messages:
            self._remember(_Message(found, place, self._clock.monotonic() - self._pace.first_after, key))
        return found

    def edit(self, ref: MessageRef, view: View) -> None:
        """As the port says; edits that fail are logged and left to the next one. After `finish` there are none."""
        message = self._current(ref)
        if message.finished:
            return
        message.wanted = view
        if message.worker is None or message.worker.done():
            message.worker = asyncio.create_task(self._edit_while_wanted(message))

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        """As the port says. Raises PlatformError for a refusal, PlatformUnavailable when patience ran out."""
        message = self._current(ref)
        message.finished, message.wanted = True, None
        async with message.sending:
            if message.successor is None:
                try:
                    await self._persist(lambda: self._update_urgently(message, view))
                except MessageGone as error:
                    log.info("%s Posting it anew.", error)
                    place, key = await self._place_of(message), message.key or self._ids.new("out")
                    message.successor = await self._post(place, view, key, replaced=message.ref)
                    self._current(message.successor).finished = True
                    return message.successor
                return message.ref
        return await self.finish(message.successor, view)

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        """As the port says. A whisper that may have been shown is not repeated: PlatformUnavailable is raised."""

        async def once() -> None:
            await self._send(
                "chat.postEphemeral",
                {
                    "channel": place.channel,
                    "thread_ts": place.thread,
                    "user": person_id,
                    **_UNFURL_NOTHING,
                    **payload(view),
                },
            )

        await self._persist(once, passing=RateLimited)

    async def aclose(self) -> None:
        """Drop edits that wait and return when nothing is in flight."""
        workers = [message.worker for message in self._messages.values() if message.worker is not None]
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def _edit_while_wanted(self, message: _Message) -> None:
        while message.wanted is not None:
            await self._slot(message)
            async with message.sending:
                view = message.take_wanted()
                if view is None:
                    return
                try:
                    await self._update(message, view)
                except RateLimited:
                    message.want_again(view)
                except MessageGone as error:
                    log.info("%s Further progress is not shown.", error)
                    message.wanted, message.finished = None, True
                except PlatformError as error:
                    log.warning("An edit was lost: %s", error)

    async def _slot(self, message: _Message) -> None:
        """Wait for the message's next slot, for Slack's own pauses, and while anything more important is on its way."""
        earliest = max(
            self._clock.monotonic(), next_edit_at(self._pace, message.posted_at, message.edited_at)
        )
        slot, self._allowance = self._allowance.reserve(earliest)
        while True:
            wait = max(slot, self._held_until) - self._clock.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            elif self._urgent:
                await self._calm.wait()
            else:
                return

    async def _turn_in(self, place: Place) -> None:
        """Wait for the channel's next slot for a post, first come, first served.

        Posts in threads answer somebody who waits: they queue among themselves, and alerts give way to them.
        """
        now, fresh = self._clock.monotonic(), Allowance(self._posts)
        in_all, in_threads = self._channels.pop(place.channel, (fresh, fresh))
        if place.thread:
            slot, in_threads = in_threads.reserve(now)
            in_all = in_all.charge(slot)
        else:
            slot, in_all = in_all.reserve(now)
        # A channel whose allowance is full again is as one that was never written in.
        self._channels = {each: kept for each, kept in self._channels.items() if kept[0].full_at > now}
        self._channels[place.channel] = (in_all, in_threads)
        if slot > now:
            await asyncio.sleep(slot - now)

    async def _update_urgently(self, message: _Message, view: View) -> None:
        """One attempt at a final: progress waits for the attempt, not for the pause until the next one."""
        with self._urgently():
            await self._update(message, view)

    async def _update(self, message: _Message, view: View) -> None:
        if message.finished:
            self._allowance = self._allowance.charge(self._clock.monotonic())
        try:
            await self._send(
                "chat.update",
                {"channel": message.ref.channel, "ts": message.ref.id, **_UNFURL_NOTHING, **payload(view)},
            )
        except RateLimited as error:
            # The limit is the workspace's: progress stays back a little longer, so that finals go first.
            resumes = self._clock.monotonic() + error.retry_after + self._pace.spacing
            self._held_until = max(self._held_until, resumes)
            raise
        finally:
            message.edited_at = self._clock.monotonic()

    async def _send(self, method: str, arguments: Json) -> Json:
        """One call; a message whose blocks Slack refuses goes out as its plain text, and the log says which block it was."""
        try:
            return await self._api.call(method, **arguments)
        except BlocksRefused as error:
            log.error("%s The plain text is sent instead.", error)
            return await self._api.call(method, **{**arguments, "blocks": []})

    async def _persist(
        self, attempt: Callable[[], Awaitable[T]], passing: type[PlatformUnavailable] = PlatformUnavailable
    ) -> T:
        """Attempt until it works, fails for good, or patience runs out; then the last failure is raised."""
        deadline = self._clock.monotonic() + self._patience
        pause = FIRST_PAUSE
        while True:
            try:
                return await attempt()
            except passing as error:
                if isinstance(error, RateLimited):
                    wait = error.retry_after
                else:
                    wait, pause = pause, min(pause * 2, LONGEST_PAUSE)
                if self._clock.monotonic() + wait > deadline:
                    raise
            await asyncio.sleep(wait)

    async def _find(
        self, place: Place, out_id: str, since: datetime, replaced: MessageRef | None = None
    ) -> MessageRef | None:
        """The message that carries `out_id`, if Slack has it: the newest, since a successor carries its predecessor's id.

        `replaced` does not count.
        """
        method = "conversations.replies" if place.thread else "conversations.history"
        oldest = f"{(since - CLOCK_SKEW).timestamp():.6f}"
        cursor: str | None = None
        newest = ""
        while True:
            answer = await self._api.read(
                method,
                channel=place.channel,
                ts=place.thread,
                oldest=oldest,
                limit=200,
                cursor=cursor,
                include_all_metadata=True,
            )
            for message in answer.get("messages", []):
                carried = (message.get("metadata") or {}).get("event_payload") or {}
                ref = MessageRef(place.channel, message["ts"])
                if carried.get("out_id") == out_id and ref != replaced:
                    newest = max(newest, ref.id)
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or None
            # A channel's history begins with the newest message, a thread's replies end with it.
            if cursor is None or (newest and not place.thread):
                return MessageRef(place.channel, newest) if newest else None

    async def _place_of(self, message: _Message) -> Place:
        """The place of a message, asked from Slack when it was posted before a restart.

        Raises MessageGone when nobody knows: outside its thread the view would be noise for a whole channel.
        """
        if message.place is not None:
            return message.place
        channel, ts = message.ref.channel, message.ref.id
        try:
            answer = await self._api.read("conversations.replies", channel=channel, ts=ts, limit=1)
            return Place(channel, answer["messages"][0].get("thread_ts", ts))
        except (PlatformError, LookupError) as error:
            raise MessageGone(
                f"Message {ts} can't be edited any more and its thread is not known."
            ) from error

    def _current(self, ref: MessageRef) -> _Message:
        """What is known of a message, or of the one that replaced it."""
        message = self._messages.get(ref)
        if message is None:
            message = _Message(ref, None, self._clock.monotonic() - self._pace.first_after)
            self._remember(message)
        while message.successor is not None and message.successor in self._messages:
            message = self._messages[message.successor]
        return message

    def _remember(self, message: _Message) -> None:
        self._messages[message.ref] = message
        if len(self._messages) > REMEMBERED_MESSAGES:
            oldest = next(ref for ref, known in self._messages.items() if not known.is_busy)
            del self._messages[oldest]

    @contextmanager
    def _urgently(self) -> Iterator[None]:
        """While anything runs in here, progress edits wait."""
        self._urgent += 1
        self._calm.clear()
        try:
            yield
        finally:
            self._urgent -= 1
            if not self._urgent:
                self._calm.set()
