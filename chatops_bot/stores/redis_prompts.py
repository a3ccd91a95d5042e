"""Kept prompts in Redis, which deletes the texts itself when their time is over; the role `ports.Prompts`.

A set of all hashes, each with the time until which it is kept, finds a prompt by the beginning of its hash.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from chatops_bot.domain.kept_prompt import KeptPrompt, PromptRef, verified
from chatops_bot.stores.codec import prompt_from, prompt_text
from chatops_bot.stores.redis_link import RedisLink, script

PAGE = 1000
"""Hashes that the server looks at in one step, so that nobody else waits for it."""

_PUT = script(
    """
    local time = redis.call('TIME')
    local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + A[6]
    local prefix = P .. 'prompt-prefix:' .. A[3]
    if redis.call('PTTL', prefix) < tonumber(A[6]) then redis.call('SET', prefix, A[4], 'PX', A[6]) end
    redis.call('SET', P .. 'prompt:' .. A[1] .. ':' .. A[2], A[5], 'PX', A[6])
    redis.call('ZADD', P .. 'prompts', until_ms, A[1] .. ':' .. A[2])
    return 'ok'
    """
)
_DROP = script(
    """
    local time = redis.call('TIME')
    redis.call('ZREMRANGEBYSCORE', P .. 'prompts', '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
    return 'ok'
    """
)


class RedisPromptReader:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, prefix: str) -> "AsyncGenerator[RedisPromptReader, None]":
        """For a command beside the running bots. Reading raises StoreError when the server cannot be reached."""
        link = RedisLink.to(url, "chatops-prompts", prefix=prefix, patience=0)
        try:
            yield cls(link)
        finally:
            await link.aclose()

    async def get(self, agent_id: str, prompt_hash: str) -> KeptPrompt | None:
        body = await self._link.read("GET", f"{self._link.prefix}prompt:{prompt_hash}:{agent_id}")
        if body is None:
            return None
        kept = prompt_from(body, "", prompt_hash)
        prefix = await self._link.read("GET", f"{self._link.prefix}prompt-prefix:{kept.prefix_hash}")
        return None if prefix is None else verified(prompt_from(body, prefix, prompt_hash))

    async def find(self, beginning: str) -> list[PromptRef]:
        found: set[tuple[str, str]] = set()
        cursor = "0"
        while True:
            cursor, pairs = await self._link.read(
                "ZSCAN", f"{self._link.prefix}prompts", cursor, "MATCH", f"{beginning}*", "COUNT", PAGE
            )
            for member, _ in pairs:
                prompt_hash, _, agent_id = member.partition(":")
                found.add((prompt_hash, agent_id))
            if str(cursor) == "0":
                break
        refs = [PromptRef(agent_id, prompt_hash) for prompt_hash, agent_id in sorted(found)]
        return [ref for ref in refs if await self._is_kept(ref)]

    async def _is_kept(self, ref: PromptRef) -> bool:
        key = f"{self._link.prefix}prompt:{ref.prompt_hash}:{ref.agent_id}"
        return bool(await self._link.read("EXISTS", key))


class RedisPrompts(RedisPromptReader):
    async def put(self, prompt: KeptPrompt, seconds: float) -> None:
        milliseconds = max(1, round(seconds * 1000))
        await self._link.write(
            _PUT, prompt.prompt_hash, prompt.agent_id, prompt.prefix_hash, prompt.prefix, prompt_text(prompt), milliseconds
        )  # fmt: skip

    async def drop_overdue(self) -> None:
        """Redis has deleted the texts; their hashes go here."""
        await self._link.write(_DROP)
