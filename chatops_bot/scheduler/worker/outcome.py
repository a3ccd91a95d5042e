"""How one execution ended."""

from __future__ import annotations

from dataclasses import dataclass

from chatops_bot.scheduler.states import RunStatus


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a run as the worker reports it; `message` is at most 1,024 characters plus a first line."""

    status: RunStatus
    error_code: str = ""
    message: str = ""
    log: str = ""
    log_bytes: int = 0
    log_truncated: bool = False


def unavailable(reason: str) -> Outcome:
    """The executor for this type isn't there."""
    return Outcome(RunStatus.FAILED, "executor_unavailable", reason, reason, len(reason.encode()))
