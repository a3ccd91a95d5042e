"""What is still to be done about actions that were run: to look again, and to take back what nobody kept."""

from datetime import datetime, timedelta

from chatops_bot.ports import Clock, Proposals
from chatops_bot.sessions.keeping import Reverting
from chatops_bot.sessions.undoing import Undoing
from chatops_bot.sessions.watching import Watching

EVERY = timedelta(seconds=15)
"""What is due is due in minutes, so it is not read at every beat."""


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

    async def sweep(self) -> None:
        """Do what is due now; what was due while nobody was there is done late."""
        now = self._clock.now()
        if self._swept_at is not None and now - self._swept_at < EVERY:
            return
        self._swept_at = now
        for proposal in await self._proposals.followed(now):
            if not await self._reverting.revert(proposal, now):
                await self._undoing.follow(proposal, now)
                await self._watching.look(proposal, now)
