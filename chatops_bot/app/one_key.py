"""All living bots of a store seal with one key.

A record that is sealed with an older key than the one before it is called broken, and what another key sealed cannot be
proved; so a bot whose key is another than that of the bots that live does not start. The key's id is the holder of a lease
that all bots renew: when the last of them is gone, so is the lease, and the next start names the key anew.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from chatops_bot.domain.errors import StoreError
from chatops_bot.ports import Leases

_log = logging.getLogger(__name__)

KEY_LEASE = "key"
BEATS = 3
"""How often in the time of a lease it is renewed."""
OTHER_KEY = "Bots with another CHATOPS_KEY run on this store; stop all of them, then start them all with the same keys."


@asynccontextmanager
async def one_key(leases: Leases, key_id: str, seconds: float) -> AsyncGenerator[None, None]:
    """Seal with this key inside. Waits as long as a bot that is no more may still count for living.

    Raises StoreError while bots with another key live.
    """
    if await leases.take(KEY_LEASE, key_id, seconds) is None:
        _log.info("bots with another key ran on this store a moment ago; waiting until they count for gone")
        await _taken(leases, key_id, seconds)
    keeping = asyncio.create_task(_keep(leases, key_id, seconds), name="lease of the key")
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def _taken(leases: Leases, key_id: str, seconds: float) -> None:
    """Take the lease once it has run out; whoever lives renews it before that."""
    for _ in range(BEATS + 1):
        await asyncio.sleep(seconds / BEATS)
        if await leases.take(KEY_LEASE, key_id, seconds) is not None:
            return
    raise StoreError(OTHER_KEY)


async def _keep(leases: Leases, key_id: str, seconds: float) -> None:
    told = False
    while True:
        await asyncio.sleep(seconds / BEATS)
        try:
            is_held = await leases.take(KEY_LEASE, key_id, seconds) is not None
        except StoreError:  # the store was away; who lives takes it anew
            continue
        if not is_held and not told:
            _log.error("%s", OTHER_KEY)
        told = not is_held
