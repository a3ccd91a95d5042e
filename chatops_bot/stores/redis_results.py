"""Long results of tools in Redis, which deletes them itself when their time is over; the role `ports.Results`."""

from chatops_bot.domain.session import SessionKey
from chatops_bot.stores.redis_link import RedisLink, script

_PUT = script("redis.call('SET', P .. 'result:' .. A[1], A[2], 'PX', A[3])\nreturn 'ok'")


class RedisResults:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def put(self, session: SessionKey, handle: str, content: str, seconds: float) -> None:
        await self._link.write(_PUT, _name(session, handle), content, max(1, round(seconds * 1000)))

    async def get(self, session: SessionKey, handle: str) -> str | None:
        content: str | None = await self._link.read(
            "GET", f"{self._link.prefix}result:{_name(session, handle)}"
        )
        return content


def _name(session: SessionKey, handle: str) -> str:
    """The length in front keeps a handle that looks like the end of a session from naming another one's result."""
    key = str(session)
    return f"{len(key)}:{key}:{handle}"
