"""The API's bodies, read from whichever spelling the service uses.

The Go service writes untagged structs: PascalCase keys, year 1 for a time that is not set, JSON inside strings. Other
routes, and other services, write snake_case. All of it becomes one shape here; keys that nobody knows are dropped.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(key: str) -> str:
    """`GRPCAddr` becomes `grpc_addr`; a key in snake_case stays as it is."""
    return _WORD_START.sub("_", key).lower()


def _unset_to_none(value: Any) -> Any:
    """Go's zero time, in any zone, and an empty text stand for "not set"."""
    return None if isinstance(value, str) and (not value or value.startswith("0001-01-01")) else value


def _json_text_to_value(value: Any) -> Any:
    """The value inside a JSON text; a text that is no JSON stays as it is, an empty one is None."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value else None
    except ValueError:
        return value


Moment = Annotated[datetime | None, BeforeValidator(_unset_to_none)]
JsonText = Annotated[Any, BeforeValidator(_json_text_to_value)]

FAILED_STATUSES = frozenset({"failed", "timeout"})
FINISHED_STATUSES = frozenset({"success", "failed", "timeout", "cancelled"})


class Body(BaseModel):
    """A body in either casing; a null counts as absent."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _normalise_keys(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        return {snake_case(str(key)): value for key, value in data.items() if value is not None}


class Task(Body):
    id: int
    name: str
    type: str = ""
    cron_expr: str = ""
    payload: str = ""
    image: str = ""
    status: str = ""
    timeout_seconds: int = 0
    max_retry: int = 0
    retry_policy: str = ""
    retry_on_errors: str = ""
    route_strategy: str = ""
    labels: JsonText = None
    timezone: str = ""
    next_trigger_time: Moment = None

    @property
    def is_paused(self) -> bool:
        return self.status == "disabled"


class Run(Body):
    """A task instance: one attempt to run a task."""

    id: int
    task_id: int
    schedule_instance_id: str = ""
    status: str = ""
    worker_id: str = ""
    trigger_time: Moment = None
    started_at: Moment = None
    finished_at: Moment = None
    created_at: Moment = None
    retry_count: int = 0
    error_code: str = ""
    error_message: str = ""
    analysis_json: JsonText = None
    retry_of_instance_id: int = 0

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED_STATUSES

    @property
    def moment(self) -> datetime | None:
        """When the run belongs in time."""
        return self.trigger_time or self.created_at

    @property
    def has_failed(self) -> bool:
        return self.status in FAILED_STATUSES


class Worker(Body):
    id: str
    hostname: str = ""
    status: str = ""
    current_load: int = 0
    max_concurrency: int = 0
    last_heartbeat_at: Moment = None


class LoadSample(Body):
    worker_id: str
    current_load: int = 0
    max_concurrency: int = 0
    status: str = ""
    recorded_at: Moment = None


class DagNode(Body):
    """A task with the ids of the tasks that it waits for."""

    id: int
    name: str
    depends_on: tuple[int, ...] = ()


class RunPage(Body):
    """A page of runs, newest first; `total` is None where the service gave a bare array."""

    instances: tuple[Run, ...] = ()
    total: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_bare_array(cls, data: Any) -> Any:
        return {"instances": data} if isinstance(data, list) else data


class Login(Body):
    token: str
    role: str = ""
    expires_in: float = 3600


class LogTail(Body):
    """The end of a run's output."""

    content: str = ""


class Executor(Body):
    """Whether a service runs one type of task at all."""

    enabled: bool = True


class Capabilities(Body):
    """What a service adds to the Go service's API. `timezone` is the zone that it reads cron expressions in."""

    service: str = "scheduler"
    api_version: int = 1
    extensions: frozenset[str] = frozenset()
    timezone: str = ""
    shell: Executor = Field(default_factory=Executor)
    container: Executor = Field(default_factory=Executor)

    @property
    def version(self) -> str:
        return f"{self.service}, API version {self.api_version}"

    def runs(self, task_type: str) -> bool:
        executor = {"shell": self.shell, "container": self.container}.get(task_type)
        return executor is None or executor.enabled
