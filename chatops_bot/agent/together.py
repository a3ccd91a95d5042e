"""Calls that run at the same time, and one failure of theirs, as it was raised.

A bare `asyncio.TaskGroup` wraps what fails in it, and no `except` of this program would know a lost turn or an absent store
inside such a group. So this is the only kind that is opened.
"""

import asyncio
from types import TracebackType

from chatops_bot.domain.errors import TurnLost


class Together(asyncio.TaskGroup):
    """A TaskGroup. When one of its tasks or its body fails, the rest is cancelled, and then that failure is raised itself.

    Of several at once it is a TurnLost, if there is one: whoever has lost the turn has nothing else to tell. Otherwise, where
    the caller is cancelled, that is what comes out: what fails while it unwinds is no reason of its end.
    """

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, trace)
        except BaseExceptionGroup as failures:
            lost = [failure for failure in failures.exceptions if isinstance(failure, TurnLost)]
            caller = asyncio.current_task()
            if not lost and caller is not None and caller.cancelling():
                raise asyncio.CancelledError from None
            raise (lost or failures.exceptions)[0] from None
