"""The five tools that propose, on the Go service: what the approver sees, what is refused, what is read back."""

from typing import Any

import pytest

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Role
from chatops_bot.toolsets.scheduler import errors
from chatops_bot.toolsets.scheduler.retry import RetryFailedInstance
from chatops_bot.toolsets.scheduler.trigger import TriggerTask

NEW_TASK = {
    "name": "archive-logs",
    "type": "shell",
    "cron_expr": "0 2 * * *",
    "payload": "tar czf /b/logs.tgz /l",
}


@pytest.fixture(autouse=True)
def some_tasks(go):
    go.add_task(1, "nightly-report")
    go.add_task(2, "log-cleanup", Status="disabled", NextTriggerTime="0001-01-01T00:00:00Z")
    go.add_task(3, "db-backup", Type="http", Payload="http://backup.internal/run")


@pytest.fixture
def impatient(client, clock, tools):
    """Tools that look for a new run only briefly."""
    tools["trigger_task"] = TriggerTask(client, clock, watch_seconds=0.2)
    tools["retry_failed_instance"] = RetryFailedInstance(client, clock, watch_seconds=0.2)
    return tools


def details(plan: Any) -> dict[str, str]:
    return {label.en: value for label, value in plan.details}


def writes(go: Any) -> list[str]:
    return [line for line in go.requests if not line.startswith("GET") and "login" not in line]


# pause and resume


async def test_pause_shows_what_changes_and_rests_only_on_that(go, call):
    plan = await call.plan("pause_task", {"task_id": 1, "action": "pause"})
    assert plan.target == "task nightly-report (#1)"
    assert [(c.field, c.before, c.after) for c in plan.changes] == [
        ("status", "enabled", "disabled"),
        ("next_run", "2026-03-03 02:32 UTC", None),
    ]
    assert plan.risk == "low"
    assert details(plan) == {"Schedule": "0 2 * * *"}
    assert writes(go) == []


@pytest.mark.case("sched-V4")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pause_task", {"task_id": 1, "action": "pause"}),
        ("trigger_task", {"task_id": 1}),
        ("delete_task", {"task_id": 1}),
    ],
)
async def test_a_version_or_a_next_time_that_moves_is_no_drift_but_an_edit_is(go, call, name, arguments):
    planned = await call.plan(name, arguments)
    go.tasks[1] |= {"Version": 9, "NextTriggerTime": "2026-03-09T02:00:00Z"}
    assert (await call.plan(name, arguments)).preconditions == planned.preconditions
    go.tasks[1]["Name"] = "weekly-report"
    assert (await call.plan(name, arguments)).preconditions != planned.preconditions


async def test_a_changed_payload_is_drift_where_the_payload_was_shown(go, call):
    planned = await call.plan("trigger_task", {"task_id": 1})
    go.tasks[1]["Payload"] = "rm -rf /"
    assert (await call.plan("trigger_task", {"task_id": 1})).preconditions != planned.preconditions


async def test_resume_shows_the_payload_and_the_next_run(call):
    plan = await call.plan("pause_task", {"task_id": 2, "action": "resume"})
    assert [(c.field, c.before, c.after) for c in plan.changes] == [
        ("status", "disabled", "enabled"),
        ("next_run", None, "2026-03-03 02:00 UTC"),
    ]
    assert plan.risk == "medium"
    assert details(plan)["What will be executed"] == "run-log-cleanup"


@pytest.mark.parametrize(
    ("task_id", "action", "said"), [(2, "pause", "is paused already"), (1, "resume", "is not paused")]
)
async def test_a_change_that_changes_nothing_is_refused(call, task_id, action, said):
    with pytest.raises(ToolFailed, match=said):
        await call.plan("pause_task", {"task_id": task_id, "action": action})


@pytest.mark.case("sched-C10")
async def test_pause_and_resume_are_read_back(go, call):
    paused = await call.apply("pause_task", {"task_id": 1, "action": "pause"})
    assert (paused.ok, paused.verified) == (True, True)
    assert paused.content.keys() >= {"task_id", "name", "status", "message"}
    assert paused.content["status"] == "disabled" == go.tasks[1]["Status"]
    resumed = await call.apply("pause_task", {"task_id": 1, "action": "resume"})
    assert resumed.content["status"] == "enabled"
    assert "next run: 2026-03-03 02:32 UTC" in resumed.summary.en
    assert writes(go) == ["POST /api/v1/tasks/1/pause", "POST /api/v1/tasks/1/resume"]


@pytest.mark.case("sched-C10")
async def test_a_failed_look_after_a_write_is_unverified_not_failed(call, faulty):
    faulty("GET /api/v1/tasks/1", "500", times=9)
    outcome = await call.apply("pause_task", {"task_id": 1, "action": "pause"})
    assert (outcome.ok, outcome.verified) == (True, False)


@pytest.mark.case("sched-C10")
async def test_a_write_that_did_not_take_is_told_as_such(go, call, faulty):
    faulty("POST /api/v1/tasks/1/pause", "empty success")
    outcome = await call.apply("pause_task", {"task_id": 1, "action": "pause"})
    assert (outcome.ok, outcome.verified) == (False, True)
    assert "still enabled" in outcome.summary.en


# trigger


@pytest.mark.case("sched-V7")
@pytest.mark.case("sched-T7")
async def test_a_paused_task_cannot_be_triggered(go, call):
    with pytest.raises(ToolFailed, match="resume it first"):
        await call.plan("trigger_task", {"task_id": 2})
    with pytest.raises(errors.Conflict, match="not enabled"):
        await call.apply("trigger_task", {"task_id": 2})
    assert go.runs == []


@pytest.mark.parametrize(("task_id", "risk"), [(1, "high"), (3, "medium")])
async def test_the_risk_of_a_trigger_is_the_payloads(call, task_id, risk):
    plan = await call.plan("trigger_task", {"task_id": task_id})
    assert plan.risk == risk
    assert details(plan)["What will be executed"] in ("run-nightly-report", "http://backup.internal/run")


@pytest.mark.case("sched-T5")
@pytest.mark.case("sched-V7")
async def test_a_trigger_finds_the_new_run(go, call):
    go.add_run(1, "success", ago=5)
    go.add_run(3, "success", ago=4)
    outcome = await call.apply("trigger_task", {"task_id": 1})
    assert outcome.verified
    assert outcome.content == {
        "triggered": True,
        "task_id": 1,
        "name": "nightly-report",
        "message": "Task nightly-report (#1): new run #3 (pending)",
        "instance_id": 3,
    }


@pytest.mark.case("sched-T5")
async def test_a_trigger_without_a_visible_run_is_accepted_not_yet_seen(go, call, impatient):
    go.trigger_makes_run = False
    go.add_run(1, "success", ago=5)
    outcome = await call.apply("trigger_task", {"task_id": 1})
    assert (outcome.ok, outcome.verified) == (True, False)
    assert "not yet seen" in outcome.summary.en
    assert outcome.content["instance_id"] is None


async def test_a_lost_reply_is_unknown_and_sent_once(go, call, faulty):
    faulty("POST /api/v1/tasks/1/trigger", "hang up", after=True)
    with pytest.raises(ToolFailed) as caught:
        await call.apply("trigger_task", {"task_id": 1})
    assert caught.value.outcome_unknown
    assert len(go.runs) == 1


# retry


@pytest.mark.case("sched-V8")
@pytest.mark.case("sched-C7")
@pytest.mark.case("sched-T6")
async def test_retry_without_the_extension_is_a_fresh_run_and_says_so(go, call):
    go.add_run(1, "failed", ErrorMessage="exit 1")
    plan = await call.plan("retry_failed_instance", {"instance_id": 1})
    assert plan.target == "run #1 of task nightly-report (#1)"
    assert plan.risk == "high"
    assert details(plan)["This scheduler has no retry; a fresh run stands in for"] == "#1"
    assert details(plan)["The error it ended with"] == "execute_failed: exit 1"
    assert details(plan)["What will be executed"] == "run-nightly-report"
    outcome = await call.apply("retry_failed_instance", {"instance_id": 1})
    assert outcome.verified
    assert outcome.content.keys() >= {"instance_id", "task_name", "message"}
    assert outcome.content["instance_id"] == 2
    assert "not a linked retry" in outcome.summary.en


@pytest.mark.parametrize("status", ["success", "running", "pending", "cancelled"])
async def test_a_run_that_did_not_fail_is_not_retried(go, call, status):
    go.add_run(1, status)
    with pytest.raises(ToolFailed, match=f"did not fail \\(status {status}\\)"):
        await call.plan("retry_failed_instance", {"instance_id": 1})


async def test_a_run_of_a_paused_task_is_not_retried(go, call):
    go.add_run(2, "failed")
    with pytest.raises(ToolFailed, match="is paused"):
        await call.plan("retry_failed_instance", {"instance_id": 1})


# delete


async def test_delete_shows_the_tasks_that_depend_on_it(go, call):
    go.edges.append((3, 1))
    plan = await call.plan("delete_task", {"task_id": 1})
    assert plan.risk == "high"
    assert details(plan)["Tasks that depend on it"] == "db-backup (#3)"
    assert plan.changes[0].after is None
    assert [change.field for change in plan.changes] == ["task", "dependency of db-backup"]
    go.edges.clear()
    assert (await call.plan("delete_task", {"task_id": 1})).preconditions != plan.preconditions


@pytest.mark.case("sched-C5b")
@pytest.mark.case("sched-V3")
async def test_only_an_admins_account_deletes(go, call):
    for role in (Role.OPERATOR, Role.APPROVER):
        with pytest.raises(errors.Forbidden):
            await call.apply("delete_task", {"task_id": 1}, role)
    assert 1 in go.tasks
    outcome = await call.apply("delete_task", {"task_id": 1}, Role.ADMIN)
    assert (outcome.ok, outcome.verified) == (True, True)
    assert outcome.content.keys() >= {"task_name", "message"}
    assert 1 not in go.tasks


@pytest.mark.case("sched-V3")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("create_task", NEW_TASK),
        ("trigger_task", {"task_id": 1}),
        ("pause_task", {"task_id": 1, "action": "pause"}),
        ("delete_task", {"task_id": 1}),
    ],
)
async def test_a_viewers_account_changes_nothing(go, call, name, arguments):
    before = {task_id: dict(task) for task_id, task in go.tasks.items()}
    with pytest.raises(errors.Forbidden):
        await call.apply(name, arguments, Role.VIEWER)
    assert go.tasks == before
    assert go.runs == []


# create


@pytest.mark.case("sched-C8")
@pytest.mark.case("sched-V11")
async def test_a_good_task_shows_everything_and_its_next_three_runs(go, call):
    plan = await call.plan("create_task", NEW_TASK)
    assert plan.target == "task archive-logs (new)"
    assert plan.risk == "high"
    assert {change.field: change.after for change in plan.changes} == {
        "type": "shell",
        "cron_expr": "0 2 * * *",
        "timeout_seconds": "300",
        "max_retry": "3",
        "retry_policy": "fixed_interval",
        "status": "enabled",
    }
    assert details(plan) == {
        "What will be executed": NEW_TASK["payload"],
        "Next three runs": "2026-03-03 02:00 UTC\n2026-03-04 02:00 UTC\n2026-03-05 02:00 UTC",
    }
    assert writes(go) == []


@pytest.mark.case("prompt-P10")
async def test_whoever_asks_from_another_time_zone_sees_the_runs_in_both(call):
    shown = details(await call.plan("create_task", NEW_TASK, zone="Asia/Shanghai"))
    assert shown["Next three runs"].startswith(
        "2026-03-03 02:00 UTC = 10:00 Asia/Shanghai\n2026-03-04 02:00 UTC = "
    )
    shown = details(
        await call.plan("create_task", NEW_TASK | {"cron_expr": "0 18 * * *"}, zone="Asia/Shanghai")
    )
    assert shown["Next three runs"].startswith("2026-03-02 18:00 UTC = 2026-03-03 02:00 Asia/Shanghai\n")
    for same in ("", "UTC", "Africa/Accra"):
        shown = details(await call.plan("create_task", NEW_TASK, zone=same))
        assert "=" not in shown["Next three runs"]


@pytest.mark.case("prompt-P10")
async def test_a_pause_tells_the_run_that_it_takes_away_on_both_clocks(call):
    plan = await call.plan("pause_task", {"task_id": 1, "action": "pause"}, zone="Asia/Shanghai")
    before = {change.field: change.before for change in plan.changes}["next_run"]
    assert before is not None
    assert " UTC = " in before
    assert before.endswith(" Asia/Shanghai")


@pytest.mark.case("sched-V11")
@pytest.mark.case("sched-T23")
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cron_expr": "0/15 * * * *"}, r"cron_expr: .*\*/15"),
        ({"cron_expr": "0 0 30 2 *"}, "cron_expr: .*never comes due"),
        ({"type": "container", "payload": ""}, "image: is required"),
        ({"type": "http", "payload": "ftp://x/y"}, "payload: must be an http"),
        ({"type": "http", "payload": "http://"}, "payload: must be an http"),
        ({"type": "http", "payload": "http://[bad"}, "payload: must be an http"),
        ({"payload": "  "}, "payload: must not be blank"),
        ({"name": "  "}, "name: must not be blank"),
        ({"name": "a\nb"}, "name: must not hold line breaks"),
        ({"name": "db-backup"}, r"name: task db-backup \(#3\) has it already"),
    ],
)
async def test_an_impossible_task_names_field_and_reason_and_proposes_nothing(go, call, changed, said):
    with pytest.raises(errors.Invalid, match=said):
        await call.plan("create_task", NEW_TASK | changed)
    assert writes(go) == []


async def test_all_that_is_wrong_with_a_new_task_is_said_at_once_by_argument(go, call):
    wrong = {"type": "container", "payload": "", "name": "db-backup", "cron_expr": "61 * * * *"}
    with pytest.raises(errors.Invalid) as refused:
        await call.plan("create_task", NEW_TASK | wrong)
    problems = refused.value.problems
    assert problems == {
        "name": Phrase("名称已被任务 db-backup (#3) 使用。", "Task db-backup (#3) has it already."),
        "cron_expr": Phrase(
            "不是有效的五段 cron 表达式（分钟字段 '61' 超出 0-59 或前后颠倒）。",
            "Minute '61' is outside 0-59 or runs backwards.",
        ),
        "image": Phrase("container 类型必须提供镜像。", "Is required for type container."),
    }
    for name, why in problems.items():
        assert f"{name}：{why.zh.rstrip('。')}" in refused.value.phrase.zh
        assert f"{name}: {why.en[0].lower()}{why.en[1:].rstrip('.')}" in refused.value.phrase.en


async def test_a_new_task_is_judged_before_all_of_it_is_given(call):
    assert set(await call.check("create_task", {"name": "db-backup", "type": "container"})) == {
        "name",
        "image",
    }
    assert await call.check("create_task", {}) == {}


@pytest.mark.case("sched-C10")
async def test_a_created_task_is_read_back(go, call):
    outcome = await call.apply("create_task", NEW_TASK | {"max_retry": 0})
    assert (outcome.ok, outcome.verified) == (True, True)
    assert outcome.content.keys() >= {"created", "task_id", "name", "message"}
    assert go.tasks[outcome.content["task_id"]]["MaxRetry"] == 0
    assert "next run: 2026-03-03" in outcome.summary.en


async def test_a_task_stored_differently_is_told_as_such(go, call):
    go.stores_instead = {"Payload": "other"}
    outcome = await call.apply("create_task", NEW_TASK)
    assert (outcome.ok, outcome.verified) == (False, True)
    assert "differs" in outcome.summary.en


async def test_a_name_taken_meanwhile_is_a_conflict(go, call):
    go.add_task(9, "archive-logs")
    with pytest.raises(errors.Conflict):
        await call.apply("create_task", NEW_TASK)


# unknown targets


@pytest.mark.parametrize("name", ["trigger_task", "delete_task"])
async def test_an_unknown_task_names_its_neighbours(call, name):
    with pytest.raises(errors.NotFound, match=r"no task #9\. Tasks with near ids: db-backup \(#3\)"):
        await call.plan(name, {"task_id": 9})


# after a crash


async def test_a_probe_proves_what_the_state_shows_and_changes_nothing(go, call):
    wishes = [
        ("pause_task", {"task_id": 1, "action": "pause"}, Role.OPERATOR),
        ("create_task", NEW_TASK, Role.OPERATOR),
        ("delete_task", {"task_id": 3}, Role.ADMIN),
    ]
    for name, arguments, role in wishes:
        plan = await call.plan(name, arguments, role)
        assert await call.probe(name, arguments, plan, role) is None
        await call.apply(name, arguments, role)
        sent = len(writes(go))
        outcome = await call.probe(name, arguments, plan, role)
        assert outcome is not None
        assert (outcome.ok, outcome.verified) == (True, True)
        assert len(writes(go)) == sent


async def test_a_probe_of_a_run_proves_nothing(go, call):
    go.add_run(1, "failed")
    for name, arguments in (("trigger_task", {"task_id": 1}), ("retry_failed_instance", {"instance_id": 1})):
        plan = await call.plan(name, arguments)
        await call.apply(name, arguments)
        assert await call.probe(name, arguments, plan) is None


@pytest.mark.parametrize("kind", ["502", "500", "hang up"])
async def test_a_probe_of_a_scheduler_that_is_down_proves_nothing(call, faulty, kind):
    arguments = {"task_id": 1, "action": "pause"}
    plan = await call.plan("pause_task", arguments)
    faulty("GET .*", kind, times=9)
    assert await call.probe("pause_task", arguments, plan) is None


@pytest.mark.parametrize("kind", ["502", "500", "rubbish", "hang up"])
async def test_a_plan_needs_its_readings(go, call, faulty, kind):
    faulty("GET /api/v1/tasks/1", kind, times=3)
    with pytest.raises(ToolFailed):
        await call.plan("trigger_task", {"task_id": 1})
    assert writes(go) == []
