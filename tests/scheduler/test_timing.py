"""The trigger loop on the real clock and on one that stands still."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from chatops_bot.scheduler import ManualClock
from chatops_bot.scheduler.clock import SECOND, SystemClock, from_wire, to_wire


@pytest.mark.case("sched-E4")
async def test_a_task_starts_within_a_second_of_its_time(api, eventually):
    async def lateness() -> int:
        due = datetime.now(UTC) + timedelta(seconds=0.5)
        task_id = await api.create(name=f"due-{due.timestamp()}", next_trigger_time=due.isoformat())

        async def started():
            page = await api.get(f"/api/v1/task-instances?task_id={task_id}")
            return page["instances"]

        (run,) = await eventually(started)
        assert run["Trigger"] == "cron"
        assert (await api.ended(run["ID"]))["Status"] == "success"
        fired, scheduled = from_wire(run["TriggerTime"]), from_wire(run["ScheduledFor"])
        assert fired is not None
        assert scheduled is not None
        return fired - scheduled

    late = await lateness()
    for _ in range(4):
        if (
            late >= SECOND
        ):  # a busy machine is late now and then; a scheduler that looks too seldom is late every time
            late = await lateness()
    assert 0 <= late < SECOND


async def test_an_edit_wakes_the_loop_that_sleeps_for_a_later_time(api, eventually):
    task_id = await api.create(cron_expr="0 0 1 1 *")
    soon = (datetime.now(UTC) + timedelta(seconds=0.2)).isoformat()
    body = {
        "name": "job",
        "type": "shell",
        "payload": "true",
        "cron_expr": "0 0 1 1 *",
        "next_trigger_time": soon,
    }
    assert (await api.call("operator", "PUT", f"/api/v1/tasks/{task_id}", body)).status == 200

    async def started():
        return (await api.get("/api/v1/task-instances"))["total"]

    assert await eventually(started) == 1
    following = (await api.get(f"/api/v1/tasks/{task_id}"))["NextTriggerTime"]
    assert following.endswith("-01-01T00:00:00Z")


async def test_half_a_day_of_half_hours_on_a_manual_clock(start_api, eventually):
    start = from_wire("2026-03-01T00:00:10Z")
    assert start is not None
    clock = ManualClock(start)
    async with start_api(clock=clock, offline_after_seconds=10_000_000, shell=None) as api:
        task_id = await api.create(cron_expr="*/30 * * * *")
        for expected in range(1, 25):
            clock.advance(1_800)

            async def fired(expected=expected):
                return (await api.get("/api/v1/task-instances?limit=1"))["total"] >= expected

            api.tokens.clear()
            await eventually(fired)
        page = await api.get(f"/api/v1/task-instances?task_id={task_id}&limit=100")
        times = [run["ScheduledFor"] for run in reversed(page["instances"])]
        first = from_wire("2026-03-01T00:30:00Z")
        assert first is not None
        assert times == [to_wire(first + n * 1_800 * SECOND) for n in range(24)]


@pytest.mark.case("sched-E7")
async def test_a_worker_that_falls_silent_goes_offline_and_its_runs_fail(start_api, eventually):
    async with start_api(heartbeat_seconds=3_600, offline_after_seconds=3) as api:
        instance_id = await api.trigger(await api.create(payload="sleep 30"))
        run = await api.ended(instance_id)
        assert (run["Status"], run["ErrorCode"]) == ("failed", "worker_lost")

        async def offline():
            return (await api.get("/api/v1/workers/embedded"))["Status"] == "offline"

        await eventually(offline)


async def test_fifty_runs_at_once_all_end(api):
    task_id = await api.create(payload="sleep 0.2; echo $$")
    started = await asyncio.gather(*(api.trigger(task_id) for _ in range(50)))
    ended = await asyncio.gather(*(api.ended(instance_id, 20) for instance_id in started))
    assert {run["Status"] for run in ended} == {"success"}
    assert len({run["ID"] for run in ended}) == 50


@pytest.mark.parametrize("pause", [0.0, 0.02, 0.1])
async def test_stopping_in_the_middle_of_starting_payloads_does_not_hang(start_api, pause):
    async with asyncio.timeout(15):
        async with start_api() as api:
            task_id = await api.create(payload="sleep 60")
            await asyncio.gather(*(api.trigger(task_id) for _ in range(8)))
            await asyncio.sleep(pause)


@pytest.mark.parametrize("ticks", range(4))
async def test_a_wait_that_is_woken_and_cancelled_together_never_swallows_the_cancellation(ticks):
    wake = asyncio.Event()
    waiting = asyncio.create_task(SystemClock().wait_until(None, wake))
    await asyncio.sleep(0)
    wake.set()
    for _ in range(ticks):
        await asyncio.sleep(0)
    accepted = waiting.cancel()
    await asyncio.wait([waiting], timeout=1)
    assert waiting.cancelled() == accepted


class CountingClock(SystemClock):
    """Counts how often a loop goes to sleep."""

    waits = 0

    async def wait_until(self, when: int | None, wake: asyncio.Event) -> None:
        self.waits += 1
        await super().wait_until(when, wake)


async def test_what_is_due_without_a_worker_does_not_keep_the_loop_busy(start_api):
    clock = CountingClock()
    async with start_api(clock=clock, heartbeat_seconds=3_600, offline_after_seconds=1.5) as api:
        await api.run(await api.create(payload="exit 1", max_retry=1, retry_interval_seconds=2))
        before = clock.waits
        await asyncio.sleep(3.5)  # a busy loop can only be told by letting time pass
        assert (await api.get("/api/v1/task-instances?status=retry_waiting"))["total"] == 1
        assert clock.waits - before < 40
