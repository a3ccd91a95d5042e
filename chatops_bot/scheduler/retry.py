"""When a failed run gets another attempt. Pure: facts in, a delay out."""

from __future__ import annotations

from enum import StrEnum

# Exponential waits stop growing at ten minutes, as the Go service's do.
LONGEST_BACKOFF_SECONDS = 600


class RetryPolicy(StrEnum):
    """The policies a task can name."""

    FIXED_INTERVAL = "fixed_interval"
    EXPONENTIAL_BACKOFF = "exponential_backoff"
    ERROR_CODE = "error_code"


def delay_before_retry(
    policy: str, *, attempt: int, max_retry: int, interval_seconds: int, retry_on: str, error_code: str
) -> int | None:
    """Seconds until attempt number `attempt` (1 is the first retry), or None when there is none.

    `retry_on` is the task's comma list of error codes; only `error_code` reads it, and an empty list means all.
    """
    if attempt > max_retry:
        return None
    if policy == RetryPolicy.EXPONENTIAL_BACKOFF:
        return LONGEST_BACKOFF_SECONDS if attempt > 9 else min(2**attempt, LONGEST_BACKOFF_SECONDS)
    if policy == RetryPolicy.ERROR_CODE:
        listed = {code.strip() for code in retry_on.split(",") if code.strip()}
        if listed and error_code not in listed:
            return None
    return interval_seconds
