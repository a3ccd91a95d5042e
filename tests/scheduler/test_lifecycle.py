"""Coming due, retrying, waiting for upstreams: transactions on tables in memory, with the time as a number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatops_bot.scheduler import alerts, instances, lifecycle, tasks, workers
from chatops_bot.scheduler.bodies import TaskUpsert, WorkerRegister
from chatops_bot.scheduler.clock import SECOND, from_wire
from chatops_bot.scheduler.lifecycle import Policy
from chatops_bot.scheduler.records import Instance, Task
from chatops_bot.scheduler.retry import delay_before_retry
from chatops_bot.scheduler.states import RunStatus

POLICY = Policy(zone="UTC", announce_failures=True)


def at(text: str) -> int:
    found = from_wire(f"2026-01-01T{text}Z")
    assert found is not None
    return found


def add_task(conn, now: int, name: str = "job", **more: Any) -> Task:
    return tasks.create_task(conn, TaskUpsert(name=name, type="shell", **more), now, "UTC")


def add_worker(conn, now: int, slots: int = 100) -> None:
    body = WorkerRegister(worker_id="w", hostname="h", callback_url="http://w", max_concurrency=slots)
    workers.register(conn, body, now)


def all_runs(conn) -> list[Instance]:
    return list(reversed(instances.page(conn, status=None, task_id=None, limit=1_000, offset=0)[0]))


def end(conn, run: Instance, status: RunStatus, now: int, code: str = "") -> None:
    instances.move(conn, run.id, RunStatus.DISPATCHED, now, worker_id="w")
    assert lifecycle.finish(conn, run, status, now, POLICY, error_code=code)


def test_a_due_task_fires_once_and_the_next_time_follows_from_the_schedule(conn):
    task = add_task(conn, at("00:00:30"), cron_expr="*/5 * * * *")
    assert task.next_trigger_at == at("00:05:00") == lifecycle.next_due(conn)
    assert lifecycle.fire_due(conn, at("00:04:59"), POLICY) == 0
    assert lifecycle.fire_due(conn, at("00:05:02"), POLICY) == 1
    assert lifecycle.fire_due(conn, at("00:05:02"), POLICY) == 0
    (run,) = all_runs(conn)
    assert (run.scheduled_for, run.trigger, run.status) == (at("00:05:00"), "cron", "pending")
    assert tasks.get_task(conn, task.id).next_trigger_at == at("00:10:00")


def test_one_scheduled_time_never_makes_two_runs(conn):
    task = add_task(conn, at("00:00:00"), cron_expr="*/5 * * * *")
    lifecycle.fire_due(conn, at("00:05:00"), POLICY)
    # A clock set back, or an edit that brings the same time again.
    tasks.set_next_trigger(conn, task.id, at("00:05:00"))
    lifecycle.fire_due(conn, at("00:05:01"), POLICY)
    assert len(all_runs(conn)) == 1


@pytest.mark.case("sched-E9")
def test_times_missed_while_stopped_become_one_run(conn):
    task = add_task(conn, at("00:00:00"), cron_expr="*/5 * * * *")
    lifecycle.fire_due(conn, at("03:01:00"), POLICY)
    lifecycle.fire_due(conn, at("03:01:00"), POLICY)
    assert len(all_runs(conn)) == 1
    assert tasks.get_task(conn, task.id).next_trigger_at == at("03:05:00")


def test_paused_tasks_and_tasks_without_cron_never_come_due(conn):
    add_task(conn, at("00:00:00"), "paused", cron_expr="* * * * *", status="disabled")
    add_task(conn, at("00:00:00"), "manual")
    assert lifecycle.next_due(conn) is None
    assert lifecycle.fire_due(conn, at("23:00:00"), POLICY) == 0


@pytest.mark.case("sched-T8")
def test_runs_without_room_wait_as_one_row_each(conn):
    task = add_task(conn, at("00:00:00"))
    for _ in range(3):
        lifecycle.trigger(conn, task.id, at("00:00:01"))
    assert lifecycle.assign(conn, at("00:00:02")) == []
    add_worker(conn, at("00:00:03"), slots=2)
    assert [a.run.id for a in lifecycle.assign(conn, at("00:00:03"))] == [1, 2]
    assert lifecycle.assign(conn, at("00:00:04")) == []
    assert [run.status for run in all_runs(conn)] == ["dispatched", "dispatched", "pending"]


def test_a_failure_is_tried_again_as_a_new_row_and_announced_when_nothing_is_left(conn):
    task = add_task(conn, at("00:00:00"), max_retry=1, retry_interval_seconds=5)
    add_worker(conn, at("00:00:00"))
    _, run = lifecycle.trigger(conn, task.id, at("00:00:01"))
    end(conn, run, RunStatus.FAILED, at("00:00:02"), "execute_failed")
    first, second = all_runs(conn)
    assert first.status == "failed"
    assert (second.status, second.retry_count, second.retry_of) == ("retry_waiting", 1, first.id)
    assert second.schedule_instance_id.startswith(f"task-{task.id}-retry-1-")
    assert lifecycle.next_due(conn) == second.next_retry_at == at("00:00:07")
    assert alerts.undelivered(conn) == 0
    assert lifecycle.assign(conn, at("00:00:06")) == []
    assert [a.run.id for a in lifecycle.assign(conn, at("00:00:07"))] == [second.id]
    assert lifecycle.finish(conn, second, RunStatus.TIMEOUT, at("00:00:08"), POLICY, error_code="timeout")
    assert len(all_runs(conn)) == 2
    (body,) = conn.execute("SELECT body FROM outbox").fetchone()
    assert json.loads(body) == {
        "type": "task_failure",
        "task_id": task.id,
        "task_name": "job",
        "instance_id": second.id,
        "schedule_instance_id": second.schedule_instance_id,
        "retry_count": 1,
        "max_retry": 1,
        "error_code": "timeout",
        "error_message": "",
        "timestamp": "2026-01-01T00:00:08Z",
    }


def test_a_cancelled_run_is_neither_retried_nor_announced(conn):
    task = add_task(conn, at("00:00:00"), max_retry=3)
    _, run = lifecycle.trigger(conn, task.id, at("00:00:01"))
    lifecycle.cancel(conn, run.id, at("00:00:02"))
    assert len(all_runs(conn)) == 1
    assert alerts.undelivered(conn) == 0


@pytest.mark.parametrize(
    ("policy", "listed", "code", "expected"),
    [
        ("fixed_interval", "", "execute_failed", [7, 7, 7]),
        ("exponential_backoff", "", "execute_failed", [2, 4, 8]),
        ("error_code", "", "execute_failed", [7, 7, 7]),
        ("error_code", "timeout, worker_lost", "timeout", [7, 7, 7]),
        ("error_code", "timeout", "execute_failed", [None, None, None]),
    ],
)
def test_retry_policies(policy, listed, code, expected):
    delays = [
        delay_before_retry(
            policy, attempt=n, max_retry=3, interval_seconds=7, retry_on=listed, error_code=code
        )
        for n in (1, 2, 3, 4)
    ]
    assert delays == [*expected, None]


def test_exponential_backoff_stops_growing_at_ten_minutes():
    delay = delay_before_retry(
        "exponential_backoff", attempt=90, max_retry=99, interval_seconds=1, retry_on="", error_code="x"
    )
    assert delay == 600


@pytest.mark.case("sched-E8")
def test_a_dependant_without_cron_runs_when_all_upstreams_succeeded_since_its_last_run(conn):
    one, two = add_task(conn, 0, "one"), add_task(conn, 0, "two")
    below = add_task(conn, 0, "below", depends_on=[one.id, two.id])

    def runs_below() -> int:
        return instances.page(conn, status=None, task_id=below.id, limit=9, offset=0)[1]

    for second, (task, status, expected) in enumerate(
        [
            (one, RunStatus.SUCCESS, 0),
            (one, RunStatus.SUCCESS, 0),
            (two, RunStatus.FAILED, 0),
            (two, RunStatus.SUCCESS, 1),
            (two, RunStatus.SUCCESS, 1),
            (one, RunStatus.SUCCESS, 2),
        ],
        start=1,
    ):
        _, run = lifecycle.trigger(conn, task.id, second * SECOND)
        end(conn, run, status, second * SECOND + 1)
        assert runs_below() == expected, second


@pytest.mark.case("sched-V14")
def test_a_dependant_with_cron_waits_for_its_upstreams_until_its_timeout(conn):
    up = add_task(conn, at("00:00:00"), "up")
    task = add_task(
        conn, at("00:00:00"), "down", cron_expr="*/5 * * * *", timeout_seconds=60, depends_on=[up.id]
    )
    add_worker(conn, at("00:00:00"))
    lifecycle.fire_due(conn, at("00:05:00"), POLICY)
    assert lifecycle.assign(conn, at("00:05:00")) == []
    assert lifecycle.next_due(conn) == at("00:06:00")
    _, run = lifecycle.trigger(conn, up.id, at("00:05:10"))
    end(conn, run, RunStatus.SUCCESS, at("00:05:11"))
    assert [a.task.id for a in lifecycle.assign(conn, at("00:05:12"))] == [task.id]
    lifecycle.fire_due(conn, at("00:10:00"), POLICY)
    assert lifecycle.assign(conn, at("00:11:00")) == []
    skipped = all_runs(conn)[-1]
    assert (skipped.status, skipped.error_code) == ("cancelled", "dependency_failed")


@pytest.mark.case("sched-E7")
def test_runs_of_a_silent_worker_fail_and_are_tried_again(conn):
    task = add_task(conn, at("00:00:00"), max_retry=1)
    add_worker(conn, at("00:00:00"))
    lifecycle.trigger(conn, task.id, at("00:00:01"))
    lifecycle.assign(conn, at("00:00:02"))
    assert workers.mark_offline(conn, at("00:00:00")) == []
    silent = workers.mark_offline(conn, at("00:00:20"))
    assert silent == ["w"]
    assert lifecycle.fail_lost_runs(conn, silent, at("00:00:31"), POLICY) == 1
    assert [(run.status, run.error_code) for run in all_runs(conn)] == [
        ("failed", "worker_lost"),
        ("retry_waiting", ""),
    ]


def test_a_run_whose_task_was_deleted_ends(conn):
    task = add_task(conn, at("00:00:00"))
    lifecycle.trigger(conn, task.id, at("00:00:01"))
    tasks.delete_task(conn, task.id)
    add_worker(conn, at("00:00:01"))
    assert lifecycle.assign(conn, at("00:00:02")) == []
    assert all_runs(conn)[0].status == "cancelled"
