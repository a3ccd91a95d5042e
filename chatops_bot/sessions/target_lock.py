"""One change at a time on one target, among all processes that share the store.

Whoever comes second waits; what it then finds changed is drift. The lease is renewed while an action runs, and is given
back after an orderly end only: one that was cut off runs out by itself, unless its process is known to be dead.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.session import IsDead
from chatops_bot.ports import Clock, Leases

LEASE_SECONDS = 15.0
RENEWALS = 4
"""How often a lease is renewed in the time that it lasts, so that two failures in a row do not lose it."""
LOOK_SECONDS = 0.5
"""How often one that waits looks whether another process has given a target back; in this process it is told at once."""

_log = logging.getLogger(__name__)


class TargetLock:
    def __init__(
        self,
        leases: Leases,
        process: str,
        is_dead: IsDead,
        clock: Clock,
        seconds: float = LEASE_SECONDS,
        *,
        say_alive: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`seconds` is how long a lease lasts that nobody renews; `say_alive` renews the process's own."""
        self._leases = leases
        self._process = process
        self._is_dead = is_dead
        self._clock = clock
        self._seconds = seconds
        self._say_alive = say_alive
        self._given_back = asyncio.Event()

    async def still_held(self, proposal: Proposal) -> bool:
        """Whether the target is still the proposal's; then it is for a whole lease from now. Raises StoreError."""
        if self._say_alive is not None:
            await self._say_alive()
        return await self._leases.renew(_name(proposal), f"{self._process}/{proposal.id}", self._seconds)

    @asynccontextmanager
    async def held(
        self, proposal: Proposal, on_wait: Callable[[], Awaitable[None]]
    ) -> AsyncGenerator[int | None, None]:
        """Have the proposal's target for the block; yields the fence, or None when it was not free before the proposal expired.

        `on_wait` is called once if another change has to come to its end first.
        """
        name, holder = _name(proposal), f"{self._process}/{proposal.id}"
        fence = await self._take(name, holder, proposal, on_wait)
        if fence is None:
            yield None
            return
        keeping = asyncio.create_task(self._keep(name, holder), name=f"lease {name}")
        try:
            yield fence
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})
        await self._leases.drop(name, holder)
        self._given_back.set()
        self._given_back = asyncio.Event()

    async def _take(
        self, name: str, holder: str, proposal: Proposal, on_wait: Callable[[], Awaitable[None]]
    ) -> int | None:
        told = False
        while True:
            given_back = self._given_back
            fence = await self._leases.take(name, holder, self._seconds)
            if fence is not None:
                return fence
            other = await self._leases.holder(name)
            process = (other or "").rpartition("/")[0]
            if other and process != self._process and await self._is_dead(process):
                await self._leases.drop(name, other)
                continue
            if self._clock.now() >= proposal.expires_at:
                return None
            if not told:
                told = True
                await on_wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await given_back.wait()

    async def _keep(self, name: str, holder: str) -> None:
        while True:
            await asyncio.sleep(self._seconds / RENEWALS)
            try:
                if not await self._leases.renew(name, holder, self._seconds):
                    _log.error("%s was lost while its change ran; another change may run beside it", name)
                    return
            except StoreError as error:
                _log.warning("%s could not be renewed: %s", name, error)


def _name(proposal: Proposal) -> str:
    return f"target:{proposal.plan.target}"
