"""The stored things, and the PascalCase bodies they travel in.

Field names are the column names; times are microseconds, None is "not yet". The bodies copy the Go service's untagged
structs: unset times are year 1, `Labels` and `AnalysisJSON` are JSON inside a string. Keys that the Go service doesn't
have (`RetryOfInstanceID`, `ScheduledFor`, `Trigger`) are additions; a client that doesn't know them can ignore them.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Self

from chatops_bot.scheduler.clock import to_wire


@dataclass(frozen=True, slots=True)
class Task:
    """What to run and when."""

    id: int
    name: str
    type: str
    cron_expr: str
    payload: str
    image: str
    status: str
    timeout_seconds: int
    max_retry: int
    retry_policy: str
    retry_on_errors: str
    retry_interval_seconds: int
    route_strategy: str
    labels: str
    timezone: str
    next_trigger_at: int | None
    tenant_id: int
    version: int
    created_at: int
    updated_at: int

    @classmethod
    def of(cls, row: sqlite3.Row) -> Self:
        return cls(*row)

    def wire(self) -> dict[str, Any]:
        return {
            "ID": self.id,
            "Name": self.name,
            "Type": self.type,
            "CronExpr": self.cron_expr,
            "Payload": self.payload,
            "Image": self.image,
            "Status": self.status,
            "TimeoutSeconds": self.timeout_seconds,
            "MaxRetry": self.max_retry,
            "RetryPolicy": self.retry_policy,
            "RetryOnErrors": self.retry_on_errors,
            "RetryIntervalSeconds": self.retry_interval_seconds,
            "RetryWindowSeconds": 0,
            "RouteStrategy": self.route_strategy,
            "Labels": self.labels,
            "Timezone": self.timezone,
            "NextTriggerTime": to_wire(self.next_trigger_at),
            "TenantID": self.tenant_id,
            "TotalShards": 1,
            "IdempotencyKey": "",
            "TriggerType": "cron" if self.cron_expr else "manual",
            "EventName": "",
            "Version": self.version,
            "CreatedAt": to_wire(self.created_at),
            "UpdatedAt": to_wire(self.updated_at),
        }


@dataclass(frozen=True, slots=True)
class Instance:
    """One attempt to run a task."""

    id: int
    task_id: int
    schedule_instance_id: str
    trigger: str
    scheduled_for: int | None
    retry_of: int | None
    trigger_at: int
    dispatch_at: int | None
    started_at: int | None
    finished_at: int | None
    worker_id: str
    status: str
    retry_count: int
    error_code: str
    error_message: str
    analysis_json: str
    next_retry_at: int | None
    trace_id: str
    created_at: int
    updated_at: int

    @classmethod
    def of(cls, row: sqlite3.Row) -> Self:
        return cls(*row)

    def wire(self) -> dict[str, Any]:
        return {
            "ID": self.id,
            "TaskID": self.task_id,
            "ScheduleInstanceID": self.schedule_instance_id,
            "ShardNo": 0,
            "ShardTotal": 1,
            "Trigger": self.trigger,
            "ScheduledFor": to_wire(self.scheduled_for),
            "RetryOfInstanceID": self.retry_of or 0,
            "TriggerTime": to_wire(self.trigger_at),
            "DispatchTime": to_wire(self.dispatch_at),
            "StartedAt": to_wire(self.started_at),
            "FinishedAt": to_wire(self.finished_at),
            "WorkerID": self.worker_id,
            "Status": self.status,
            "RetryCount": self.retry_count,
            "ErrorCode": self.error_code,
            "ErrorMessage": self.error_message,
            "AnalysisJSON": self.analysis_json,
            "NextRetryTime": to_wire(self.next_retry_at),
            "TraceID": self.trace_id,
            "CreatedAt": to_wire(self.created_at),
            "UpdatedAt": to_wire(self.updated_at),
        }


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that runs tasks."""

    id: str
    hostname: str
    ip: str
    callback_url: str
    grpc_addr: str
    protocol: str
    status: str
    labels: str
    max_concurrency: int
    current_load: int
    last_heartbeat_at: int
    registered_at: int

    @classmethod
    def of(cls, row: sqlite3.Row) -> Self:
        return cls(*row)

    def wire(self) -> dict[str, Any]:
        return {
            "ID": self.id,
            "Hostname": self.hostname,
            "IP": self.ip,
            "CallbackURL": self.callback_url,
            "GRPCAddr": self.grpc_addr,
            "Protocol": self.protocol,
            "Status": self.status,
            "Labels": self.labels,
            "MaxConcurrency": self.max_concurrency,
            "CurrentLoad": self.current_load,
            "LastHeartbeatAt": to_wire(self.last_heartbeat_at),
        }


@dataclass(frozen=True, slots=True)
class LoadSample:
    """How busy a worker was at one moment."""

    id: int
    worker_id: str
    current_load: int
    max_concurrency: int
    status: str
    recorded_at: int

    @classmethod
    def of(cls, row: sqlite3.Row) -> Self:
        return cls(*row)

    def wire(self) -> dict[str, Any]:
        return {
            "ID": self.id,
            "WorkerID": self.worker_id,
            "CurrentLoad": self.current_load,
            "MaxConcurrency": self.max_concurrency,
            "Status": self.status,
            "RecordedAt": to_wire(self.recorded_at),
        }
