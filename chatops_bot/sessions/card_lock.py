"""One edit of a card at a time, among all processes that share the store, so that an older state never covers a newer one.

Whoever edits has a lease on the card until the store knows what the card shows; whoever comes second then sees that, and
leaves a card alone that shows something newer.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from chatops_bot.ports import Leases
from chatops_bot.sessions.target_lock import IsDead

LEASE_SECONDS = 15.0
"""An edit that is not through after this long is waiting for its platform, and must not hold up others for ever."""
LOOK_SECONDS = 0.1


class CardLock:
    def __init__(self, leases: Leases, process: str, is_dead: IsDead) -> None:
        self._leases = leases
        self._process = process
        self._is_dead = is_dead
        self._numbers = itertools.count(1)

    @asynccontextmanager
    async def held(self, card_of: str) -> AsyncGenerator[None, None]:
        """Have the card of the proposal or form `card_of` for the block."""
        name, holder = f"card:{card_of}", f"{self._process}/{next(self._numbers)}"
        while await self._leases.take(name, holder, LEASE_SECONDS) is None:
            other = await self._leases.holder(name)
            if other and await self._is_dead(other.rpartition("/")[0]):
                await self._leases.drop(name, other)
            else:
                await asyncio.sleep(LOOK_SECONDS)
        try:
            yield
        finally:
            await self._leases.drop(name, holder)
