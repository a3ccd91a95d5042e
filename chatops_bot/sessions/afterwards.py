"""What is still to be done about actions that were run: to look again, and to take back what nobody kept.

Each is dealt with by itself, so that a back end that answers slowly about one holds up no other.
"""

import asyncio
import logging
from datetime import datetime, timedelta

from chatops_bot.domain.proposal import Proposal
from chatops_bot.ports import Clock, Proposals
from chatops_bot.sessions.ending import let_go
from chatops_bot.sessions.keeping import Reverting
from chatops_bot.sessions.undoing import Undoing
from chatops_bot.sessions.watching import Watching

_log = logging.getLogger(__name__)

EVERY = timedelta(seconds=15)
"""What is due is due in minutes, so it is not read at every beat."""
AT_ONCE = 8
"""As many as the back end is asked about at a time."""
MOMENT_SECONDS = 5.0
"""What a sweep waits for those that it began; what takes longer goes on beside the next ones."""


class Afterwards:
    def __init__(
        self, *, proposals: Proposals, watching: Watching, undoing: Undoing, reverting: Reverting, clock: Clock
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._watching = watching
        self._undoing = undoing
        self._reverting = reverting
        self._clock = clock
        self._swept_at: datetime | None = None
        self._room = asyncio.Semaphore(AT_ONCE)
        self._under_way: dict[str, asyncio.Task[None]] = {}

    async def sweep(self) -> None:
        """Do what is due now; what was due while nobody was there is done late. Raises what one of them failed with at once."""
        now = self._clock.now()
        if self._swept_at is not None and now - self._swept_at < EVERY:
            return
        self._swept_at = now
        begun = []
        for proposal in await self._proposals.followed(now):
            if proposal.id not in self._under_way:
                task = asyncio.create_task(self._follow(proposal), name=f"what follows {proposal.id}")
                task.add_done_callback(_told)
                self._under_way[proposal.id] = task
                begun.append(task)
        if not begun:
            return
        done, _ = await asyncio.wait(begun, timeout=MOMENT_SECONDS)
        for task in done:
            if not task.cancelled():
                task.result()

    async def _follow(self, proposal: Proposal) -> None:
        try:
            async with self._room:
                now = self._clock.now()  # it may have waited for room
                if not await self._reverting.revert(proposal, now):
                    await self._undoing.follow(proposal, now)
                    await self._watching.look(proposal, now)
        finally:
            del self._under_way[proposal.id]

    async def rest(self, patience: float) -> None:
        """Let what a sweep began come to its end, for so many seconds; the rest is cut off, as by a crash."""
        if self._under_way:
            await asyncio.wait(self._under_way.values(), timeout=patience)
        await let_go([*self._under_way.values()])


def _told(task: asyncio.Task[None]) -> None:
    """A failure goes to the log, also where the sweep that began it has gone on or was cut off."""
    if not task.cancelled() and (failure := task.exception()) is not None:
        _log.error("%s failed", task.get_name(), exc_info=failure)
