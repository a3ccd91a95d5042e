"""The twelve tools against the embedded service, over real HTTP, with runs that really run."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.people import Role
from chatops_bot.scheduler import SchedulerService, SchedulerSettings
from chatops_bot.scheduler.auth import LEAST_COST, hash_password
from chatops_bot.toolsets.scheduler import Account, SchedulerClient, errors, scheduler_tools

PASSWORD_HASH = hash_password("correct horse", LEAST_COST)
ROLES = ("viewer", "operator", "admin")
JOB = {"name": "greet", "type": "shell", "cron_expr": "0 2 * * *", "payload": "echo hello", "max_retry": 0}


@pytest.fixture
async def embedded(tmp_path):
    accounts = [{"username": role, "role": role, "password_hash": PASSWORD_HASH} for role in ROLES]
    (tmp_path / "scheduler-accounts.json").write_text(json.dumps(accounts))
    settings = SchedulerSettings(
        data=tmp_path,
        shell=True,
        timezone="Asia/Shanghai",
        kill_grace_seconds=0.3,
        load_sample_seconds=0.1,
        isolation="none",
    )
    async with SchedulerService.start(settings) as service:
        yield service


@pytest.fixture
def client(embedded, http):
    accounts = {Role(role): Account(role, "correct horse") for role in ROLES}
    return SchedulerClient(http, embedded.url, accounts)


@pytest.fixture
def tools(client, clock):
    clock.time = datetime.now(UTC)
    return {tool.spec.name: tool for tool in scheduler_tools(client, clock)}


@pytest.fixture
def create(call):
    async def create_(**changed):
        outcome = await call.apply("create_task", JOB | changed, key=f"create-{changed}")
        assert (outcome.ok, outcome.verified) == (True, True)
        return outcome.content["task_id"]

    return create_


async def once_there(look: Callable[[], Awaitable[Any]], there: Callable[[Any], Any]) -> Any:
    """The content that `look` brings once it is `there`; fails after some seconds."""
    async with asyncio.timeout(20):
        while True:
            content = (await look()).content
            if there(content):
                return content
            await asyncio.sleep(0.03)


async def ended(call: Any, run_id: int) -> Any:
    """The facts about a run once it has ended."""
    return await once_there(
        lambda: call("analyze_failure", {"instance_id": run_id}), lambda facts: facts["finished_at"]
    )


@pytest.mark.case("sched-V2")
@pytest.mark.case("sched-C8")
async def test_a_task_is_planned_in_the_services_zone_and_created(call, create):
    plan = await call.plan("create_task", JOB)
    times = {label.en: value for label, value in plan.details}["Next three runs"]
    assert times.count(" 02:00 Asia/Shanghai = ") == 3
    task_id = await create()
    outcome = await call.probe("create_task", JOB, plan)
    assert outcome is not None
    assert outcome.content["task_id"] == task_id
    assert times.partition("\n")[0] in outcome.summary.en


async def test_a_created_task_is_found_by_every_reading(call, create):
    task_id = await create()
    assert (await call("query_tasks", {"name": "gre"})).content["tasks"][0]["id"] == task_id
    detail = (await call("get_task_detail", {"task_id": task_id})).content
    assert (detail["payload"], detail["timeout_seconds"], detail["max_retry"]) == ("echo hello", 300, 0)
    assert detail["next_trigger_time"].endswith("T18:00:00Z")
    health = (await call("get_system_health")).content
    assert health["tasks"] == {"total": 1, "enabled": 1, "disabled": 0}
    assert (await call("query_workers")).content["online"] == 1


@pytest.mark.case("sched-V7")
async def test_a_trigger_names_its_run(call, create):
    task_id = await create()
    outcome = await call.apply("trigger_task", {"task_id": task_id})
    assert outcome.verified
    facts = await ended(call, outcome.content["instance_id"])
    assert (facts["status"], facts["task_id"]) == ("success", task_id)
    assert "hello" in facts["log_tail"]


@pytest.mark.case("sched-V8")
async def test_a_retry_is_linked_and_really_runs(call, create):
    task_id = await create(name="broken", payload="echo no disk >&2; exit 3")
    run_id = (await call.apply("trigger_task", {"task_id": task_id})).content["instance_id"]
    assert (await ended(call, run_id))["has_failed"]
    found = await call("query_instances", {"status": "failed"})
    assert [run["id"] for run in found.content["instances"]] == [run_id]
    plan = await call.plan("retry_failed_instance", {"instance_id": run_id})
    assert plan.changes[0].after == "linked retry"
    outcome = await call.apply("retry_failed_instance", {"instance_id": run_id}, key="retry")
    assert outcome.verified
    assert outcome.content["linked"]
    assert (await ended(call, outcome.content["instance_id"]))["has_failed"]
    again = await call.plan("retry_failed_instance", {"instance_id": run_id})
    assert again.preconditions["retried_as"] == [outcome.content["instance_id"]]


async def test_a_retry_under_way_is_not_started_twice(call, create):
    task_id = await create(name="slow", payload="test -e $HOME/none && exit 0; sleep 0.2; exit 1")
    run_id = (await call.apply("trigger_task", {"task_id": task_id})).content["instance_id"]
    await ended(call, run_id)
    retried = await call.apply("retry_failed_instance", {"instance_id": run_id}, key="retry")
    with pytest.raises(ToolFailed, match="is being retried already"):
        await call.plan("retry_failed_instance", {"instance_id": run_id})
    await ended(call, retried.content["instance_id"])


async def test_pause_and_resume_are_read_back(call, create):
    task_id = await create()
    paused = await call.apply("pause_task", {"task_id": task_id, "action": "pause"}, key="pause")
    assert paused.content["status"] == "disabled"
    with pytest.raises(ToolFailed, match="resume it first"):
        await call.plan("trigger_task", {"task_id": task_id})
    with pytest.raises(errors.Conflict):
        await call.apply("trigger_task", {"task_id": task_id}, key="trigger")
    resumed = await call.apply("pause_task", {"task_id": task_id, "action": "resume"}, key="resume")
    assert resumed.verified
    assert "02:00 Asia/Shanghai = " in resumed.summary.en


async def test_delete_needs_an_admin_and_is_read_back(call, create):
    task_id = await create()
    with pytest.raises(errors.Forbidden):
        await call.apply("delete_task", {"task_id": task_id})
    plan = await call.plan("delete_task", {"task_id": task_id})
    outcome = await call.apply("delete_task", {"task_id": task_id}, Role.ADMIN, key="delete")
    assert (outcome.ok, outcome.verified) == (True, True)
    assert (await call.probe("delete_task", {"task_id": task_id}, plan)) is not None


@pytest.mark.case("sched-C10")
async def test_the_same_effect_asked_twice_happens_once(call, create):
    task_id = await create()
    first = await call.apply("trigger_task", {"task_id": task_id}, key="effect")
    second = await call.apply("trigger_task", {"task_id": task_id}, key="effect")
    assert first.content["instance_id"] == second.content["instance_id"]
    assert (await call("query_instances")).content["total_matched"] == 1


@pytest.mark.case("sched-C7")
async def test_load_history_has_samples(call):
    content = await once_there(lambda: call("get_worker_load_history"), lambda found: found["count"])
    assert content["snapshots"][0].keys() == {
        "worker_id", "current_load", "max_concurrency", "status", "recorded_at",
    }  # fmt: skip
    worker_id = content["snapshots"][0]["worker_id"]
    other = await call("get_worker_load_history", {"worker_id": "nobody"})
    assert other.content["count"] == 0
    assert worker_id


async def test_a_taken_name_is_refused_at_the_plan_and_at_the_service(call, create):
    await create()
    with pytest.raises(errors.Invalid, match="has it already"):
        await call.plan("create_task", JOB)
    with pytest.raises(errors.Conflict):
        await call.apply("create_task", JOB, key="another")


async def test_a_type_of_task_that_the_service_does_not_run_carries_a_note(call):
    plan = await call.plan("create_task", JOB | {"type": "container", "image": "alpine:3", "payload": ""})
    assert any("does not run tasks of this type" in label.en for label, _ in plan.details)
    plan = await call.plan("create_task", JOB)
    assert not any("does not run" in label.en for label, _ in plan.details)
