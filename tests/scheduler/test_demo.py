"""The demo's accounts, tasks and first history."""

from __future__ import annotations

import pytest

from chatops_bot.scheduler.demo import FIRST_RUNS

pytestmark = pytest.mark.case("sched-E11")


async def test_eight_tasks_with_real_history_and_nothing_run_again_on_the_next_start(start_api, eventually):
    async with start_api(demo=True, shell=None) as api:
        accounts = api.service.accounts
        assert set(accounts) == {"viewer", "operator", "admin"}
        log_in = await api.call(None, "POST", "/api/auth/login", accounts["admin"])
        assert log_in.body["role"] == "admin"
        api.tokens["viewer"] = log_in.body["token"]
        tasks = {task["Name"]: task for task in await api.get("/api/v1/tasks")}
        assert len(tasks) == 8
        assert tasks["nightly-report"]["CronExpr"] == "0 2 * * *"
        assert [name for name, task in tasks.items() if task["Status"] == "disabled"] == ["legacy-sync"]

        async def all_ended():
            page = await api.get("/api/v1/task-instances")
            ended = [run for run in page["instances"] if run["FinishedAt"] > "0002"]
            # The first runs, the retry of the backup, and the mail that follows the report.
            return page["instances"] if len(ended) == len(FIRST_RUNS) + 2 else None

        runs = await eventually(all_ended)
        names = {task["ID"]: name for name, task in tasks.items()}
        outcome = {(names[run["TaskID"]], run["Status"]) for run in runs}
        assert outcome == {
            ("nightly-report", "success"),
            ("report-email", "success"),
            ("metrics-rollup", "success"),
            ("log-archive", "success"),
            ("db-backup", "failed"),
            ("cache-warmup", "timeout"),
        }
        backup = next(run for run in runs if names[run["TaskID"]] == "db-backup")
        assert "Connection refused" in backup["ErrorMessage"]
    async with start_api(demo=True, shell=None) as api:
        assert api.service.accounts == accounts
        api.tokens["viewer"] = log_in.body["token"]
        assert (await api.get("/api/v1/task-instances"))["total"] == len(runs)
        rollup = next(task for task in await api.get("/api/v1/tasks") if task["Name"] == "metrics-rollup")
        assert rollup["Payload"] == f"{api.service.url}/healthz"
