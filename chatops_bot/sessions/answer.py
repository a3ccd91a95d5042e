"""The answer message of one turn: posted at once, edited as the turn goes on, finished for good at the end.

Turn events arrive faster than any platform takes edits, so a view is made only as often as people could see it change;
the platform adapter paces further. An answer longer than one message goes on in the next. Each message carries a key, so
that recovery finds it although the process died before it was noted. A turn that has to wait shows its message already,
and a model that says nothing for a while is seen to be waited for.
"""

import asyncio
import logging
from contextlib import suppress

from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.turn_event import TurnEvent
from chatops_bot.domain.view import View
from chatops_bot.ports import Clock, Place, Platform, Turns
from chatops_bot.rendering.turn_view import TurnView

_log = logging.getLogger(__name__)

PUBLISH_INTERVAL = 0.25
"""Seconds between two views of a running turn: well under any platform's edit interval, well over a model's delta."""
SILENCE_STEP = 10
"""Seconds of silence after which people are told what is waited for, and between two such updates."""
HEARTBEAT = 1.0
"""Seconds between two looks at the clock while nothing happens."""


def page_key(turn_id: str, number: int) -> str:
    """The key under which message `number` (from 0) of a turn's answer is posted."""
    return f"{turn_id}:{number}"


class AnswerMessage:
    """`look_first`: the message may stand there already, posted by a process that ended before the turn started."""

    def __init__(
        self,
        platform: Platform,
        turns: Turns,
        turn_id: str,
        place: Place,
        view: TurnView,
        clock: Clock,
        *,
        look_first: bool = False,
        heartbeat: float = HEARTBEAT,
    ) -> None:
        self._platform = platform
        self._turns = turns
        self._turn_id = turn_id
        self._place = place
        self.view = view
        self._clock = clock
        self._look_first = look_first
        self._heartbeat = heartbeat
        self._refs: list[MessageRef] = []
        self._shown: list[View] = []
        self._changed = asyncio.Event()
        self._resting = asyncio.Event()
        self._first: asyncio.Task[None] | None = None
        self._publisher: asyncio.Task[None] | None = None
        self._heard_at = clock.monotonic()
        self._is_heard = False

    async def open(self) -> None:
        """Show the message of a turn that starts, before anything slow happens. Raises PlatformError."""
        failed_before = self._first is not None and self._first.done() and not self._refs
        self.view.wait(0)
        self._changed.set()
        first = self._begin(again=failed_before)
        await asyncio.shield(first)
        self._heard_at, self._is_heard = self._clock.monotonic(), True

    def wait(self, ahead: int) -> None:
        """Show that the turn waits for `ahead` others. Returns at once."""
        self.view.wait(ahead)
        self._changed.set()
        self._begin(again=False)

    def show(self, event: TurnEvent) -> None:
        self._heard_at = self._clock.monotonic()
        self.view.silent_for(0)
        self.view.fold(event)
        self._changed.set()

    def _begin(self, *, again: bool) -> asyncio.Task[None]:
        if self._first is None or again:
            self._first = asyncio.create_task(self._publish(), name=f"first of answer {self._turn_id}")
            self._publisher = asyncio.create_task(
                self._keep_publishing(self._first), name=f"answer {self._turn_id}"
            )
        return self._first

    async def _keep_publishing(self, first: asyncio.Task[None]) -> None:
        await first
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._heartbeat):
                    await self._changed.wait()
            if self._resting.is_set():
                return
            if not (self._changed.is_set() or self._grown_silent()):
                continue
            self._changed.clear()
            await self._publish()
            with suppress(TimeoutError):
                async with asyncio.timeout(PUBLISH_INTERVAL):
                    await self._resting.wait()

    def _grown_silent(self) -> bool:
        """Whether the silence has become long enough, or longer by a step, so that people are told."""
        silence = int(self._clock.monotonic() - self._heard_at) // SILENCE_STEP * SILENCE_STEP
        return self._is_heard and self.view.silent_for(silence)

    async def _publish(self) -> None:
        pages, posted = self.view.pages(), len(self._refs)
        await (
            self._checkpoint()
        )  # first: where another process has taken the turn over, nothing may be shown any more
        for number, page in enumerate(pages):
            if number == len(self._refs):
                self._refs.append(await self._post(number, page))
                self._shown.append(page)
            elif self._shown[number] != page:
                self._platform.edit(self._refs[number], page)
                self._shown[number] = page
        if len(self._refs) > posted:
            await self._checkpoint()

    async def _post(self, number: int, page: View) -> MessageRef:
        key = page_key(self._turn_id, number)
        if self._look_first and number == 0:
            found = await self._platform.find(self._place, key)
            if found is not None:
                self._platform.edit(found, page)
                return found
        return await self._platform.post(self._place, page, key=key)

    async def _checkpoint(self) -> None:
        last = self._refs[-1] if self._refs else None
        await self._turns.checkpoint(self._turn_id, last, self.view.snapshot())

    async def rest(self) -> None:
        """Publish nothing more, and keep the view as it now is: what recovery would show if this process died here."""
        await self._stop_publishing()
        await self._checkpoint()

    async def finish(self) -> None:
        """Show the view as it now is, for good. Raises PlatformError. Comes after `rest`."""
        for number, page in enumerate(self.view.pages()):
            if number < len(self._refs):
                self._refs[number] = await self._platform.finish(self._refs[number], page)
            else:
                self._refs.append(await self._post(number, page))

    def abandon(self) -> None:
        """Let go of what is still on its way, since nobody waits for it any more."""
        for task in (self._first, self._publisher):
            if task is not None:
                task.cancel()

    async def _stop_publishing(self) -> None:
        """Let a message that is being posted arrive: cut off, it would stand there and be posted once more."""
        self._resting.set()
        self._changed.set()
        if self._publisher is not None:
            await asyncio.wait({self._publisher})
            failure = self._publisher.exception()
            if failure is not None:
                _log.warning("turn %s: its progress could not be shown: %s", self._turn_id, failure)
            self._publisher = None
