"""The life of one run, as data.

    pending ──────► dispatched ──► running ──► success | failed | timeout | cancelled
    retry_waiting ──►    │                        (terminal: never left again)
                         └───────────────────────► a worker may skip `running`

A failed or timed-out run isn't revived: the next attempt is a new row that starts in `retry_waiting`.
"""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    """The words the API uses for a run's state."""

    PENDING = "pending"
    RETRY_WAITING = "retry_waiting"
    DISPATCHED = "dispatched"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


_ENDS = frozenset({RunStatus.SUCCESS, RunStatus.FAILED, RunStatus.TIMEOUT, RunStatus.CANCELLED})

TRANSITIONS: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.PENDING: frozenset({RunStatus.DISPATCHED, RunStatus.CANCELLED}),
    RunStatus.RETRY_WAITING: frozenset({RunStatus.DISPATCHED, RunStatus.CANCELLED}),
    RunStatus.DISPATCHED: _ENDS | {RunStatus.RUNNING},
    RunStatus.RUNNING: _ENDS,
    RunStatus.SUCCESS: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.TIMEOUT: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}

TERMINAL = frozenset(status for status, onward in TRANSITIONS.items() if not onward)
WAITING = frozenset({RunStatus.PENDING, RunStatus.RETRY_WAITING})
ON_A_WORKER = frozenset({RunStatus.DISPATCHED, RunStatus.RUNNING})

# What the retry policy looks at, and what a person may retry by hand.
RETRIED_BY_POLICY = frozenset({RunStatus.FAILED, RunStatus.TIMEOUT})
RETRIED_BY_HAND = RETRIED_BY_POLICY | {RunStatus.CANCELLED}


def sources(target: RunStatus) -> frozenset[RunStatus]:
    """The states from which `target` may be entered."""
    return frozenset(status for status, onward in TRANSITIONS.items() if target in onward)
