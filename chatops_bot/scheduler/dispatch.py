"""The loop that makes runs happen: fire what is due, hand waiting runs to workers, sleep until the next time.

It sleeps until the earliest known moment or until `wake` is set by whoever changed something, so nothing is polled and
nothing is late by more than the clock's own resolution.
"""

from __future__ import annotations

import asyncio
import logging

import aiohttp

from chatops_bot.scheduler import lifecycle, workers
from chatops_bot.scheduler.clock import SECOND, Clock
from chatops_bot.scheduler.database import Database
from chatops_bot.scheduler.lifecycle import Assignment, Policy
from chatops_bot.scheduler.records import Instance, Worker
from chatops_bot.scheduler.states import RunStatus

logger = logging.getLogger(__name__)

_SEND_TIMEOUT = aiohttp.ClientTimeout(total=5)


class Dispatcher:
    """Owns the trigger loop and the connection to workers."""

    def __init__(
        self,
        database: Database,
        http: aiohttp.ClientSession,
        clock: Clock,
        policy: Policy,
        *,
        worker_token: str,
        own_url: str,
        changed: asyncio.Event,
    ) -> None:
        self._database = database
        self._http = http
        self._clock = clock
        self._policy = policy
        self._headers = {"Authorization": f"Bearer {worker_token}"}
        self._own_url = own_url
        self._changed = changed
        self._sending: set[asyncio.Task[None]] = set()
        self.wake = asyncio.Event()

    async def run(self) -> None:
        """Dispatch for ever; cancelling it also drops hand-overs under way (a restart recovers those runs)."""
        try:
            while True:
                self.wake.clear()
                worked = await self.run_due()
                due = await self._database.read(lifecycle.next_due)
                if not worked and due is not None and due <= self._clock.now():
                    due = None  # what is due finds no worker; one that gets room sets `wake`
                await self._clock.wait_until(due, self.wake)
        finally:
            for task in self._sending:
                task.cancel()
            await asyncio.gather(*self._sending, return_exceptions=True)

    async def run_due(self) -> int:
        """One pass: fire due tasks, assign waiting runs, start sending them. How many were fired and assigned."""
        # The time is read inside the transaction: a run must not be dispatched before it was triggered.
        fired = await self._database.write(
            lambda conn: lifecycle.fire_due(conn, self._clock.now(), self._policy)
        )
        assigned = await self._database.write(lambda conn: lifecycle.assign(conn, self._clock.now()))
        for assignment in assigned:
            task = asyncio.create_task(self._send(assignment))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        return fired + len(assigned)

    async def tell_to_cancel(self, run: Instance, worker: Worker) -> None:
        """Ask the worker to stop a run; a worker that can't be reached is only logged, the run has ended here."""
        problem = await self._post(
            worker, "/internal/tasks/cancel", {"schedule_instance_id": run.schedule_instance_id}
        )
        if problem is not None:
            logger.warning(
                "worker %s was not told to stop %s: %s", worker.id, run.schedule_instance_id, problem
            )

    async def _send(self, assignment: Assignment) -> None:
        run, task, worker = assignment.run, assignment.task, assignment.worker
        request = {
            "schedule_instance_id": run.schedule_instance_id,
            "task_id": task.id,
            "task_type": task.type,
            "payload": task.payload,
            "image": task.image,
            "timeout_seconds": task.timeout_seconds,
            "retry_count": run.retry_count,
            "shard_no": 0,
            "shard_total": 1,
            "idempotency_key": run.schedule_instance_id,
            "scheduler_url": self._own_url,
        }
        problem = await self._post(worker, "/internal/tasks/execute", request)
        if problem is None:
            return
        now = self._clock.now()
        text = f"worker {worker.id} did not take the run: {problem}"
        await self._database.write(
            lambda conn: lifecycle.finish(
                conn,
                run,
                RunStatus.FAILED,
                now,
                self._policy,
                error_code="dispatch_failed",
                error_message=text,
            )
        )
        self._changed.set()
        self.wake.set()

    async def _post(self, worker: Worker, path: str, body: dict[str, object]) -> str | None:
        url = worker.callback_url.rstrip("/") + path
        try:
            async with self._http.post(
                url, json=body, headers=self._headers, timeout=_SEND_TIMEOUT
            ) as response:
                return None if response.status in (200, 202) else f"it answered {response.status}"
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return type(error).__name__


class Housekeeping:
    """Finds silent workers and samples loads."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        policy: Policy,
        *,
        offline_after: float,
        sample_every: float,
        changed: asyncio.Event,
    ) -> None:
        self._database = database
        self._clock = clock
        self._policy = policy
        self._offline_after = round(offline_after * SECOND)
        self._sample_every = round(sample_every * SECOND)
        self._changed = changed
        self._never = asyncio.Event()

    async def run(self) -> None:
        """Sweep for ever."""
        sample_at = self._clock.now()
        while True:
            now = self._clock.now()
            if now >= sample_at:
                await self._database.write(lambda conn, now=now: workers.sample_loads(conn, now))  # type: ignore[misc]  # mypy can't type a default in a lambda
                sample_at = now + self._sample_every
            if await self.evict_silent_workers():
                self._changed.set()
            await self._clock.wait_until(min(sample_at, now + self._offline_after // 3), self._never)

    async def evict_silent_workers(self) -> int:
        """Take workers that fell silent offline and fail their runs; how many runs."""
        now = self._clock.now()
        silent = await self._database.write(
            lambda conn: workers.mark_offline(conn, now - self._offline_after)
        )
        if not silent:
            return 0
        logger.warning("workers offline: %s", ", ".join(silent))
        return await self._database.write(
            lambda conn: lifecycle.fail_lost_runs(conn, silent, now, self._policy)
        )
