"""Which processes of a shared store live: one judgement, for all who would take something from a process that is dead.

A process says by a lease that it lives. That a lease is gone proves little: while the store was away no lease could be renewed,
and whoever comes back first finds all others gone. So another process is dead only when it left in good order, or when this
one has seen nothing of it for as long as a lease lasts, counted anew from the moment at which this one was itself unheard.
"""

import asyncio

from chatops_bot.ports import Store, process_lease

LEASE_SECONDS = 15.0
"""A lease that is not renewed is over after this long. Longer than any pause of a healthy process."""
LEFT_SECONDS = 3600.0
"""How long it is remembered that a process left in good order; after that it is judged like any other."""


class Liveness:
    def __init__(
        self, store: Store, seconds: float = LEASE_SECONDS, *, patience: float | None = None
    ) -> None:
        """`patience` is how long another must be seen to be absent, a lease's time unless given; none is needed where no
        other process can have the store."""
        self._leases = store.leases
        self._me = store.process
        self.seconds = seconds
        self._patience = seconds if patience is None else patience
        self._absent_since: dict[str, float] = {}
        self._heard_again = float("-inf")
        self._was_unheard = False

    async def join(self) -> None:
        """Say that this process lives. Comes before it takes anything in. Raises StoreError."""
        await self._leases.take(process_lease(self._me), self._me, self.seconds)

    async def renew(self) -> None:
        """Say so again. Raises StoreError."""
        if not await self._leases.renew(process_lease(self._me), self._me, self.seconds):
            # Where it was the store that was silent, the others are about to say that they live.
            self._heard_again, self._was_unheard = asyncio.get_running_loop().time(), True
            await self.join()

    def was_unheard(self) -> bool:
        """Whether its lease had run out since this was asked last, so that others may have taken it for dead."""
        was, self._was_unheard = self._was_unheard, False
        return was

    async def leave(self) -> None:
        """Say that this process is no more, so that another takes what it leaves at its next beat. Raises StoreError."""
        await self._leases.take(_left(self._me), self._me, LEFT_SECONDS)
        await self._leases.drop(process_lease(self._me), self._me)

    async def is_dead(self, other: str) -> bool:
        """Whether another process, by its name, runs no more. Raises StoreError."""
        if other == self._me:
            return False
        if await self._leases.holder(process_lease(other)) is not None:
            self._absent_since.pop(other, None)
            return False
        if self._patience == 0 or await self._leases.holder(_left(other)) is not None:
            return True
        now = asyncio.get_running_loop().time()
        since = self._absent_since.setdefault(other, now)
        return now >= max(since, self._heard_again) + self._patience


def _left(process: str) -> str:
    """The lease that says that a process left in good order."""
    return f"left:{process}"
