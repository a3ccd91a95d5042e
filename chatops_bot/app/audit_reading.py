"""The audit of a bot, read beside it, page by page."""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from chatops_bot.app.config import Config, load_redis_url
from chatops_bot.domain.audit_check import Row
from chatops_bot.ports import AuditReader
from chatops_bot.stores.redis_audit import RedisAuditReader
from chatops_bot.stores.sqlite_audit import SqliteAuditReader

PAGE = 500
"""Rows that are in memory at once."""


@asynccontextmanager
async def open_audit(
    folder: Path, config: Config | None, env: Mapping[str, str] = os.environ
) -> AsyncGenerator[AuditReader, None]:
    """The audit of the bot that `Where.find` found. Raises ConfigInvalid or StoreError when it cannot be read."""
    if config is not None and config.store.redis_url_env:
        async with RedisAuditReader.open(load_redis_url(config, env), config.store.redis_prefix) as reader:
            yield reader
    else:
        with SqliteAuditReader.open(config.store_path if config else folder / "bot.db") as reader:
            yield reader


async def all_rows(reader: AuditReader, after: int = 0) -> AsyncIterator[Row]:
    """Every row whose number is greater than `after`, oldest first."""
    while rows := await reader.page(after, PAGE):
        for row in rows:
            yield row
        after = rows[-1].seq
