"""Leases and the relay between processes, in Redis; the roles `ports.Leases` and `ports.Relay`.

Leases run out by the server's clock, so that no two machines need agree on the time. What a process is sent stands in a
stream of its own until it is done with it: a read that was cut off has perhaps delivered something already, or will as long
as the server has not noticed, so what was delivered and not done is read first, and again after each quiet time.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from chatops_bot.domain.errors import StoreError
from chatops_bot.stores.redis_link import RedisLink, script

_log = logging.getLogger(__name__)

BLOCK_SECONDS = 2.0
READ_SECONDS = 7.0
"""What a blocking read may take: longer than it blocks, or the client would call every quiet time a failure."""
PAUSE_SECONDS = 0.5
KEPT_SECONDS = 3600
"""A stream that nobody reads any more goes after an hour."""
OPENED_ANEW_SECONDS = KEPT_SECONDS / 6
"""How often a reader keeps its own from going."""

# That a process lives or left only itself can say, once: no successor's words need be told from its own, and no number is kept.
_TAKE = script(
    """
    local lease = P .. 'lease:' .. A[1]
    local found = redis.call('HMGET', lease, 'holder', 'fence')
    if found[1] and found[1] ~= A[2] then return '' end
    local is_life = string.find(A[1], '^process:') or string.find(A[1], '^left:')
    local fence = found[2] or is_life and '1' or tostring(redis.call('HINCRBY', P .. 'fences', A[1], 1))
    redis.call('HSET', lease, 'holder', A[2], 'fence', fence)
    redis.call('PEXPIRE', lease, A[3])
    return fence
    """
)

_HELD = """
    local lease = P .. 'lease:' .. A[1]
    if redis.call('HGET', lease, 'holder') ~= A[2] then return '' end
    """

_RENEW = script(_HELD + "redis.call('PEXPIRE', lease, A[3])\nreturn 'ok'")

_DROP = script(_HELD + "redis.call('DEL', lease)\nreturn 'ok'")

_SEND = script(
    f"""
    redis.call('XADD', P .. 'relay:' .. A[1], '*', 'body', A[2])
    redis.call('EXPIRE', P .. 'relay:' .. A[1], {KEPT_SECONDS})
    return 'ok'
    """
)

_OPEN = script(
    f"""
    redis.pcall('XGROUP', 'CREATE', P .. 'relay:' .. A[1], 'bot', '0', 'MKSTREAM')
    redis.call('EXPIRE', P .. 'relay:' .. A[1], {KEPT_SECONDS})
    return 'ok'
    """
)

_DONE = script(
    """
    redis.call('XACK', P .. 'relay:' .. A[1], 'bot', A[2])
    redis.call('XDEL', P .. 'relay:' .. A[1], A[2])
    return 'ok'
    """
)


class RedisLeases:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def take(self, name: str, holder: str, seconds: float) -> int | None:
        fence = await self._link.write(_TAKE, name, holder, _milliseconds(seconds))
        return int(fence) if fence else None

    async def renew(self, name: str, holder: str, seconds: float) -> bool:
        return bool(await self._link.write(_RENEW, name, holder, _milliseconds(seconds)))

    async def drop(self, name: str, holder: str) -> None:
        await self._link.write(_DROP, name, holder)

    async def holder(self, name: str) -> str | None:
        found: str | None = await self._link.read("HGET", f"{self._link.prefix}lease:{name}", "holder")
        return found


class RedisRelay:
    """`reading` is a link of its own, since its reads block: see `READ_SECONDS`."""

    def __init__(self, link: RedisLink, reading: RedisLink, opened_anew: float = OPENED_ANEW_SECONDS) -> None:
        self._link = link
        self._reading = reading
        self._opened_anew = opened_anew

    async def send(self, process: str, body: str) -> None:
        await self._link.write(_SEND, process, body)

    async def receive(self) -> AsyncGenerator[str, None]:
        me, told = self._link.name, ""
        while True:
            try:
                await self._link.write(_OPEN, me)
                async with aclosing(self._delivered()) as delivered:
                    async for number, body in delivered:
                        told = ""
                        yield body
                        await self._link.write(_DONE, me, number)
            except StoreError as error:
                if str(error) != told:
                    told = str(error)
                    _log.warning("what other processes send cannot be read at the moment: %s", error)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _delivered(self) -> AsyncGenerator[tuple[str, str], None]:
        """First what was delivered before and not done, then what is new. Ends by raising StoreError."""
        me, position = self._link.name, "0"
        stream, loop = f"{self._link.prefix}relay:{me}", asyncio.get_running_loop()
        opened = loop.time()
        while True:
            if loop.time() - opened >= self._opened_anew:
                opened = loop.time()
                await self._link.write(_OPEN, me)
            answer = await self._reading.wait(
                "XREADGROUP", "GROUP", "bot", me, "COUNT", 1, "BLOCK", int(BLOCK_SECONDS * 1000),
                "STREAMS", stream, position,
            )  # fmt: skip
            entries = answer[0][1] if answer else []
            if not entries:
                position = ">" if position == "0" else "0"
            for number, fields in entries:
                if fields:
                    yield number, fields["body"]
                else:  # its stream was cut meanwhile
                    await self._link.write(_DONE, me, number)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
