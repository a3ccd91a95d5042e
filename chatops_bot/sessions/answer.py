"""The answer message of one turn: posted at once, edited as the turn goes on, finished for good at the end.

Turn events arrive faster than any platform takes edits, so a view is made only as often as people could see it change;
the platform adapter paces further. An answer longer than one message goes on in the next. Each message carries a key, so
that recovery finds it although the process died before it was noted.
"""

import asyncio
import logging
from contextlib import suppress

from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.turn_event import TurnEvent
from chatops_bot.domain.view import View
from chatops_bot.ports import Place, Platform, Turns
from chatops_bot.rendering.turn_view import TurnView

_log = logging.getLogger(__name__)

PUBLISH_INTERVAL = 0.25
"""Seconds between two views of a running turn: well under any platform's edit interval, well over a model's delta."""


def page_key(turn_id: str, number: int) -> str:
    """The key under which message `number` (from 0) of a turn's answer is posted."""
    return f"{turn_id}:{number}"


class AnswerMessage:
    def __init__(self, platform: Platform, turns: Turns, turn_id: str, place: Place, view: TurnView) -> None:
        self._platform = platform
        self._turns = turns
        self._turn_id = turn_id
        self._place = place
        self.view = view
        self._refs: list[MessageRef] = []
        self._shown: list[View] = []
        self._changed = asyncio.Event()
        self._resting = asyncio.Event()
        self._publisher: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Post the message, before anything slow happens. Raises PlatformError."""
        first = asyncio.create_task(self._publish(), name=f"first of answer {self._turn_id}")
        self._publisher = asyncio.create_task(self._keep_publishing(first), name=f"answer {self._turn_id}")
        await asyncio.shield(first)

    def show(self, event: TurnEvent) -> None:
        self.view.fold(event)
        self._changed.set()

    async def _keep_publishing(self, first: asyncio.Task[None]) -> None:
        await first
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._resting.is_set():
                return
            await self._publish()
            with suppress(TimeoutError):
                async with asyncio.timeout(PUBLISH_INTERVAL):
                    await self._resting.wait()

    async def _publish(self) -> None:
        for number, page in enumerate(self.view.pages()):
            if number == len(self._refs):
                self._refs.append(await self._post(number, page))
                self._shown.append(page)
            elif self._shown[number] != page:
                self._platform.edit(self._refs[number], page)
                self._shown[number] = page
        await self._checkpoint()

    async def _post(self, number: int, page: View) -> MessageRef:
        return await self._platform.post(self._place, page, key=page_key(self._turn_id, number))

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
