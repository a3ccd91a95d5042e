"""The audit of a bot on this machine, read beside it, page by page."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from chatops_bot.app.config import Config
from chatops_bot.domain.audit_check import Row
from chatops_bot.ports import AuditReader
from chatops_bot.stores.sqlite_audit import SqliteAuditReader

PAGE = 500
"""Rows that are in memory at once."""


@contextmanager
def open_audit(folder: Path, config: Config | None) -> Iterator[AuditReader]:
    """The audit of the bot that `Where.find` found. Raises StoreError when it cannot be read."""
    with SqliteAuditReader.open(config.store_path if config else folder / "bot.db") as reader:
        yield reader


async def all_rows(reader: AuditReader, after: int = 0) -> AsyncIterator[Row]:
    """Every row whose number is greater than `after`, oldest first."""
    while rows := await reader.page(after, PAGE):
        for row in rows:
            yield row
        after = rows[-1].seq
