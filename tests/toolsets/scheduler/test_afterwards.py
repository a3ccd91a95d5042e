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


async def test_a_deletion_and_a_run_cannot_be_taken_back_and_the_deletion_says_so(service, call):
    plan = await call.plan("delete_task", {"task_id": 1})
    assert plan.inverse is None
    assert ("Undo", True) in [(label.en, text.startswith("none: ")) for label, text in plan.details]
    assert (await call.plan("trigger_task", {"task_id": 1})).inverse is None
