"""What is closed because its time is over: proposals and forms are looked at, at a beat, as long as the bot runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from chatops_bot.domain.errors import ChatopsError

_log = logging.getLogger(__name__)

EXPIRY_SWEEP_SECONDS = 5.0


async def sweep(
    works: Mapping[str, Callable[[], Awaitable[None]]], every: float = EXPIRY_SWEEP_SECONDS
) -> None:
    """Run each of `works` every so many seconds, until cancelled. One that fails is tried again and holds up no other."""
    while True:
        await asyncio.sleep(every)
        for name, work in works.items():
            try:
                await work()
            except ChatopsError as error:
                _log.error("the sweep of %s failed and is tried again: %s", name, error)
