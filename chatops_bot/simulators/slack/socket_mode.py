"""Socket Mode: one-time tickets, envelopes, acknowledgements, redelivery.

Events live in the database until they are acknowledged. An event that is due is sent to one open socket and its
next attempt is scheduled at once, for when the acknowledgement stays out; the acknowledgement deletes it. With no
socket open nothing is due, so events raised meanwhile are kept and go out, in order, at the next connection. An
interaction is sent once: no acknowledgement in time is the person's error message.
"""

import asyncio
import contextlib
import json
import logging
import secrets
import sqlite3
import time
import uuid
from collections.abc import Callable
from typing import Any

from aiohttp import WSMsgType, web

from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.errors import AppNotResponding
from chatops_bot.simulators.slack.faults import Faults
from chatops_bot.simulators.slack.settings import Settings

log = logging.getLogger(__name__)

Json = dict[str, Any]
BATCH = 50


def record_event(connection: sqlite3.Connection, payload: Json) -> None:
    """Keep an event for delivery, in the transaction of what it reports."""
    connection.execute(
        "INSERT INTO events (payload, attempt, due_at) VALUES (?, 0, 0)", (json.dumps(payload),)
    )


class SocketMode:
    """The bot's side door. `on_presence` is called with whether any socket is open, whenever that changes."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        app_id: str,
        on_presence: Callable[[bool], None],
        faults: Faults,
    ) -> None:
        self._database = database
        self._settings = settings
        self._app_id = app_id
        self._on_presence = on_presence
        self._faults = faults
        self._tickets: dict[str, float] = {}
        self._sockets: list[web.WebSocketResponse] = []
        self._transports: dict[web.WebSocketResponse, asyncio.Transport] = {}
        self._sent_events: dict[str, tuple[int, web.WebSocketResponse]] = {}
        self._requests: dict[str, asyncio.Future[Json]] = {}
        self._wake = asyncio.Event()

    @property
    def online(self) -> bool:
        return bool(self._sockets)

    def wake(self) -> None:
        """Tell the pump that an event was recorded."""
        self._wake.set()

    def issue_ticket(self) -> str:
        now = time.monotonic()
        self._tickets = {ticket: expiry for ticket, expiry in self._tickets.items() if expiry > now}
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = now + self._settings.ticket_seconds
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One connection of the bot, from hello to close."""
        expiry = self._tickets.pop(request.query.get("ticket", ""), 0.0)
        if expiry < time.monotonic():
            return web.Response(
                status=403, text="This ticket was used or has expired; call apps.connections.open."
            )
        socket = web.WebSocketResponse(heartbeat=20, timeout=0.5)
        await socket.prepare(request)
        if len(self._sockets) >= self._settings.sockets_most:
            await self._say_goodbye(socket, "too_many_websockets")
            await socket.close(code=1000)
            return socket
        await socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._sockets) + 1,
                "connection_info": {"app_id": self._app_id},
                "debug_info": {"host": "workspace", "build_number": 1, "approximate_connection_time": 18060},
            }
        )
        self._sockets.append(socket)
        if request.transport is not None:
            self._transports[socket] = request.transport
        if len(self._sockets) == 1:
            self._on_presence(True)
        self._wake.set()
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    await self._received(message.data)
        finally:
            await self._closed(socket)
        return socket

    async def request(self, payload: Json) -> Json:
        """Send an interaction and return what the bot acknowledged with ({} for a bare acknowledgement).

        Raises AppNotResponding when no socket is open or the acknowledgement does not come in time.
        """
        if not self._sockets:
            raise AppNotResponding
        envelope_id = str(uuid.uuid4())
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._requests[envelope_id] = answer
        envelope = {"envelope_id": envelope_id, "type": "interactive", "accepts_response_payload": True}
        try:
            await self._next_socket().send_json({**envelope, "payload": payload})
            async with asyncio.timeout(self._settings.ack_seconds):
                return await answer
        except (TimeoutError, ConnectionError) as error:
            raise AppNotResponding from error
        finally:
            del self._requests[envelope_id]

    async def disconnect(self, reason: str) -> None:
        """Ask the bot to connect anew, as Slack does every few hours: `warning` comes ahead of the others, which close."""
        for socket in list(self._sockets):
            with contextlib.suppress(ConnectionError):
                await self._say_goodbye(socket, reason)
                if reason != "warning":
                    await socket.close(code=1000)

    def reset(self) -> None:
        """Cut every connection without a word."""
        for transport in self._transports.values():
            transport.abort()

    async def _say_goodbye(self, socket: web.WebSocketResponse, reason: str) -> None:
        await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "workspace"}})

    async def close(self) -> None:
        await asyncio.gather(*(socket.close(code=1001) for socket in list(self._sockets)))

    async def pump(self) -> None:
        """Deliver due events until cancelled."""
        while True:
            self._wake.clear()
            wait: float | None = None
            if self._sockets:
                due, wait = await self._database.run(self._take_due)
                for event_id, attempt, payload in due:
                    await self._deliver(event_id, attempt, payload)
            # Not wait_for: in Python 3.11 it swallows a cancellation that meets a wake-up.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake.wait()

    def _take_due(self, connection: sqlite3.Connection) -> tuple[list[tuple[int, int, str]], float | None]:
        """Due events as (id, attempt, payload), each already scheduled for its next attempt; seconds to the next."""
        now, delays = time.time(), self._settings.redelivery_delays
        connection.execute("DELETE FROM events WHERE attempt > ? AND due_at <= ?", (len(delays), now))
        rows = connection.execute(
            "SELECT id, attempt, payload FROM events WHERE due_at <= ? ORDER BY id LIMIT ?", (now, BATCH)
        ).fetchall()
        for event_id, attempt, _ in rows:
            delay = delays[attempt] if attempt < len(delays) else 0.0
            connection.execute(
                "UPDATE events SET attempt = attempt + 1, due_at = ? WHERE id = ?",
                (now + self._settings.ack_seconds + delay, event_id),
            )
        upcoming = connection.execute("SELECT MIN(due_at) FROM events").fetchone()[0]
        return rows, None if upcoming is None else max(0.0, upcoming - now)

    async def _deliver(self, event_id: int, attempt: int, payload: str) -> None:
        body = json.loads(payload)
        fault = self._faults.for_event(body["event"])
        how = None if fault is None else fault.fault
        if how == "drop":
            # Sent, as far as Slack knows: the acknowledgement stays out and the next attempt comes.
            return
        if fault is not None and how == "delay":
            await self._put_back([(event_id, attempt)], time.time() + fault.seconds)
            return
        for turn in range(2 if how in ("duplicate", "twice") else 1):
            if not self._sockets:
                await self._put_back([(event_id, attempt)])
                return
            socket = self._sockets[-1] if turn and how == "duplicate" else self._next_socket()
            await self._send_event(socket, event_id, attempt, body)

    async def _send_event(
        self, socket: web.WebSocketResponse, event_id: int, attempt: int, body: Json
    ) -> None:
        envelope_id = str(uuid.uuid4())
        self._sent_events[envelope_id] = (event_id, socket)
        envelope = {"envelope_id": envelope_id, "type": "events_api", "accepts_response_payload": False}
        retry = {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""}
        try:
            await socket.send_json({**envelope, **retry, "payload": body})
        except ConnectionError:
            await self._put_back([(event_id, attempt)])

    async def _put_back(self, events: list[tuple[int, int]], due_at: float = 0.0) -> None:
        """Give an event that was never sent its attempt back."""
        await self._database.run(
            lambda connection: connection.executemany(
                "UPDATE events SET attempt = ?, due_at = ? WHERE id = ?",
                [(attempt, due_at, event_id) for event_id, attempt in events],
            )
        )
        self._wake.set()

    async def _received(self, data: str) -> None:
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            log.warning("The bot sent a frame that is not JSON; it is ignored.")
            return
        envelope_id = message.get("envelope_id") if isinstance(message, dict) else None
        if not isinstance(envelope_id, str):
            return
        if (answer := self._requests.get(envelope_id)) is not None:
            if not answer.done():
                payload = message.get("payload")
                answer.set_result(payload if isinstance(payload, dict) else {})
        elif (sent := self._sent_events.pop(envelope_id, None)) is not None:
            await self._database.run(
                lambda connection: connection.execute("DELETE FROM events WHERE id = ?", (sent[0],))
            )

    async def _closed(self, socket: web.WebSocketResponse) -> None:
        """What the socket was sent and did not acknowledge has failed: its next attempt counts from now."""
        self._transports.pop(socket, None)
        if socket in self._sockets:
            self._sockets.remove(socket)
            if not self._sockets:
                self._on_presence(False)
        lost = {
            envelope: event for envelope, (event, sent_on) in self._sent_events.items() if sent_on is socket
        }
        for envelope_id in lost:
            del self._sent_events[envelope_id]
        if lost:
            await self._database.run(
                lambda connection: connection.executemany(
                    "UPDATE events SET due_at = MIN(due_at, ?) WHERE id = ? AND attempt = 1",
                    [(time.time(), event_id) for event_id in lost.values()],
                )
            )
        self._wake.set()

    def _next_socket(self) -> web.WebSocketResponse:
        """Slack gives a payload to any one of the open sockets; here they take turns."""
        self._sockets.append(self._sockets.pop(0))
        return self._sockets[-1]
