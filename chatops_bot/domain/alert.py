"""An alert from outside: a task's run that failed for good, as the scheduler's webhook tells it. Its texts are untrusted."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """`retry_count` of `max_retry` retries were used up; `schedule_instance_id` is unique per run."""

    task_id: int
    task_name: str
    instance_id: int
    schedule_instance_id: str
    retry_count: int
    max_retry: int
    error_code: str
    error_message: str
    at: datetime
