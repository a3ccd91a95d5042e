"""What clients may send, checked field by field.

Unknown keys are ignored and missing ones get the Go service's defaults. A refusal is `Invalid("<field>: <reason>")`.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from chatops_bot.scheduler import cron
from chatops_bot.scheduler.clock import from_wire
from chatops_bot.scheduler.errors import Invalid
from chatops_bot.scheduler.retry import RetryPolicy
from chatops_bot.scheduler.states import RunStatus

Body = TypeVar("Body", bound="RequestBody")

LONGEST_TIMEOUT_SECONDS = 86_400
_DEFAULT_TIMEOUT_SECONDS = 300


class TaskType(StrEnum):
    """How a payload is read."""

    SHELL = "shell"
    HTTP = "http"
    CONTAINER = "container"


class TaskStatus(StrEnum):
    """Whether a task comes due."""

    ENABLED = "enabled"
    DISABLED = "disabled"


class RouteStrategy(StrEnum):
    """How a worker is picked."""

    ROUND_ROBIN = "round_robin"
    LEAST_LOADED = "least_loaded"


class RequestBody(BaseModel):
    """A JSON object from a client."""

    model_config = ConfigDict(extra="ignore", strict=True)


class Login(RequestBody):
    """POST /api/auth/login."""

    username: str
    password: str


class TaskUpsert(RequestBody):
    """POST and PUT of a task. A PUT replaces everything: what it leaves out returns to the default."""

    name: Annotated[str, Field(max_length=128)]
    type: str
    cron_expr: Annotated[str, Field(max_length=64)] = ""
    payload: Annotated[str, Field(max_length=65_536)] = ""
    image: Annotated[str, Field(max_length=512)] = ""
    status: str = TaskStatus.ENABLED
    timeout_seconds: int = _DEFAULT_TIMEOUT_SECONDS
    max_retry: Annotated[int, Field(le=100)] = 0
    retry_policy: str = RetryPolicy.FIXED_INTERVAL
    retry_on_errors: Annotated[str, Field(max_length=512)] = ""
    retry_interval_seconds: Annotated[int, Field(ge=0, le=LONGEST_TIMEOUT_SECONDS)] = 1
    route_strategy: str = RouteStrategy.ROUND_ROBIN
    labels: dict[str, str] | None = None
    timezone: str = ""
    next_trigger_time: str | None = None
    tenant_id: int = 0
    depends_on: list[int] | None = None

    @field_validator("name")
    @classmethod
    def _has_a_name(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("is required")
        return value.strip()

    @field_validator("type")
    @classmethod
    def _known_type(cls, value: str) -> str:
        return _one_of(value, TaskType)

    @field_validator("status", "retry_policy", "route_strategy")
    @classmethod
    def _known_word(cls, value: str, info: Any) -> str:
        words: dict[str, type[StrEnum]] = {
            "status": TaskStatus,
            "retry_policy": RetryPolicy,
            "route_strategy": RouteStrategy,
        }
        # An empty word is what the Go console sends for "default", and each enum opens with its default.
        known = words[info.field_name]
        return _one_of(value, known) if value else next(iter(known)).value

    @field_validator("cron_expr")
    @classmethod
    def _strict_cron(cls, value: str) -> str:
        return cron.parse(value).text if value.strip() else ""

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        if value:
            cron.load_zone(value)
        return value

    @field_validator("timeout_seconds")
    @classmethod
    def _sane_timeout(cls, value: int) -> int:
        if not 0 <= value <= LONGEST_TIMEOUT_SECONDS:
            raise ValueError(f"must be 1 to {LONGEST_TIMEOUT_SECONDS}")
        return value or _DEFAULT_TIMEOUT_SECONDS

    @field_validator("max_retry")
    @classmethod
    def _floor_of_zero(cls, value: int) -> int:
        return max(value, 0)

    @field_validator("next_trigger_time")
    @classmethod
    def _a_time(cls, value: str | None) -> str | None:
        from_wire(value)
        return value

    @model_validator(mode="after")
    def _complete_for_its_type(self) -> TaskUpsert:
        if self.type == TaskType.CONTAINER and not self.image.strip():
            raise ValueError("image: is required for type container")
        if self.type == TaskType.HTTP and not self.payload.startswith(("http://", "https://")):
            raise ValueError("payload: must be an http or https URL for type http")
        return self


class WorkerRegister(RequestBody):
    """POST /api/v1/workers/register."""

    worker_id: Annotated[str, Field(min_length=1, max_length=128)]
    hostname: Annotated[str, Field(min_length=1, max_length=255)]
    ip: str = ""
    callback_url: str = ""
    grpc_addr: str = ""
    protocol: str = "http"
    max_concurrency: Annotated[int, Field(ge=1, le=10_000)] = 100
    labels: dict[str, str] | None = None


class WorkerHeartbeat(RequestBody):
    """POST /api/v1/workers/heartbeat."""

    worker_id: Annotated[str, Field(min_length=1)]
    current_load: Annotated[int, Field(ge=0)] = 0
    running_tasks: int = 0
    report_unix_milli: int = 0


class RunLog(RequestBody):
    """What a run printed; `content` may have lost its middle."""

    content: str
    total_bytes: int
    truncated: bool = False


class RunReport(RequestBody):
    """POST /api/v1/task-instances/report. `log` is an addition to the Go service's body."""

    schedule_instance_id: Annotated[str, Field(min_length=1)]
    worker_id: str = ""
    status: RunStatus = Field(strict=False)
    error_code: Annotated[str, Field(max_length=64)] = ""
    error_message: Annotated[str, Field(max_length=4_096)] = ""
    started_at: str | None = None
    finished_at: str | None = None
    log: RunLog | None = None

    @field_validator("status")
    @classmethod
    def _reportable(cls, value: RunStatus) -> RunStatus:
        if value in (RunStatus.PENDING, RunStatus.RETRY_WAITING, RunStatus.DISPATCHED):
            raise ValueError("must be running, success, failed, timeout or cancelled")
        return value

    @field_validator("started_at", "finished_at")
    @classmethod
    def _a_time(cls, value: str | None) -> str | None:
        from_wire(value)
        return value


class RunCancel(RequestBody):
    """POST /api/v1/task-instances/cancel."""

    schedule_instance_id: Annotated[str, Field(min_length=1)]


class ExecuteRequest(RequestBody):
    """POST /internal/tasks/execute on a worker."""

    schedule_instance_id: Annotated[str, Field(min_length=1)]
    task_id: int
    task_type: TaskType = Field(strict=False)
    payload: str = ""
    image: str = ""
    timeout_seconds: Annotated[int, Field(ge=1)] = _DEFAULT_TIMEOUT_SECONDS
    retry_count: int = 0
    shard_no: int = 0
    shard_total: int = 1
    idempotency_key: str = ""
    scheduler_url: str = ""


def parse_body(model: type[Body], raw: bytes) -> Body:
    """The body as `model`. Raises Invalid with the first wrong field and why."""
    try:
        data = json.loads(raw or b"{}")
    except (ValueError, RecursionError) as error:
        raise Invalid("body: is not valid JSON") from error
    if not isinstance(data, dict):
        raise Invalid("body: must be a JSON object")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Invalid(_first_problem(error)) from error


def _one_of(value: str, known: type[StrEnum]) -> str:
    words = [word.value for word in known]
    if value not in words:
        raise ValueError(f"must be one of {', '.join(words)}" if value else "is required")
    return value


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    path = ".".join(str(part) for part in first["loc"])
    reason = "is required" if first["type"] == "missing" else first["msg"].removeprefix("Value error, ")
    if not path or reason.startswith(f"{path}: "):
        return reason
    return f"{path}: {reason[0].lower()}{reason[1:]}"
