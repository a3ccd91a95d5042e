"""Sealed values in Redis, which deletes them itself when their time is over; the role `ports.SecretValues`."""

from collections.abc import Sequence

from chatops_bot.domain.errors import StoreError
from chatops_bot.stores.redis_link import RedisLink, script

_PUT = script(
    """
    if redis.call('SET', P .. 'secret:' .. A[1], A[2], 'NX', 'PX', A[3]) then return 'ok' end
    return 'there'
    """
)
_DROP = script("for _, ref in ipairs(A) do redis.call('DEL', P .. 'secret:' .. ref) end\nreturn 'ok'")


class RedisSecretValues:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def put(self, ref: str, sealed: str, seconds: float) -> None:
        if await self._link.write(_PUT, ref, sealed, max(1, round(seconds * 1000))) == "there":
            raise StoreError("A sealed value of that reference is stored already; its reference must be new.")

    async def get(self, ref: str) -> str | None:
        sealed: str | None = await self._link.read("GET", f"{self._link.prefix}secret:{ref}")
        return sealed

    async def drop(self, refs: Sequence[str]) -> None:
        await self._link.write(_DROP, *refs)

    async def drop_overdue(self) -> None:
        """Redis has done it."""
