"""What happens to runs: they come due, go to a worker, end, are tried again, and raise an alert when nothing is left.

Each function is one transaction's worth of work. An end, the next attempt and the alert that replaces it are stored
together, so a crash between them can't lose one.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from dataclasses import dataclass
from typing import Any

from chatops_bot.scheduler import alerts, cron, instances, tasks, workers
from chatops_bot.scheduler.bodies import RunReport, TaskStatus
from chatops_bot.scheduler.clock import SECOND, from_wire
from chatops_bot.scheduler.errors import Conflict, NotFound
from chatops_bot.scheduler.instances import NewRun
from chatops_bot.scheduler.records import Instance, Task, Worker
from chatops_bot.scheduler.retry import delay_before_retry
from chatops_bot.scheduler.states import (
    ON_A_WORKER,
    RETRIED_BY_HAND,
    RETRIED_BY_POLICY,
    TERMINAL,
    RunStatus,
)

logger = logging.getLogger(__name__)

_BATCH = 500
CRON = "cron"


@dataclass(frozen=True, slots=True)
class Policy:
    """What the whole service agrees on: the default zone, and whether failures are announced."""

    zone: str
    announce_failures: bool


@dataclass(frozen=True, slots=True)
class Assignment:
    """A run that now belongs to a worker and must be sent there."""

    run: Instance
    task: Task
    worker: Worker


def fire_due(conn: sqlite3.Connection, now: int, policy: Policy) -> int:
    """Turn tasks that are due into pending runs; how many. Times missed while stopped become one run."""
    due = tasks.due_tasks(conn, now, _BATCH)
    for task in due:
        scheduled = task.next_trigger_at
        instances.add(conn, NewRun(task.id, CRON, scheduled_for=scheduled), now)
        tasks.set_next_trigger(conn, task.id, _next_time(task, max(scheduled or now, now), policy.zone))
    return len(due)


def trigger(conn: sqlite3.Connection, task_id: int, now: int) -> tuple[Task, Instance]:
    """A run by hand. Raises NotFound, Conflict when the task is disabled."""
    task = _enabled_task(conn, task_id)
    run = instances.add(conn, NewRun(task.id, "manual"), now)
    if run is None:
        raise Conflict(f"task {task_id} was triggered twice in the same microsecond: try again")
    return task, run


def retry_by_hand(conn: sqlite3.Connection, instance_id: int, now: int) -> Instance:
    """One more attempt of an ended run, linked to it. Raises NotFound, Conflict."""
    run = instances.get(conn, instance_id)
    if run.status not in RETRIED_BY_HAND:
        raise Conflict(
            f"task instance {instance_id} is {run.status}: only failed, timeout or cancelled can be retried"
        )
    _enabled_task(conn, run.task_id)
    later = instances.next_attempt_of(conn, instance_id)
    if later is not None and later.status not in TERMINAL:
        raise Conflict(f"task instance {instance_id} is already being retried as instance {later.id}")
    new = NewRun(run.task_id, "manual_retry", retry_of=run.id, retry_count=run.retry_count + 1)
    attempt = instances.add(conn, new, now)
    if attempt is None:
        raise Conflict(f"task instance {instance_id} was retried twice in the same microsecond: try again")
    return attempt


def cancel(conn: sqlite3.Connection, instance_id: int, now: int) -> tuple[Instance, Worker | None]:
    """End a run by hand; the worker to tell, if one has it. Raises NotFound, Conflict when it has ended."""
    run = instances.get(conn, instance_id)
    ended = instances.move(
        conn,
        run.id,
        RunStatus.CANCELLED,
        now,
        finished_at=now,
        error_code="cancelled",
        error_message="cancelled by hand",
    )
    if not ended:
        raise Conflict(f"task instance {instance_id} is already {run.status}")
    worker = workers.get_worker(conn, run.worker_id) if run.status in ON_A_WORKER else None
    return instances.get(conn, instance_id), worker


def assign(conn: sqlite3.Connection, now: int) -> list[Assignment]:
    """Give waiting runs to workers with room. What finds no room stays as it is: one row, no copies."""
    slots = workers.free_slots(conn)
    if not slots:
        return []
    assignments = []
    for turn, run in enumerate(instances.ready_to_dispatch(conn, now, _BATCH)):
        try:
            task = tasks.get_task(conn, run.task_id)
        except NotFound:
            _drop_orphan(conn, run, now)
            continue
        if run.trigger == CRON and not _upstreams_allow(conn, task, run, now):
            continue
        worker_id = workers.pick(slots, task.route_strategy, turn)
        if worker_id is None:
            break
        slots[worker_id] -= 1
        instances.move(conn, run.id, RunStatus.DISPATCHED, now, dispatch_at=now, worker_id=worker_id)
        worker = workers.get_worker(conn, worker_id)
        assignments.append(Assignment(instances.get(conn, run.id), task, worker))
    return assignments


def report(conn: sqlite3.Connection, body: RunReport, now: int, policy: Policy) -> Instance:
    """What a worker says about a run. A report that comes after the end changes nothing but the log."""
    run = instances.by_schedule_id(conn, body.schedule_instance_id)
    if body.log is not None:
        instances.store_log(conn, run.id, body.log.content, body.log.total_bytes, body.log.truncated)
    started = from_wire(body.started_at) or run.started_at or now
    if body.status is RunStatus.RUNNING:
        instances.move(conn, run.id, RunStatus.RUNNING, now, started_at=started)
        return instances.get(conn, run.id)
    finish(
        conn,
        run,
        body.status,
        now,
        policy,
        started_at=started,
        finished_at=from_wire(body.finished_at) or now,
        error_code=body.error_code,
        error_message=body.error_message,
    )
    return instances.get(conn, run.id)


def finish(
    conn: sqlite3.Connection, run: Instance, status: RunStatus, now: int, policy: Policy, **columns: Any
) -> bool:
    """End a run and store what follows from it. False when it had already ended."""
    if not instances.move(conn, run.id, status, now, **({"finished_at": now} | columns)):
        logger.info("run %s: late %s ignored", run.schedule_instance_id, status)
        return False
    ended = instances.get(conn, run.id)
    logger.info("run %s: %s %s", run.schedule_instance_id, status, ended.error_code)
    try:
        task = tasks.get_task(conn, run.task_id)
    except NotFound:
        return True
    if (
        status in RETRIED_BY_POLICY
        and not _retry_by_policy(conn, task, ended, now)
        and policy.announce_failures
    ):
        alerts.enqueue(conn, _alert(task, ended, now), now)
    if status is RunStatus.SUCCESS:
        _release_dependants(conn, task, now)
    return True


def fail_lost_runs(conn: sqlite3.Connection, worker_ids: list[str], now: int, policy: Policy) -> int:
    """Runs held by workers that fell silent fail as `worker_lost`; how many."""
    lost = [run for run in instances.with_status(conn, *ON_A_WORKER) if run.worker_id in worker_ids]
    for run in lost:
        text = f"worker {run.worker_id} stopped sending heartbeats"
        finish(conn, run, RunStatus.FAILED, now, policy, error_code="worker_lost", error_message=text)
    return len(lost)


def recover(conn: sqlite3.Connection, now: int, policy: Policy) -> int:
    """After a restart: whatever was on a worker fails as `scheduler_restart`; how many."""
    leftover = instances.with_status(conn, *ON_A_WORKER)
    for run in leftover:
        text = "the scheduler stopped while this run was under way"
        finish(conn, run, RunStatus.FAILED, now, policy, error_code="scheduler_restart", error_message=text)
    conn.execute("UPDATE workers SET status = 'offline', current_load = 0")
    return len(leftover)


def next_due(conn: sqlite3.Connection) -> int | None:
    """The next moment at which `fire_due` or `assign` has work, as far as it is known now."""
    (task_time,) = conn.execute(
        "SELECT min(next_trigger_at) FROM tasks WHERE status = 'enabled' AND next_trigger_at IS NOT NULL"
    ).fetchone()
    (retry_time,) = conn.execute(
        "SELECT min(next_retry_at) FROM instances WHERE status = 'retry_waiting'"
    ).fetchone()
    (gate_time,) = conn.execute(
        "SELECT min(i.scheduled_for + t.timeout_seconds * ?) FROM instances i JOIN tasks t ON t.id = i.task_id"
        " WHERE i.status = 'pending' AND i.trigger = ? AND t.id IN (SELECT task_id FROM dependencies)",
        (SECOND, CRON),
    ).fetchone()
    return min((when for when in (task_time, retry_time, gate_time) if when is not None), default=None)


def _retry_by_policy(conn: sqlite3.Connection, task: Task, run: Instance, now: int) -> bool:
    attempt = run.retry_count + 1
    delay = delay_before_retry(
        task.retry_policy,
        attempt=attempt,
        max_retry=task.max_retry,
        interval_seconds=task.retry_interval_seconds,
        retry_on=task.retry_on_errors,
        error_code=run.error_code,
    )
    if delay is None or task.status != TaskStatus.ENABLED:
        return False
    new = NewRun(
        task.id,
        "retry",
        status=RunStatus.RETRY_WAITING,
        retry_of=run.id,
        retry_count=attempt,
        next_retry_at=now + delay * SECOND,
    )
    return instances.add(conn, new, now) is not None


def _upstreams_allow(conn: sqlite3.Connection, task: Task, run: Instance, now: int) -> bool:
    """Whether a scheduled run may start: all upstreams succeeded since the task's run before this one.

    A run that still waits one timeout after its time ends as cancelled, `dependency_failed`.
    """
    upstream = tasks.dependencies(conn).get(task.id, [])
    if all(_succeeded_since(conn, other, task.id, before=run.id) for other in upstream):
        return True
    if now >= (run.scheduled_for or run.trigger_at) + task.timeout_seconds * SECOND:
        instances.move(
            conn,
            run.id,
            RunStatus.CANCELLED,
            now,
            finished_at=now,
            error_code="dependency_failed",
            error_message=f"not every upstream task succeeded within {task.timeout_seconds} s",
        )
    return False


def _release_dependants(conn: sqlite3.Connection, task: Task, now: int) -> None:
    """Run each enabled dependant without a cron once all its upstreams succeeded since its own last run."""
    edges = tasks.dependencies(conn)
    for dependant_id in [below for below, upstream in edges.items() if task.id in upstream]:
        dependant = tasks.get_task(conn, dependant_id)
        if dependant.status != TaskStatus.ENABLED or dependant.cron_expr:
            continue
        if all(_succeeded_since(conn, upstream, dependant_id) for upstream in edges[dependant_id]):
            instances.add(conn, NewRun(dependant_id, "dependency"), now)


def _succeeded_since(
    conn: sqlite3.Connection, upstream_id: int, dependant_id: int, before: int = 2**62
) -> bool:
    """Whether the upstream succeeded after the dependant's latest start among the runs numbered below `before`.

    A run that waits counts from when it was made, one that ended without a start doesn't count.
    """
    row = conn.execute(
        "SELECT 1 FROM instances WHERE task_id = ? AND status = 'success' AND finished_at > (SELECT coalesce(max("
        "  coalesce(dispatch_at, CASE WHEN status IN ('pending', 'retry_waiting') THEN trigger_at END)), 0)"
        " FROM instances WHERE task_id = ? AND id < ?) LIMIT 1",
        (upstream_id, dependant_id, before),
    ).fetchone()
    return row is not None


def _enabled_task(conn: sqlite3.Connection, task_id: int) -> Task:
    task = tasks.get_task(conn, task_id)
    if task.status != TaskStatus.ENABLED:
        raise Conflict(f"task {task_id} is not enabled")
    return task


def _next_time(task: Task, after: int, zone: str) -> int | None:
    if not task.cron_expr:
        return None
    try:
        return cron.parse(task.cron_expr).next_after(after, task.timezone or zone)
    except cron.BadCron:
        logger.exception("task %s: no next time, it will not come due again", task.id)
        return None


def _drop_orphan(conn: sqlite3.Connection, run: Instance, now: int) -> None:
    text = f"task {run.task_id} was deleted before this run started"
    instances.move(
        conn, run.id, RunStatus.CANCELLED, now, finished_at=now, error_code="cancelled", error_message=text
    )


def _alert(task: Task, run: Instance, now: int) -> alerts.Alert:
    body = {
        "type": "task_failure",
        "task_id": task.id,
        "task_name": task.name,
        "instance_id": run.id,
        "schedule_instance_id": run.schedule_instance_id,
        "retry_count": run.retry_count,
        "max_retry": task.max_retry,
        "error_code": run.error_code,
        "error_message": run.error_message,
        "timestamp": alerts.timestamp(now),
    }
    return alerts.Alert(dedupe_key=run.schedule_instance_id, body=json.dumps(body, ensure_ascii=False))
