"""The life of one process: until SIGTERM, Ctrl-C, or the end of the parent that holds its stdin."""

import asyncio
import os
import signal
import threading
from typing import Any


def stop_event(*, with_parent: bool = False) -> asyncio.Event:
    """An event that is set when this process should end. Call it once, inside the running loop.

    `with_parent`: stdin is a pipe that only the parent holds open; its end means that the parent is gone, however it went.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if with_parent:
        threading.Thread(
            target=_wait_for_end_of_stdin, args=(loop, stop), daemon=True, name="parent watch"
        ).start()
    return stop


def _wait_for_end_of_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while os.read(0, 1024):
        pass
    if not loop.is_closed():
        loop.call_soon_threadsafe(stop.set)


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
