"""The audit in Redis, a list that only grows; the role `ports.Audit`."""

from collections.abc import AsyncIterator

from pydantic import TypeAdapter

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.stores.redis_link import RedisLink, script

_RECORD: TypeAdapter[AuditRecord] = TypeAdapter(AuditRecord)
PAGE = 500

_APPEND = script("redis.call('RPUSH', P .. 'audit', A[1])\nreturn 'ok'")


class RedisAudit:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def record(self, record: AuditRecord) -> None:
        await self._link.write(_APPEND, record_text(record))

    async def rows(self) -> AsyncIterator[tuple[int, AuditRecord]]:
        """Every audit row with its number, oldest first."""
        number = 0
        while page := await self._link.read("LRANGE", f"{self._link.prefix}audit", number, number + PAGE - 1):
            for text in page:
                number += 1
                yield number, _RECORD.validate_json(text)


def record_text(record: AuditRecord | None) -> str:
    """The row as JSON, empty for none."""
    return "" if record is None else _RECORD.dump_json(record).decode()
