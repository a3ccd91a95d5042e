"""What the writing tools see some minutes later, with a viewer's account, and what takes them back."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from chatops_bot.domain.people import Role
from tests.toolsets.scheduler.conftest import NOW, Calls, GoService, context_of

SINCE = NOW - timedelta(hours=2)


@pytest.fixture
def service(go: GoService) -> GoService:
    go.add_task(1, "nightly-report")
    go.add_task(2, "log-cleanup", Status="disabled", NextTriggerTime="0001-01-01T00:00:00Z")
    return go


async def seen(
    call: Calls,
    name: str,
    arguments: dict[str, Any],
    outcome: dict[str, Any] | None = None,
    since: datetime = SINCE,
) -> tuple[str, str]:
    tool: Any = call.tools[name]
    given = tool.spec.arguments.model_validate(arguments)
    observation = await tool.observe(given, None, outcome or {}, since, context_of(Role.VIEWER))
    return observation.verdict, observation.summary.en


@pytest.mark.parametrize(
    ("status", "started", "mended"),
    [
        ("success", "as_intended", "recovered"),
        ("failed", "failed", "failed_again"),
        ("timeout", "failed", "failed_again"),
        ("running", "unknown", "unknown"),
    ],
)
async def test_a_started_run_is_looked_at(service, call, status: str, started: str, mended: str):
    run = service.add_run(1, status)
    outcome, said = {"instance_id": run["ID"]}, f"run #{run['ID']}: {status}"
    assert await seen(call, "trigger_task", {"task_id": 1}, outcome) == (started, said)
    assert await seen(call, "retry_failed_instance", {"instance_id": 4}, outcome) == (mended, said)


async def test_of_a_run_that_was_never_named_nothing_is_said(service, call):
    assert (await seen(call, "trigger_task", {"task_id": 1}, {"instance_id": None}))[0] == "unknown"


async def test_a_pause_holds_while_nothing_runs(service, call):
    paused = {"task_id": 2, "action": "pause"}
    assert await seen(call, "pause_task", paused) == ("as_intended", "still paused, no new run")
    service.add_run(2, "running", ago=1.0)
    assert (await seen(call, "pause_task", paused))[0] == "no_effect"
    assert (await seen(call, "pause_task", {"task_id": 1, "action": "pause"}))[0] == "no_effect"


@pytest.mark.parametrize(
    ("runs", "verdict"), [((), "unknown"), (("success",), "as_intended"), (("success", "failed"), "failed")]
)
@pytest.mark.parametrize("tool", ["pause_task", "create_task"])
async def test_a_schedule_is_judged_by_its_runs_since(
    service, call, tool: str, runs: tuple[str, ...], verdict: str
):
    service.add_run(1, "failed", ago=5.0)  # before the change
    for status in runs:
        service.add_run(1, status, ago=1.0)
    new = {"name": "n", "type": "shell", "cron_expr": "0 2 * * *", "payload": "true"}
    arguments = {"task_id": 1, "action": "resume"} if tool == "pause_task" else new
    assert (await seen(call, tool, arguments, {"task_id": 1}))[0] == verdict


async def test_a_deleted_task_stays_gone(service, call):
    assert (await seen(call, "delete_task", {"task_id": 9}))[0] == "as_intended"
    assert (await seen(call, "delete_task", {"task_id": 1}))[0] == "no_effect"


async def test_pause_and_resume_take_each_other_back(service, call):
    for task, action, back in ((1, "pause", "resume"), (2, "resume", "pause")):
        plan = await call.plan("pause_task", {"task_id": task, "action": action})
        assert (plan.inverse.tool, plan.inverse.arguments) == (
            "pause_task",
            {"task_id": task, "action": back},
        )


async def test_a_new_task_is_taken_back_by_deleting_the_one_that_was_made(service, call):
    new = {"name": "archive-logs", "type": "shell", "cron_expr": "0 2 * * *", "payload": "true"}
    plan = await call.plan("create_task", new)
    assert (plan.inverse.tool, plan.inverse.arguments, plan.inverse.filled) == (
        "delete_task",
        {},
        {"task_id": "task_id"},
    )
    assert isinstance((await call.apply("create_task", new)).content["task_id"], int)


async def test_a_deletion_is_taken_back_by_a_task_of_the_same_settings_and_says_what_does_not_come_back(
    service, call
):
    task = service.tasks[1]
    plan = await call.plan("delete_task", {"task_id": 1})
    assert plan.inverse.tool == "create_task"
    kept = ("name", "type", "cron_expr", "payload", "image", "timeout_seconds", "max_retry", "retry_policy")
    assert dict(plan.inverse.arguments) == {name: plan.preconditions[name] for name in kept}
    assert plan.inverse.summary.en.startswith(
        f"In part: create task {task['Name']} anew with the same settings; its number, its past runs"
    )
    assert "Undo" not in [label.en for label, _ in plan.details]
    await call.apply("delete_task", {"task_id": 1}, Role.ADMIN)
    again = await call.plan("create_task", dict(plan.inverse.arguments))
    assert again.summary.en == f"Create task {task['Name']}"


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("Status", "disabled", "none: the task is disabled now, and one made anew would be enabled and run"),
        ("CronExpr", "@daily", "none: cron_expr cannot be made again as it is"),
        ("Timezone", "Asia/Tokyo", "none: timezone cannot be made again as it is"),
        ("RetryOnErrors", "timeout", "none: retry_on_errors cannot be made again as it is"),
        ("TimeoutSeconds", 0, "none: timeout_seconds cannot be made again as it is"),
    ],
)
async def test_where_no_task_could_be_made_that_runs_the_same_a_deletion_says_that_it_cannot_be_undone(
    service, call, field: str, value: object, why: str
):
    service.tasks[1][field] = value
    plan = await call.plan("delete_task", {"task_id": 1})
    assert plan.inverse is None
    assert ("Undo", why) in [(label.en, text) for label, text in plan.details]


async def test_a_run_cannot_be_taken_back(service, call):
    assert (await call.plan("trigger_task", {"task_id": 1})).inverse is None
