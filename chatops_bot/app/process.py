"""The life of one process: until SIGTERM, Ctrl-C, or the end of the parent that holds its stdin."""

import asyncio
import logging
import os
import signal
import threading
from dataclasses import dataclass, field
from typing import Any

_log = logging.getLogger(__name__)

ONE_WISH_SECONDS = 0.5
"""Signals this close together are one wish: Ctrl-C in a terminal reaches a child from the terminal and from its launcher."""
END_SECONDS = 24.0
"""A process that was told to end is gone after this time, whatever hangs in it."""


@dataclass
class Stop:
    """`asked` is set when this process should end, `hurried` when it should end without waiting for anything.

    `limit`: seconds after which it is ended for good, whatever hangs in it; None for never.
    """

    limit: float | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hurried: asyncio.Event = field(default_factory=asyncio.Event)
    _asked_at: float = 0.0

    def ask(self) -> None:
        """Told once: end. Told again later: at once."""
        now = asyncio.get_running_loop().time()
        if not self.asked.is_set():
            self._asked_at = now
            self._end()
        elif now - self._asked_at > ONE_WISH_SECONDS:
            self.hurried.set()

    def abandoned(self) -> None:
        """The parent is gone: nobody waits for this process, and the next one may want its files."""
        if not self.asked.is_set():
            self._end()
        self.hurried.set()

    def _end(self) -> None:
        self.asked.set()
        if self.limit is not None:
            end_within(self.limit)


def stop_wishes(*, with_parent: bool = False, limit: float | None = None) -> Stop:
    """What becomes of signals to this process. Call it once, inside the running loop.

    `with_parent`: stdin is a pipe that only the parent holds open; its end means that the parent is gone, however it went.
    """
    stop = Stop(limit)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.ask)
    if with_parent:
        threading.Thread(
            target=_wait_for_end_of_stdin, args=(loop, stop), daemon=True, name="parent watch"
        ).start()
    return stop


def _wait_for_end_of_stdin(loop: asyncio.AbstractEventLoop, stop: Stop) -> None:
    while os.read(0, 1024):
        pass
    if not loop.is_closed():
        loop.call_soon_threadsafe(stop.abandoned)


def end_within(seconds: float) -> None:
    """End this process for good after `seconds`, on a thread that nothing in it can hold up."""

    def end() -> None:
        _log.error(
            "this process did not end within %g s and is cut off; the next start recovers the rest", seconds
        )
        logging.shutdown()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


async def unless(stop: asyncio.Event, work: asyncio.Future[Any]) -> bool:
    """Wait for `work`; False, with `work` cancelled, when told to stop first. Raises what `work` raises."""
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({stopped, work}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not work.done():
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        return False
    work.result()
    return True
