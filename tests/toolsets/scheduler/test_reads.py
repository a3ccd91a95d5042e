"""The seven tools that read, against a service with the Go service's traps."""

import json
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.session import SessionKey
from chatops_bot.ports import ToolContext
from chatops_bot.toolsets.scheduler import Account, SchedulerClient, errors, scheduler_tools

VIEWER = ToolContext(Person("U1", "Ana", Role.VIEWER), SessionKey("sim", "T1", "C1", "1.0"), "turn_1")
ACCOUNTS = {Role.VIEWER: Account("viewer", "pass-viewer")}

TASK_KEYS = {
    "id", "name", "type", "cron_expr", "status", "next_trigger_time", "max_retry", "timeout_seconds",
}  # fmt: skip
RUN_KEYS = {
    "id", "task_id", "schedule_instance_id", "status", "worker_id", "trigger_time", "retry_count",
    "error_code", "error_message",
}  # fmt: skip


@pytest.fixture(autouse=True)
def some_tasks(go):
    go.add_task(1, "nightly-report")
    go.add_task(2, "Log-Cleanup", Status="disabled", NextTriggerTime="0001-01-01T00:00:00Z")
    go.add_task(3, "db-backup", Type="http", Payload="http://backup.internal/run")
    go.workers.append(
        {"ID": "worker-1", "Hostname": "node-a", "Status": "online", "CurrentLoad": 3, "MaxConcurrency": 10}
    )
    go.workers.append(
        {"ID": "worker-2", "Hostname": "node-b", "Status": "offline", "CurrentLoad": 0, "MaxConcurrency": 10}
    )


@pytest.mark.case("sched-C5")
async def test_query_tasks_filters_by_part_of_the_name_in_any_case(call):
    result = await call("query_tasks", {"name": "LOG"})
    assert result.content["tasks"][0].keys() == TASK_KEYS
    assert [task["name"] for task in result.content["tasks"]] == ["Log-Cleanup"]
    assert result.content["tasks"][0]["next_trigger_time"] is None
    assert result.summary.zh == "找到 1 个任务"


@pytest.mark.case("sched-C5")
async def test_query_tasks_says_how_many_match_beyond_the_limit(call):
    result = await call("query_tasks", {"status": "enabled", "limit": "1"})
    content = result.content
    assert (content["count"], content["total_matched"], content["truncated"]) == (1, 2, True)


@pytest.mark.case("sched-V5")
@pytest.mark.case("sched-T3")
async def test_recent_failures_are_the_newest_ones(go, call):
    for _ in range(60):
        go.add_run(1, "failed", ago=10)
    go.add_run(3, "failed", ago=0.1, ErrorMessage="boom")
    result = await call("query_instances", {"status": "failed", "limit": 5})
    first = result.content["instances"][0]
    assert (first["id"], first["task_name"], first["error_message"]) == (61, "db-backup", "boom")
    assert first.keys() >= RUN_KEYS
    assert result.content["truncated"]
    assert result.content["total_matched"] == 61
    assert "status=" not in "".join(go.requests)
    assert result.suggestions[0].en == "Why did run #61 fail?"
    assert result.suggestions[0].zh == "分析运行 #61 为什么失败"


@pytest.mark.case("sched-V5")
@pytest.mark.case("sched-T12")
async def test_hours_beyond_a_day_are_honoured(go, call):
    for ago in (80, 71, 30, 2):
        go.add_run(1, "failed", ago=ago)
    result = await call("query_instances", {"hours": 72})
    assert [run["id"] for run in result.content["instances"]] == [4, 3, 2]
    day = await call("query_instances", {})
    assert [run["id"] for run in day.content["instances"]] == [4]


@pytest.mark.case("sched-T4")
@pytest.mark.parametrize("total", [1, 199, 200, 201, 400, 450])
async def test_paging_reads_every_run_once_and_stops_at_the_total(go, call, total):
    for _ in range(total):
        go.add_run(1, "success", ago=1)
    result = await call("query_instances", {"limit": 200})
    assert result.content["total_matched"] == total
    assert not (result.content["truncated"] and total <= 200)
    assert go.calls("GET /api/v1/task-instances") == -(-total // 200)


@pytest.mark.case("sched-T4")
async def test_runs_that_start_while_paging_are_no_second_rows(go, call):
    for _ in range(450):
        go.add_run(1, "success", ago=1)
    go.a_run_starts_with_each_page = True
    content = (await call("query_instances", {"status": "success", "limit": 200})).content
    assert content["total_matched"] == 450


@pytest.mark.case("sched-C3")
async def test_pages_without_a_total_are_read_to_their_end(go, call):
    for _ in range(130):
        go.add_run(1, "success", ago=1)
    go.bare_arrays = True
    content = (await call("query_instances", {"limit": 200})).content
    assert content["total_matched"] == 130


@pytest.mark.case("sched-C6")
async def test_a_window_that_holds_too_many_runs_reports_the_cut(go, call):
    for number in range(2_100):
        go.add_run(1, "failed" if number == 5 else "success", ago=1)
    result = await call("query_instances", {"status": "failed"})
    assert result.content["total_matched"] == 0
    assert result.content["truncated"]
    assert "2000" in result.summary.en
    assert result.content["only_newest_looked_at"] == 2000
    assert go.calls("GET /api/v1/task-instances") == 10


async def test_runs_of_one_task_are_asked_for_by_task(go, call):
    go.add_run(1, "failed")
    go.add_run(3, "success")
    result = await call("query_instances", {"task_id": 1})
    assert [run["task_id"] for run in result.content["instances"]] == [1]
    assert result.content["by_status"] == {"failed": 1}


@pytest.mark.case("sched-T21")
async def test_a_long_error_is_cut_on_a_character(go, call):
    go.add_run(1, "failed", ErrorMessage="磁盘已满" * 300)
    result = await call("query_instances", {})
    message = result.content["instances"][0]["error_message"]
    assert len(message) == 500
    assert message == ("磁盘已满" * 300)[:499] + "…"


async def test_query_workers_counts_and_rates(call):
    content = (await call("query_workers")).content
    assert (content["total"], content["online"]) == (2, 1)
    assert content["workers"][0] == {
        "id": "worker-1",
        "hostname": "node-a",
        "status": "online",
        "current_load": 3,
        "max_concurrency": 10,
        "utilization_pct": "30.0%",
        "last_heartbeat_at": None,
    }


async def test_task_detail_has_dependencies_and_recent_runs(go, call):
    go.edges += [(3, 1), (2, 3)]
    go.add_run(3, "failed", ago=30)
    go.add_run(3, "failed", ago=2)
    content = (await call("get_task_detail", {"task_id": "3"})).content
    assert content.keys() >= TASK_KEYS | {
        "payload", "retry_policy", "route_strategy", "upstream_deps", "downstream_deps", "recent_instances",
    }  # fmt: skip
    assert content["upstream_deps"] == [{"id": 1, "name": "nightly-report"}]
    assert content["downstream_deps"] == [{"id": 2, "name": "Log-Cleanup"}]
    assert [run["id"] for run in content["recent_instances"]] == [2]
    assert content["labels"] == {"team": "ops"}


async def test_an_unknown_task_names_its_neighbours(call):
    with pytest.raises(errors.NotFound) as caught:
        await call("get_task_detail", {"task_id": 4})
    assert "db-backup (#3)" in caught.value.phrase.en
    assert "没有任务 #4" in caught.value.phrase.zh


async def test_health_counts_timeouts_as_failures(go, call):
    for status in ("success", "success", "success", "failed", "timeout", "running", "cancelled"):
        go.add_run(1, status)
    go.add_run(1, "failed", ago=25)
    result = await call("get_system_health")
    content = result.content
    assert content["tasks"] == {"total": 3, "enabled": 2, "disabled": 1}
    assert content["workers"] == {"total": 2, "online": 1, "avg_load_pct": 30.0}
    assert content["instances_24h"] == {
        "total": 7,
        "success": 3,
        "failed": 2,
        "running": 1,
        "failure_rate": 0.4,
    }
    assert result.suggestions[0].zh == "最近有哪些任务失败了？"
    assert len(result.suggestions) <= 2


@pytest.mark.case("sched-V9")
@pytest.mark.case("sched-T13")
@pytest.mark.parametrize("path", ["tasks", "workers", "task-instances"])
@pytest.mark.parametrize("kind", ["500", "rubbish", "502"])
async def test_health_fails_when_any_reading_fails(call, faulty, path, kind):
    faulty(f"GET /api/v1/{path}", kind, times=3)
    with pytest.raises(ToolFailed):
        await call("get_system_health")


@pytest.mark.case("sched-C7")
async def test_load_history_without_a_source_is_an_error_not_an_empty_list(call):
    with pytest.raises(errors.NotSupported, match="not_supported_by_backend"):
        await call("get_worker_load_history")


@pytest.mark.case("sched-C5a")
@pytest.mark.parametrize(
    ("samples", "shown", "every"), [(0, 0, 1), (200, 200, 1), (201, 101, 2), (2_000, 200, 10)]
)
async def test_load_history_comes_from_the_scheduler_process_thinned_evenly(
    go, http, clock, samples, shown, every
):
    async def loads(request: web.Request) -> web.StreamResponse:
        assert (request.query["hours"], request.query["worker_id"]) == ("6", "worker-1")
        assert "Authorization" not in request.headers
        row = {"WorkerID": "worker-1", "MaxConcurrency": 10, "Status": "online"}
        return web.json_response([row | {"ID": n, "CurrentLoad": n % 10} for n in range(samples)])

    process = web.Application()
    process.router.add_get("/api/v1/worker-loads", loads)
    async with TestServer(process) as server:
        client = SchedulerClient(http, go.url, ACCOUNTS, worker_loads_url=str(server.make_url("")))
        tool: Any = next(
            t for t in scheduler_tools(client, clock) if t.spec.name == "get_worker_load_history"
        )
        arguments = tool.spec.arguments(worker_id="worker-1", hours=6)
        content = (await tool.run(arguments, VIEWER)).content
    assert (content["count"], content["every_nth"], content["total_matched"]) == (shown, every, samples)
    assert content["truncated"] is (samples > 200)


async def test_analysis_brings_the_facts_together(go, call):
    go.add_run(1, "success", ago=30)
    go.add_run(
        1,
        "failed",
        ErrorMessage="exit 1",
        AnalysisJSON=json.dumps({"root_cause": "disk"}),
        StartedAt="2026-03-02T13:00:00Z",
    )
    result = await call("analyze_failure", {"instance_id": 2})
    content = result.content
    assert content.keys() >= {
        "instance_id", "task_id", "task_type", "status", "error_code", "error_message", "retry_count",
        "trigger_time", "worker_id",
    }  # fmt: skip
    assert content["task_type"] == "shell"
    assert content["analysis"] == {"root_cause": "disk"}
    assert [run["id"] for run in content["recent_runs"]] == [2, 1]
    assert content["started_at"] == "2026-03-02T13:00:00Z"
    assert result.suggestions[0].en == "Retry run #2"


async def test_a_run_that_succeeded_is_said_to_have_succeeded(go, call):
    go.add_run(1, "success")
    result = await call("analyze_failure", {"instance_id": 1})
    assert "did not fail" in result.summary.en
    assert not result.content["has_failed"]


async def test_a_failure_of_a_deleted_task_is_still_analysed(go, call):
    go.add_run(77, "failed")
    content = (await call("analyze_failure", {"instance_id": 1})).content
    assert content["task"] is None


async def test_an_unknown_run_names_the_newest_failures(go, call):
    go.add_run(1, "failed")
    with pytest.raises(errors.NotFound, match="#1"):
        await call("analyze_failure", {"instance_id": 99})


async def test_every_read_is_stamped_with_its_time(go, call, clock):
    clock.time += timedelta(minutes=1)
    for name in ("query_tasks", "query_instances", "query_workers", "get_system_health"):
        assert (await call(name)).content["as_of"] == "2026-03-02T14:33:00Z"
