"""The audit in Redis: a chain in one sorted set by number, which only grows; the role `ports.KeptAudit`.

A row can only be sealed by who holds the key, which Redis does not; so it is sealed here behind the head as it is known, and
the script that appends it compares the head first. Where another process was faster the script does nothing and says so,
and the row is sealed anew. A change and its row go through one script: both are done, or neither.

A row is the text `seal number key-id previous-seal body`.
"""

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import GENESIS, ChainKey, Head, Sealed, link
from chatops_bot.domain.audit_check import Row, Unreadable
from chatops_bot.domain.errors import StoreError
from chatops_bot.stores.redis_link import RedisLink, Script, script

BEHIND = "behind"
OTHERS = "others"
"""What a script answers to a turn that another process has taken over."""
DECLINED = frozenset({"lost", "there", OTHERS})
"""What a script answers that changed nothing, for a reason that has nothing to do with the audit."""
NO_NUMBER = 2**53
"""Scores are exact below this; no audit grows so long."""
TRIES = 100
"""Each failed try means that another process has appended; so many in a row mean that something else is wrong."""

AUDITED = f"""
    local head, seq, row = A[#A - 2], A[#A - 1], A[#A]
    local function behind()
        if row == '' then return false end
        local last = redis.call('ZREVRANGE', P .. 'audit', 0, 0)[1]
        return (last and string.sub(last, 1, 64) or '{GENESIS.mac}') ~= head
    end
    local function record() if row ~= '' then redis.call('ZADD', P .. 'audit', seq, row) end end
    """
"""Begins a script that is run by `RedisAudit.run`: it returns BEHIND if `behind()`, and calls `record()` with its change."""

_APPEND = script(f"{AUDITED}\nif behind() then return '{BEHIND}' end\nrecord()\nreturn 'ok'")


class RedisAuditReader:
    """The chain as it is stored; the role `ports.AuditReader`."""

    def __init__(self, redis: RedisLink) -> None:
        self._redis = redis

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, prefix: str) -> AsyncGenerator["RedisAuditReader", None]:
        """For a command beside the running bots. Reading raises StoreError when the server cannot be reached."""
        redis = RedisLink.to(url, "chatops-audit", prefix=prefix, patience=0)
        try:
            yield cls(redis)
        finally:
            await redis.aclose()

    async def head(self) -> Head:
        """Of the newest row; `GENESIS` when there is none."""
        newest = await self._redis.read("ZREVRANGE", self._rows, 0, 0, "WITHSCORES")
        if not newest:
            return GENESIS
        text, score = newest
        if not _is_number(score):
            raise StoreError(
                f"The newest row of the audit in Redis at {self._redis.where} has no whole number; verify it with "
                "`chatops-bot audit verify`, and remove what does not belong there."
            )
        return Head(int(score), text[:64])

    async def page(self, after: int, size: int) -> list[Row]:
        """At most `size` rows whose numbers are greater than `after`, oldest first."""
        if after >= NO_NUMBER:
            return []
        found = await self._redis.read(
            "ZRANGEBYSCORE", self._rows, f"({after}", "+inf", "WITHSCORES", "LIMIT", 0, size
        )
        if len(found) == 2 * size:  # of rows that claim one number, none must fall over the page's edge
            last = found[-1]
            found = [
                *(
                    word
                    for pair in zip(found[::2], found[1::2], strict=True)
                    if pair[1] != last
                    for word in pair
                ),
                *await self._redis.read("ZRANGEBYSCORE", self._rows, last, last, "WITHSCORES"),
            ]
        return [_row(score, text) for text, score in zip(found[::2], found[1::2], strict=True)]

    @property
    def _rows(self) -> str:
        return f"{self._redis.prefix}audit"


class RedisAudit(RedisAuditReader):
    def __init__(self, redis: RedisLink, key: ChainKey) -> None:
        super().__init__(redis)
        self._key = key
        self._known: Head | None = None
        self._one_at_a_time = asyncio.Lock()
        """Tasks of one process would only be behind each other."""

    async def record(self, record: AuditRecord) -> None:
        await self.run(_APPEND, record=record)

    async def run(self, change: Script, *arguments: str | int, record: AuditRecord | None) -> str:
        """The answer of a script that begins with AUDITED and has appended `record`, if any, in the same step."""
        if record is None:
            return await self._redis.write(change, *arguments, "", "", "")
        async with self._one_at_a_time:
            for _ in range(TRIES):
                head = self._known or await self.head()
                self._known = None  # until it is certain how the write ended
                row = link(self._key, head, record)
                answer = await self._redis.write(change, *arguments, head.mac, row.seq, _text(row))
                if answer != BEHIND:
                    self._known = head if answer in DECLINED else row.head
                    return answer
        raise StoreError(
            f"The audit in Redis at {self._redis.where} grows so fast that nothing can be added."
        )


def _text(row: Sealed) -> str:
    return f"{row.mac} {row.seq} {row.key_id} {row.prev} {row.body}"


def _is_number(score: str) -> bool:
    """Whether a score, as Redis writes it, is the number of a row."""
    return score.isascii() and score.isdecimal()


def _row(score: str, text: str) -> Row:
    if not _is_number(score):
        # Behind all rows that it stands behind, so that the next page goes on.
        place = math.ceil(float(score)) if abs(float(score)) < NO_NUMBER else NO_NUMBER
        return Unreadable(place, "it has no whole number")
    seq = int(score)
    parts = text.split(" ", 4)
    if len(parts) != 5 or parts[1] != str(seq):
        return Unreadable(seq, "it is no row of an audit")
    mac, _, key_id, prev, body = parts
    return Sealed(seq, key_id, prev, mac, body)
