"""Rows of results that several tools share."""

from typing import Any

from chatops_bot.toolsets.scheduler.formatting import cut, stamp
from chatops_bot.toolsets.scheduler.wire import Run

TEXT_LIMIT = 500
"""Characters that a payload or an error message may have in a result."""


def run_row(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "task_id": run.task_id,
        "schedule_instance_id": run.schedule_instance_id,
        "status": run.status,
        "worker_id": run.worker_id,
        "trigger_time": stamp(run.trigger_time),
        "started_at": stamp(run.started_at),
        "finished_at": stamp(run.finished_at),
        "retry_count": run.retry_count,
        "error_code": run.error_code,
        "error_message": cut(run.error_message, TEXT_LIMIT),
    }
