"""The API's operations in typed form, as one role sees them.

Every method raises only `ToolFailed`s; a thing that does not exist is `NotFound`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from chatops_bot.domain.people import Role
from chatops_bot.toolsets.scheduler import errors
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.wire import (
    Capabilities,
    DagNode,
    LoadSample,
    LogTail,
    Run,
    RunPage,
    Task,
    Worker,
)

T = TypeVar("T")

# Names of extensions, as GET /api/v1/capabilities lists them.
RETRY = "task_instances.retry"
LOGS = "task_instances.logs"
WORKER_LOADS = "worker_loads"

_WHEN_USED = ConfigDict(defer_build=True)
_TASKS = TypeAdapter(tuple[Task, ...], config=_WHEN_USED)
_NODES = TypeAdapter(tuple[DagNode, ...], config=_WHEN_USED)
_WORKERS = TypeAdapter(tuple[Worker, ...], config=_WHEN_USED)
_SAMPLES = TypeAdapter(tuple[LoadSample, ...], config=_WHEN_USED)


@dataclass(frozen=True, slots=True)
class SchedulerApi:
    """The scheduler as `role` may use it."""

    client: SchedulerClient
    role: Role

    async def tasks(self) -> tuple[Task, ...]:
        """Every task, ordered by id."""
        tasks = await self._read("/api/v1/tasks", _TASKS.validate_python)
        return tuple(sorted(tasks, key=lambda task: task.id))

    async def task(self, task_id: int) -> Task:
        return await self._read(f"/api/v1/tasks/{task_id}", Task.model_validate)

    async def dag(self) -> tuple[DagNode, ...]:
        return await self._read("/api/v1/tasks/dag", _NODES.validate_python)

    async def run(self, run_id: int) -> Run:
        return await self._read(f"/api/v1/task-instances/{run_id}", Run.model_validate)

    async def run_page(self, *, limit: int, offset: int = 0, task_id: int | None = None) -> RunPage:
        """A page of runs, newest first. Never filtered by status: the Go service then answers with the oldest."""
        params: dict[str, str | int] = {"limit": limit, "offset": offset}
        if task_id is not None:
            params["task_id"] = task_id
        return await self._read("/api/v1/task-instances", RunPage.model_validate, params)

    async def workers(self) -> tuple[Worker, ...]:
        return await self._read("/api/v1/workers", _WORKERS.validate_python)

    async def capabilities(self) -> Capabilities:
        """What the service adds to the Go service's API; nothing when it does not know the question."""
        try:
            return await self._read("/api/v1/capabilities", Capabilities.model_validate)
        except (errors.NotFound, errors.ProtocolBroken):
            return Capabilities()

    async def log_tail(self, run_id: int, characters: int) -> str:
        """The last characters of a run's output, from the beginning of a line. Only with the extension LOGS."""
        log = await self._read(
            f"/api/v1/task-instances/{run_id}/logs", LogTail.model_validate, {"tail": characters}
        )
        return tail(log.content, characters)

    async def worker_loads(self, *, worker_id: str, hours: int, limit: int) -> tuple[LoadSample, ...]:
        """Load samples, newest first. Raises NotSupported where neither address keeps them."""
        params: dict[str, str | int] = {"hours": hours, "limit": limit}
        if worker_id:
            params["worker_id"] = worker_id
        if WORKER_LOADS in (await self.capabilities()).extensions:
            return await self._read("/api/v1/worker-loads", _SAMPLES.validate_python, params)
        if not self.client.worker_loads_url:
            raise errors.load_history_not_supported(self.client.host)
        reply = await self.client.get_open(f"{self.client.worker_loads_url}/api/v1/worker-loads", params)
        return self._parsed(_SAMPLES.validate_python, reply.body)

    async def create_task(self, body: Mapping[str, Any], key: str) -> Task:
        reply = await self.client.write(self.role, "POST", "/api/v1/tasks", body=body, idempotency_key=key)
        return self._parsed(Task.model_validate, reply.body, writing=True)

    async def set_paused(self, task_id: int, paused: bool, key: str) -> None:
        action = "pause" if paused else "resume"
        await self.client.write(self.role, "POST", f"/api/v1/tasks/{task_id}/{action}", idempotency_key=key)

    async def trigger(self, task_id: int, key: str) -> int | None:
        """Ask for a run; its id where the service tells it, else None."""
        reply = await self.client.write(
            self.role, "POST", f"/api/v1/tasks/{task_id}/trigger", idempotency_key=key
        )
        run_id = reply.headers.get("X-Instance-ID", "")
        return int(run_id) if run_id.isdecimal() else None

    async def retry(self, run_id: int, key: str) -> Run:
        """The new run that retries a failed one. Only with the extension RETRY."""
        reply = await self.client.write(
            self.role, "POST", f"/api/v1/task-instances/{run_id}/retry", idempotency_key=key
        )
        return self._parsed(Run.model_validate, reply.body, writing=True)

    async def delete_task(self, task_id: int, key: str) -> None:
        await self.client.write(self.role, "DELETE", f"/api/v1/tasks/{task_id}", idempotency_key=key)

    async def _read(
        self, path: str, parse: Callable[[Any], T], params: Mapping[str, str | int] | None = None
    ) -> T:
        reply = await self.client.get(self.role, path, params)
        return self._parsed(parse, reply.body)

    def _parsed(self, parse: Callable[[Any], T], body: Any, *, writing: bool = False) -> T:
        try:
            return parse(body)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "body"
            what = f"{where}: {first['msg']}"
            raise errors.protocol_broken(self.client.host, what, writing=writing) from error


def tail(text: str, characters: int) -> str:
    """The last `characters`, or what the service says they are, less the line that the cut may have torn.

    Half a secret is not recognised as one, so what remains of a torn line, or of a torn word where it is all one line, is
    left out.
    """
    kept = text[-characters:]
    if len(text) < characters:
        return kept
    _, newline, lines = kept.partition("\n")
    return lines if newline else [*kept.split(maxsplit=1), "", ""][1]
