"""Every route, role and status code over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from chatops_bot.scheduler.api.app import ROUTES
from chatops_bot.scheduler.clock import ZERO_TIME

pytestmark = pytest.mark.case("sched-E2")

# route -> lowest role that passes the gate. "worker" is the worker token or an admin's.
GATES = {
    "GET /api/v1/capabilities": "viewer",
    "GET /api/v1/tasks": "viewer",
    "POST /api/v1/tasks": "operator",
    "GET /api/v1/tasks/dag": "viewer",
    "GET /api/v1/tasks/{id}": "viewer",
    "PUT /api/v1/tasks/{id}": "operator",
    "DELETE /api/v1/tasks/{id}": "admin",
    "POST /api/v1/tasks/{id}/pause": "operator",
    "POST /api/v1/tasks/{id}/resume": "operator",
    "POST /api/v1/tasks/{id}/trigger": "operator",
    "GET /api/v1/task-instances": "viewer",
    "GET /api/v1/task-instances/{id}": "viewer",
    "GET /api/v1/task-instances/{id}/logs": "viewer",
    "POST /api/v1/task-instances/{id}/retry": "operator",
    "POST /api/v1/task-instances/{id}/cancel": "operator",
    "POST /api/v1/task-instances/report": "worker",
    "POST /api/v1/task-instances/ack": "worker",
    "POST /api/v1/task-instances/cancel": "worker",
    "GET /api/v1/workers": "viewer",
    "GET /api/v1/workers/{id}": "viewer",
    "POST /api/v1/workers/register": "worker",
    "POST /api/v1/workers/heartbeat": "worker",
    "GET /api/v1/worker-loads": "viewer",
    "POST /internal/tasks/execute": "worker",
    "POST /internal/tasks/cancel": "worker",
}
OPEN = {"POST /api/auth/login", "GET /healthz", "GET /metrics"}
RANK = {"viewer": 1, "operator": 2, "admin": 3, "worker": 3}


def test_every_route_has_a_stated_gate():
    assert {f"{method} {path}" for method, path, _ in ROUTES} == set(GATES) | OPEN


async def test_roles_are_enforced_on_every_route(api):
    for route, lowest in GATES.items():
        method, path = route.replace("{id}", "999").split(" ")
        anonymous = await api.call(None, method, path)
        assert (anonymous.status, anonymous.body) == (401, {"error": "missing authorization token"}), route
        forged = await api.call(None, method, path, headers={"Authorization": "Bearer a.b.c"})
        assert (forged.status, forged.body) == (401, {"error": "invalid or expired token"}), route
        for role in ("viewer", "operator", "admin"):
            answer = await api.call(role, method, path)
            if RANK[role] < RANK[lowest]:
                assert (answer.status, answer.body) == (403, {"error": "insufficient permissions"}), (
                    route,
                    role,
                )
            else:
                assert answer.status in (200, 400, 404), (route, role, answer)
                if answer.status >= 400:
                    assert set(answer.body) == {"error"}


async def test_log_in_gives_a_token_for_an_hour(api):
    good = await api.call(None, "POST", "/api/auth/login", {"username": "admin", "password": "correct horse"})
    assert good.status == 200
    assert good.body["role"] == "admin"
    assert good.body["expires_in"] == 3600
    for body in ({"username": "admin", "password": "x"}, {"username": "nobody", "password": "correct horse"}):
        bad = await api.call(None, "POST", "/api/auth/login", body)
        assert (bad.status, bad.body) == (401, {"error": "invalid username or password"})
    missing = await api.call(None, "POST", "/api/auth/login", {"username": "admin"})
    assert (missing.status, missing.body) == (400, {"error": "password: is required"})


async def test_a_token_in_the_query_string_is_accepted(api):
    answer = await api.call(None, "GET", f"/api/v1/tasks?token={await api.token('viewer')}")
    assert answer.status == 200


async def test_open_routes_and_unknown_ones(api):
    assert (await api.call(None, "GET", "/healthz")).body == {"status": "ok"}
    metrics = await api.call(None, "GET", "/metrics")
    assert "scheduler_http_requests_total" in metrics.body
    unknown = await api.call("viewer", "GET", "/api/v1/nothing")
    assert unknown.status == 404
    assert isinstance(unknown.body, str)
    wrong = await api.call("viewer", "PATCH", "/api/v1/tasks")
    assert (wrong.status, wrong.body) == (405, {"error": "method not allowed", "method": "PATCH"})


async def test_a_task_is_created_with_the_documented_defaults(api):
    answer = await api.call(
        "operator", "POST", "/api/v1/tasks", {"name": "one", "type": "shell", "labels": {"team": "数据"}}
    )
    assert answer.status == 201
    task = answer.body
    expected = {
        "Name": "one",
        "Status": "enabled",
        "TimeoutSeconds": 300,
        "MaxRetry": 0,
        "RetryPolicy": "fixed_interval",
        "RouteStrategy": "round_robin",
        "Labels": '{"team": "数据"}',
        "NextTriggerTime": ZERO_TIME,
        "TenantID": 0,
        "Version": 1,
    }
    assert {key: task[key] for key in expected} == expected
    assert await api.get(f"/api/v1/tasks/{task['ID']}") == task
    assert await api.get("/api/v1/tasks") == [task]


WRONG_FIELDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"name": ""}, "name: is required"),
    ({"name": None}, "name: input should be a valid string"),
    ({"name": "x" * 129}, "name: string should have at most 128 characters"),
    ({"type": ""}, "type: is required"),
    ({"type": "python"}, "type: must be one of shell, http, container"),
    ({"type": "container"}, "image: is required for type container"),
    ({"type": "http", "payload": "ftp://x"}, "payload: must be an http or https URL for type http"),
    ({"cron_expr": "0/15 * * * *"}, "did you mean '*/15'?"),
    ({"cron_expr": "@daily"}, "cron_expr: '@daily' is not supported"),
    ({"cron_expr": "0 0 30 2 *"}, "never comes due"),
    ({"timezone": "Mars/Olympus"}, "timezone: 'Mars/Olympus' is no IANA zone name"),
    ({"timeout_seconds": 86_401}, "timeout_seconds: must be 1 to 86400"),
    ({"timeout_seconds": "5"}, "timeout_seconds: input should be a valid integer"),
    ({"retry_policy": "never"}, "retry_policy: must be one of fixed_interval"),
    ({"status": "paused"}, "status: must be one of enabled, disabled"),
    ({"next_trigger_time": "soon"}, "next_trigger_time: "),
    ({"depends_on": [77]}, "depends_on: task 77 does not exist"),
)


async def test_a_wrong_field_is_named_with_the_reason(api):
    for change, problem in WRONG_FIELDS:
        body = {"name": "job", "type": "shell"} | change
        answer = await api.call("operator", "POST", "/api/v1/tasks", body)
        assert answer.status == 400, change
        assert problem in answer.body["error"]
    assert await api.get("/api/v1/tasks") == []


async def test_bodies_that_are_no_json_objects_are_refused(api):
    token = await api.token("operator")
    for raw in (b"{", b"[1]", b"[" * 100_000):
        async with api.http.post(
            f"{api.service.url}/api/v1/tasks", data=raw, headers={"Authorization": f"Bearer {token}"}
        ) as response:
            assert response.status == 400
            assert (await response.json())["error"].startswith("body: ")


async def test_a_taken_name_is_a_conflict(api):
    await api.create("one")
    other = await api.create("two")
    body = {"name": "one", "type": "shell"}
    assert (await api.call("operator", "POST", "/api/v1/tasks", body)).status == 409
    renamed = await api.call("operator", "PUT", f"/api/v1/tasks/{other}", body)
    assert (renamed.status, renamed.body) == (409, {"error": "a task named 'one' already exists"})


@pytest.mark.case("sched-T2")
async def test_put_replaces_everything(api):
    upstream = await api.create("up")
    task_id = await api.create("down", cron_expr="0 2 * * *", depends_on=[upstream], status="disabled")
    answer = await api.call("operator", "PUT", f"/api/v1/tasks/{task_id}", {"name": "down", "type": "shell"})
    assert answer.status == 200
    assert (answer.body["CronExpr"], answer.body["Status"], answer.body["Version"]) == ("", "enabled", 2)
    dag = {node["id"]: node["depends_on"] for node in await api.get("/api/v1/tasks/dag")}
    assert dag == {upstream: [], task_id: []}


@pytest.mark.case("sched-V14")
async def test_dependency_cycles_are_refused(api):
    first = await api.create("first")
    second = await api.create("second", depends_on=[first])
    body = {"name": "first", "type": "shell", "depends_on": [second]}
    answer = await api.call("operator", "PUT", f"/api/v1/tasks/{first}", body)
    assert answer.status == 400
    assert "cycle" in answer.body["error"]
    own = await api.call("operator", "PUT", f"/api/v1/tasks/{first}", body | {"depends_on": [first]})
    assert own.status == 400
    assert [node["depends_on"] for node in await api.get("/api/v1/tasks/dag")] == [[], [first]]


async def test_pause_stops_and_resume_recomputes_the_next_time(api):
    task_id = await api.create(cron_expr="0 2 * * *")
    paused = await api.call("operator", "POST", f"/api/v1/tasks/{task_id}/pause")
    assert (paused.status, paused.body["Status"], paused.body["NextTriggerTime"]) == (
        200,
        "disabled",
        ZERO_TIME,
    )
    again = await api.call("operator", "POST", f"/api/v1/tasks/{task_id}/pause")
    assert again.body == paused.body
    refused = await api.call("operator", "POST", f"/api/v1/tasks/{task_id}/trigger")
    assert (refused.status, refused.body) == (409, {"error": f"task {task_id} is not enabled"})
    resumed = await api.call("operator", "POST", f"/api/v1/tasks/{task_id}/resume")
    assert resumed.body["Status"] == "enabled"
    assert resumed.body["NextTriggerTime"].endswith("T02:00:00Z")


async def test_delete_forgets_the_task_and_keeps_its_runs(api):
    task_id = await api.create()
    run = await api.run(task_id)
    gone = await api.call("admin", "DELETE", f"/api/v1/tasks/{task_id}")
    assert (gone.status, gone.body) == (204, "")
    missing = await api.call("viewer", "GET", f"/api/v1/tasks/{task_id}")
    assert (missing.status, missing.body) == (404, {"error": f"task {task_id} not found"})
    assert (await api.instance(run["ID"]))["Status"] == "success"
    assert (await api.call("operator", "POST", f"/api/v1/task-instances/{run['ID']}/retry")).status == 409


@pytest.mark.case("sched-V5")
async def test_instances_are_listed_newest_first_in_every_filter(api):
    good, bad = await api.create("good"), await api.create("bad", "exit 1")
    runs = [await api.run(task_id) for task_id in (good, bad, good, bad)]
    newest_first = [run["ID"] for run in reversed(runs)]

    async def ids(query: str) -> tuple[list[int], int]:
        page = await api.get(f"/api/v1/task-instances{query}")
        return [run["ID"] for run in page["instances"]], page["total"]

    assert await ids("") == (newest_first, 4)
    assert await ids("?status=failed") == ([newest_first[0], newest_first[2]], 2)
    assert await ids(f"?task_id={good}") == ([newest_first[1], newest_first[3]], 2)
    assert await ids("?limit=1&offset=1") == ([newest_first[1]], 4)
    assert await ids("?offset=4") == ([], 4)
    assert (await api.call("viewer", "GET", "/api/v1/task-instances?status=done")).status == 400
    assert (await api.call("viewer", "GET", "/api/v1/task-instances?limit=x")).status == 400


async def test_the_embedded_worker_is_listed_with_its_load_history(api):
    (worker,) = await api.get("/api/v1/workers")
    assert (worker["ID"], worker["Status"], worker["MaxConcurrency"]) == ("embedded", "online", 50)
    assert await api.get("/api/v1/workers/embedded") == worker
    assert (await api.call("viewer", "GET", "/api/v1/workers/other")).status == 404
    samples = await api.get("/api/v1/worker-loads?worker_id=embedded&hours=1&limit=10")
    assert samples
    assert set(samples[0]) == {"ID", "WorkerID", "CurrentLoad", "MaxConcurrency", "Status", "RecordedAt"}
    assert await api.get("/api/v1/worker-loads?worker_id=other") == []


async def test_capabilities_tell_the_extensions_and_the_isolation(api):
    told = await api.get("/api/v1/capabilities")
    assert told["instances_order"] == "newest_first"
    assert "task_instances.retry" in told["extensions"]
    assert told["shell"]["enabled"] is True
    assert told["shell"]["isolation"] == api.service.sandbox.isolation.value


async def test_a_remote_worker_speaks_the_same_protocol(api):
    who = {"worker_id": "w1", "hostname": "host", "max_concurrency": 3}
    unknown = await api.call("worker", "POST", "/api/v1/workers/heartbeat", {"worker_id": "w1"})
    assert unknown.status == 404
    registered = await api.call("worker", "POST", "/api/v1/workers/register", who)
    assert (registered.status, registered.body["MaxConcurrency"]) == (201, 3)
    beat = await api.call(
        "worker", "POST", "/api/v1/workers/heartbeat", {"worker_id": "w1", "current_load": 2}
    )
    assert beat.status == 200
    assert (await api.get("/api/v1/workers/w1"))["CurrentLoad"] == 2
    nameless = await api.call("worker", "POST", "/api/v1/workers/register", {"hostname": "h"})
    assert (nameless.status, nameless.body) == (400, {"error": "worker_id: is required"})


@pytest.mark.case("sched-E5")
async def test_a_report_after_the_end_changes_nothing_and_is_answered_200(api):
    run = await api.run(await api.create())
    late = {"schedule_instance_id": run["ScheduleInstanceID"], "status": "failed", "error_code": "late"}
    answer = await api.call("worker", "POST", "/api/v1/task-instances/report", late)
    assert answer.status == 200
    assert await api.instance(run["ID"]) == run
    unknown = late | {"schedule_instance_id": "task-0-0"}
    assert (await api.call("worker", "POST", "/api/v1/task-instances/report", unknown)).status == 404
    nonsense = late | {"status": "pending"}
    assert (await api.call("worker", "POST", "/api/v1/task-instances/report", nonsense)).status == 400
