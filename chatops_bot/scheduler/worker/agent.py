"""The worker: registers, says that it lives, takes runs, reports how they end.

It knows the scheduler by URL and a token. A report is repeated until the scheduler takes it; a run that is sent twice
runs once.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import aiohttp

from chatops_bot.scheduler.bodies import ExecuteRequest, TaskType
from chatops_bot.scheduler.clock import SECOND, Clock, to_wire
from chatops_bot.scheduler.states import RunStatus
from chatops_bot.scheduler.worker.container import run_container
from chatops_bot.scheduler.worker.http_get import HttpGetter
from chatops_bot.scheduler.worker.outcome import Outcome, unavailable
from chatops_bot.scheduler.worker.sandbox import Sandbox
from chatops_bot.scheduler.worker.shell import run_shell

logger = logging.getLogger(__name__)

_CALL_TIMEOUT = aiohttp.ClientTimeout(total=10)
_JSON = {"Content-Type": "application/json"}
_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0
# Ended runs that are remembered, so that a late second hand-over of one doesn't run it again.
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Who the worker is and what it may run; times in seconds."""

    worker_id: str
    hostname: str
    scheduler_url: str
    callback_url: str
    token: str
    concurrency: int
    shell_enabled: bool
    sandbox: Sandbox
    heartbeat_seconds: float
    kill_grace_seconds: float


class WorkerAgent:
    """Runs what it's told; `run` keeps it registered, `close` kills everything it started."""

    def __init__(self, settings: WorkerSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._http = aiohttp.ClientSession(headers={"Authorization": f"Bearer {settings.token}"})
        self._getter = HttpGetter(settings.scheduler_url)
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._stops: dict[str, asyncio.Event] = {}
        self._faults: set[asyncio.Task[None]] = set()
        self._taken: OrderedDict[str, None] = OrderedDict()
        self._never = asyncio.Event()

    async def register(self) -> None:
        """Register, trying again until the scheduler answers."""
        settings = self._settings
        await self._call_until_taken(
            "/api/v1/workers/register",
            {
                "worker_id": settings.worker_id,
                "hostname": settings.hostname,
                "ip": "127.0.0.1",
                "callback_url": settings.callback_url,
                "protocol": "http",
                "max_concurrency": settings.concurrency,
                "labels": {"kind": "embedded"},
            },
        )

    async def run(self) -> None:
        """Send heartbeats for ever; register again when the scheduler doesn't know this worker."""
        while True:
            beat_at = self._clock.now() + round(self._settings.heartbeat_seconds * SECOND)
            while self._clock.now() < beat_at:
                await self._clock.wait_until(beat_at, self._never)
            body = {
                "worker_id": self._settings.worker_id,
                "current_load": len(self._runs),
                "running_tasks": len(self._runs),
                "report_unix_milli": self._clock.now() // 1_000,
            }
            if await self._call("/api/v1/workers/heartbeat", body) == 404:
                await self.register()

    def execute(self, request: ExecuteRequest) -> None:
        """Start a run; one that was taken before is ignored."""
        name = request.schedule_instance_id
        if name in self._taken:
            return
        self._taken[name] = None
        if len(self._taken) > _REMEMBERED:
            self._taken.popitem(last=False)
        self._stops[name] = asyncio.Event()
        run = asyncio.create_task(self._carry_out(request), name=name)
        self._runs[name] = run
        run.add_done_callback(self._ended)

    def cancel(self, schedule_instance_id: str) -> bool:
        """Ask a run to stop; False when it isn't here."""
        stop = self._stops.get(schedule_instance_id)
        if stop is None:
            return False
        stop.set()
        return True

    @property
    def load(self) -> int:
        """How many runs are under way."""
        return len(self._runs)

    async def close(self) -> None:
        """Kill every payload at once and report nothing; the scheduler's next start accounts for them."""
        runs = [*self._runs.values(), *self._faults]
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)
        await self._getter.close()
        await self._http.close()

    async def _carry_out(self, request: ExecuteRequest) -> None:
        name = request.schedule_instance_id
        started = self._clock.now()
        await self._report(name, RunStatus.RUNNING, started_at=to_wire(started))
        outcome = await self._run_payload(request, self._stops[name])
        await self._report(
            name,
            outcome.status,
            started_at=to_wire(started),
            finished_at=to_wire(self._clock.now()),
            error_code=outcome.error_code,
            error_message=outcome.message,
            log={
                "content": outcome.log,
                "total_bytes": outcome.log_bytes,
                "truncated": outcome.log_truncated,
            },
        )

    def _ended(self, run: asyncio.Task[None]) -> None:
        """Forget a run. One that this program's own fault ended is reported as failed, not left running for ever."""
        name = run.get_name()
        self._stops.pop(name, None)
        del self._runs[name]
        fault = None if run.cancelled() else run.exception()
        if fault is None:
            return
        logger.error("run %s ended by a fault of the worker", name, exc_info=fault)
        text = f"the worker failed: {type(fault).__name__}"
        report = self._report(name, RunStatus.FAILED, error_code="execute_failed", error_message=text)
        apology = asyncio.create_task(report, name=f"{name} (fault)")
        self._faults.add(apology)
        apology.add_done_callback(self._faults.discard)

    async def _run_payload(self, request: ExecuteRequest, stop: asyncio.Event) -> Outcome:
        if request.task_type is TaskType.HTTP:
            return await self._getter.run(request.payload, request.timeout_seconds, stop)
        if request.task_type is TaskType.CONTAINER:
            return run_container()
        if not self._settings.shell_enabled:
            return unavailable("shell payloads are disabled on this worker: start it with --shell enabled")
        return await run_shell(
            request.payload,
            request.timeout_seconds,
            self._settings.sandbox,
            stop,
            self._settings.kill_grace_seconds,
        )

    async def _report(self, name: str, status: RunStatus, **facts: Any) -> None:
        body = {
            "schedule_instance_id": name,
            "worker_id": self._settings.worker_id,
            "status": status.value,
        }
        await self._call_until_taken("/api/v1/task-instances/report", body | facts)

    async def _call_until_taken(self, path: str, body: dict[str, Any]) -> None:
        """Repeat until the scheduler takes it; a 4xx will never be taken and is logged."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            status = await self._call(path, body)
            if status is not None and status < 500:
                if status >= 400:
                    logger.error("the scheduler refused %s with %d", path, status)
                return
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    async def _call(self, path: str, body: dict[str, Any]) -> int | None:
        """The status, or None when the scheduler couldn't be reached."""
        # A report carries up to 1 MiB of log; a file object is sent in pieces and doesn't hold up the event loop.
        data = io.BytesIO(json.dumps(body, ensure_ascii=False).encode())
        url = self._settings.scheduler_url + path
        try:
            async with self._http.post(url, data=data, headers=_JSON, timeout=_CALL_TIMEOUT) as reply:
                return reply.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            logger.warning("%s not delivered: %s", path, type(error).__name__)
            return None
