"""Pushes to the open pages of each person, over WebSockets."""

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from chatops_bot.simulators.slack.identity import Person

# A page that has fallen this far behind is cut off; it reloads its state when it reconnects.
BACKLOG = 1000


class Live:
    """Fan-out to pages: `push` never waits for a slow page."""

    def __init__(self) -> None:
        self._queues: dict[str, set[asyncio.Queue[dict[str, Any] | None]]] = {}

    def push(self, people: Iterable[Person], event: dict[str, Any]) -> None:
        for person in people:
            for queue in self._queues.get(person.key, ()):
                with contextlib.suppress(asyncio.QueueFull):
                    queue.put_nowait(event)

    async def serve(self, request: web.Request, person: Person) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(heartbeat=20, timeout=0.5)
        await socket.prepare(request)
        queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(BACKLOG)
        self._queues.setdefault(person.key, set()).add(queue)
        writer = asyncio.create_task(self._write(socket, queue))
        try:
            async for _ in socket:
                pass
        finally:
            self._queues[person.key].discard(queue)
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await writer
        return socket

    def close(self) -> None:
        """Let every page's socket end."""
        for queues in self._queues.values():
            for queue in queues:
                with contextlib.suppress(asyncio.QueueFull):
                    queue.put_nowait(None)

    @staticmethod
    async def _write(socket: web.WebSocketResponse, queue: asyncio.Queue[dict[str, Any] | None]) -> None:
        while True:
            event = await queue.get()
            # Nearly full after a read means that events were dropped while the page did not read.
            if event is None or queue.qsize() >= BACKLOG - 1:
                await socket.close(code=1001)
                return
            try:
                await socket.send_json(event)
            except ConnectionError:
                return
