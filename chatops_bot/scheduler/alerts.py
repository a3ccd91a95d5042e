"""Failure alerts through a stored outbox.

The alert is written in the transaction that ended the run and posted afterwards, again and again with growing pauses,
until the receiver answers 2xx. A receiver that starts later, or a restart of this service, loses nothing; a receiver
may see one alert twice and can tell by the `Idempotency-Key` header.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from dataclasses import dataclass

import aiohttp

from chatops_bot.scheduler.clock import SECOND, Clock, to_wire
from chatops_bot.scheduler.database import Database

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 10.0
_POST_TIMEOUT = aiohttp.ClientTimeout(total=5)
_KEEP_DELIVERED = 7 * 24 * 3_600 * SECOND


@dataclass(frozen=True, slots=True)
class Alert:
    """One message for the receiver; `dedupe_key` names the run that failed."""

    dedupe_key: str
    body: str


@dataclass(frozen=True, slots=True)
class _Waiting:
    id: int
    alert: Alert
    attempts: int


def timestamp(now: int) -> str:
    """The time of an alert, RFC 3339 in UTC."""
    return to_wire(now)


def enqueue(conn: sqlite3.Connection, alert: Alert, now: int) -> None:
    """Store an alert; a second one for the same run is dropped."""
    conn.execute(
        "INSERT OR IGNORE INTO outbox (dedupe_key, body, attempts, next_attempt_at, last_error, created_at)"
        " VALUES (?, ?, 0, ?, '', ?)",
        (alert.dedupe_key, alert.body, now, now),
    )


def undelivered(conn: sqlite3.Connection) -> int:
    """How many alerts still wait."""
    return int(conn.execute("SELECT count(*) FROM outbox WHERE delivered_at IS NULL").fetchone()[0])


def pause_after(attempts: int) -> float:
    """Seconds until the next try after `attempts` failed ones: 0.5, 1, 2, 4, 8, 10, 10, ..."""
    return min(FIRST_PAUSE_SECONDS * 2.0 ** min(attempts - 1, 10), LONGEST_PAUSE_SECONDS)


class AlertOutbox:
    """Posts stored alerts to one URL, oldest first."""

    def __init__(
        self, database: Database, http: aiohttp.ClientSession, clock: Clock, url: str, token: str | None
    ) -> None:
        self._database = database
        self._http = http
        self._clock = clock
        self._url = url
        self._token = token
        self.wake = asyncio.Event()

    async def run(self) -> None:
        """Deliver for ever."""
        while True:
            self.wake.clear()
            for waiting in await self._database.read(lambda conn: _due(conn, self._clock.now())):
                await self._deliver(waiting)
            await self._clock.wait_until(await self._database.read(_next_attempt), self.wake)

    async def _deliver(self, waiting: _Waiting) -> None:
        problem = await self._post(waiting.alert)
        now = self._clock.now()
        if problem is None:
            await self._database.write(lambda conn: _mark_delivered(conn, waiting.id, now))
            logger.info("alert for %s delivered", waiting.alert.dedupe_key)
            return
        attempts = waiting.attempts + 1
        again = now + round(pause_after(attempts) * SECOND)
        await self._database.write(lambda conn: _mark_failed(conn, waiting.id, attempts, again, problem))
        if attempts in (1, 10) or attempts % 100 == 0:
            logger.warning(
                "alert for %s not delivered after %d tries: %s", waiting.alert.dedupe_key, attempts, problem
            )

    async def _post(self, alert: Alert) -> str | None:
        """None when the receiver took it, else why not."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": alert.dedupe_key}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            async with self._http.post(
                self._url,
                data=alert.body.encode(),
                headers=headers,
                timeout=_POST_TIMEOUT,
                allow_redirects=False,
            ) as response:
                return None if 200 <= response.status < 300 else f"the receiver answered {response.status}"
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return f"{type(error).__name__}"


def _due(conn: sqlite3.Connection, now: int) -> list[_Waiting]:
    rows = conn.execute(
        "SELECT id, dedupe_key, body, attempts FROM outbox WHERE delivered_at IS NULL AND next_attempt_at <= ?"
        " ORDER BY id LIMIT 100",
        (now,),
    )
    return [_Waiting(row[0], Alert(row[1], row[2]), row[3]) for row in rows]


def _next_attempt(conn: sqlite3.Connection) -> int | None:
    row = conn.execute("SELECT min(next_attempt_at) FROM outbox WHERE delivered_at IS NULL").fetchone()
    return None if row[0] is None else int(row[0])


def _mark_delivered(conn: sqlite3.Connection, alert_id: int, now: int) -> None:
    conn.execute("UPDATE outbox SET delivered_at = ?, attempts = attempts + 1 WHERE id = ?", (now, alert_id))
    conn.execute("DELETE FROM outbox WHERE delivered_at < ?", (now - _KEEP_DELIVERED,))


def _mark_failed(conn: sqlite3.Connection, alert_id: int, attempts: int, again: int, problem: str) -> None:
    conn.execute(
        "UPDATE outbox SET attempts = ?, next_attempt_at = ?, last_error = ? WHERE id = ?",
        (attempts, again, problem, alert_id),
    )
