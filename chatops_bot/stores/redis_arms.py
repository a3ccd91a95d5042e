"""How turns ended under each text of an agent, in Redis; the role `ports.Arms`.

A hash with a field for each text, a character a turn, oldest first, x for one that failed; and the set of those that are paused.
"""

from collections.abc import Sequence

from chatops_bot.stores.redis_link import RedisLink, script

_ENDED = script(
    """
    local ends = (redis.call('HGET', P .. 'arms', A[1]) or '') .. A[2]
    redis.call('HSET', P .. 'arms', A[1], string.sub(ends, -tonumber(A[3])))
    return 'ok'
    """
)
_PAUSE = script("return tostring(redis.call('SADD', P .. 'arms-paused', A[1]))")
_FORGET = script("redis.call('DEL', P .. 'arms', P .. 'arms-paused')\nreturn 'ok'")


class RedisArms:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def ended(self, agent_id: str, text: str, most: int, *, failed: bool) -> None:
        await self._link.write(_ENDED, f"{agent_id}:{text}", "x" if failed else ".", most)

    async def turns(self, agent_id: str, text: str) -> Sequence[bool]:
        ends = await self._link.read("HGET", f"{self._link.prefix}arms", f"{agent_id}:{text}")
        return [end == "x" for end in ends or ""]

    async def pause(self, agent_id: str, text: str) -> bool:
        return await self._link.write(_PAUSE, f"{agent_id}:{text}") == "1"

    async def paused(self) -> frozenset[tuple[str, str]]:
        members = await self._link.read("SMEMBERS", f"{self._link.prefix}arms-paused")
        pairs = (member.split(":", 1) for member in members)
        return frozenset((agent_id, text) for agent_id, text in pairs)

    async def forget(self) -> None:
        await self._link.write(_FORGET)
