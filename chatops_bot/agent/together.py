"""Calls that run at the same time, and one failure of theirs, as it was raised.

A bare `asyncio.TaskGroup` wraps what fails in it, and no `except` of this program would know a lost turn or an absent store
inside such a group. So this is the only place where one is opened.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chatops_bot.domain.errors import TurnLost


@asynccontextmanager
async def together() -> AsyncIterator[asyncio.TaskGroup]:
    """A TaskGroup. When one of its tasks or its body fails, the rest is cancelled, and then that failure is raised itself.

    Of several at once it is a TurnLost, if there is one: whoever has lost the turn has nothing else to tell. Otherwise, where
    the caller is cancelled, that is what comes out: what fails while it unwinds is no reason of its end.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        lost = [failure for failure in failures.exceptions if isinstance(failure, TurnLost)]
        caller = asyncio.current_task()
        if not lost and caller is not None and caller.cancelling():
            raise asyncio.CancelledError from None
        raise (lost or failures.exceptions)[0] from None
