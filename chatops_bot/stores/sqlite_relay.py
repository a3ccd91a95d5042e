"""The relay of a process that has its SQLite file to itself; the role `ports.Relay`."""

import asyncio
import logging
from collections.abc import AsyncGenerator

_log = logging.getLogger(__name__)


class SqliteRelay:
    """There is nobody but this process."""

    def __init__(self, process: str) -> None:
        self._process = process
        self._bodies: asyncio.Queue[str] = asyncio.Queue()

    async def send(self, process: str, body: str) -> None:
        if process == self._process:
            self._bodies.put_nowait(body)
        else:
            _log.warning("process %s is no more; nothing is sent to it", process)

    async def receive(self) -> AsyncGenerator[str, None]:
        while True:
            yield await self._bodies.get()
