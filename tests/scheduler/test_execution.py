"""Payloads that really run."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from aiohttp import web


async def test_a_success_keeps_its_output_and_times(api):
    run = await api.run(await api.create(payload="echo out; echo err >&2"))
    assert (run["Status"], run["ErrorCode"], run["ErrorMessage"]) == ("success", "", "out\n")
    assert run["TriggerTime"] <= run["DispatchTime"] <= run["StartedAt"] <= run["FinishedAt"]
    assert run["WorkerID"] == "embedded"
    log = await api.get(f"/api/v1/task-instances/{run['ID']}/logs")
    assert sorted(log["content"].split()) == ["err", "out"]
    assert (log["total_bytes"], log["truncated"], log["complete"]) == (8, False, True)
    assert (await api.get(f"/api/v1/task-instances/{run['ID']}/logs?tail=2"))["content"] == log["content"][
        -2:
    ]


async def test_a_failure_says_the_exit_code_and_the_end_of_stderr(api):
    run = await api.run(await api.create(payload="echo no disk >&2; exit 3"))
    assert (run["Status"], run["ErrorCode"]) == ("failed", "execute_failed")
    assert run["ErrorMessage"] == "exit code 3\nno disk"


@pytest.mark.case("sched-T21")
async def test_long_output_is_cut_between_characters(api):
    run = await api.run(await api.create(payload="printf '错%.0s' {1..3000}"))
    assert run["ErrorMessage"] == "错" * 1024
    failed = await api.run(await api.create("bad", payload="printf '错%.0s' {1..3000} >&2; exit 1"))
    assert failed["ErrorMessage"] == "exit code 1\n" + "错" * 1024


async def test_a_flood_of_output_keeps_head_and_tail(api):
    run = await api.run(
        await api.create(payload="echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo last")
    )
    log = await api.get(f"/api/v1/task-instances/{run['ID']}/logs")
    assert log["content"].startswith("first\n")
    assert log["content"].endswith("last\n")
    assert log["truncated"]
    assert log["total_bytes"] == 3_000_011
    assert len(log["content"]) < 1_100_000


@pytest.mark.case("sched-V13")
@pytest.mark.parametrize("isolation", ["auto", "none"])
async def test_a_timeout_is_recorded_as_such_and_ends_the_whole_group(start_api, isolation):
    # Both processes ignore TERM; the grandchild would print for ever.
    payload = "trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & echo started >&2; wait"
    async with start_api(isolation=isolation) as api:
        run = await api.run(await api.create(payload=payload, timeout_seconds=1))
        assert (run["Status"], run["ErrorCode"]) == ("timeout", "timeout")
        assert run["ErrorMessage"] == "timed out after 1 s\nstarted"


async def test_term_comes_before_kill(api):
    payload = "trap 'echo cleaned up >&2; exit 0' TERM; sleep 30 & wait"
    run = await api.run(await api.create(payload=payload, timeout_seconds=1))
    assert run["ErrorMessage"] == "timed out after 1 s\ncleaned up"


async def test_a_payload_that_leaves_a_child_behind_ends_anyway(api):
    started = time.monotonic()
    run = await api.run(await api.create(payload="(sleep 60) & setsid sleep 60 & echo done"))
    assert (run["Status"], run["ErrorMessage"]) == ("success", "done\n")
    assert time.monotonic() - started < 30


async def test_cancelling_a_running_instance_stops_it(api, eventually):
    instance_id = await api.trigger(await api.create(payload="echo on; sleep 60"))

    async def running():
        return (await api.instance(instance_id))["Status"] == "running"

    await eventually(running)
    answer = await api.call("operator", "POST", f"/api/v1/task-instances/{instance_id}/cancel")
    assert (answer.status, answer.body["Status"], answer.body["ErrorCode"]) == (200, "cancelled", "cancelled")

    async def logged():
        return (await api.get(f"/api/v1/task-instances/{instance_id}/logs"))["total_bytes"]

    assert await eventually(logged) == 3
    again = await api.call("operator", "POST", f"/api/v1/task-instances/{instance_id}/cancel")
    assert (again.status, again.body) == (409, {"error": f"task instance {instance_id} is already cancelled"})


async def test_a_retry_by_hand_is_linked_and_really_runs(api):
    run = await api.run(await api.create(payload="exit 1"))
    answer = await api.call("operator", "POST", f"/api/v1/task-instances/{run['ID']}/retry")
    assert answer.status == 201
    assert answer.body["RetryOfInstanceID"] == run["ID"]
    assert answer.body["RetryCount"] == 1
    again = await api.ended(answer.body["ID"])
    assert again["Status"] == "failed"
    good = await api.run(await api.create("good"))
    refused = await api.call("operator", "POST", f"/api/v1/task-instances/{good['ID']}/retry")
    assert refused.status == 409
    assert "is success" in refused.body["error"]


async def test_a_second_retry_waits_for_the_first(api):
    run = await api.run(await api.create(payload="test -e x || { sleep 0.5; exit 1; }"))
    path = f"/api/v1/task-instances/{run['ID']}/retry"
    answers = await asyncio.gather(*(api.call("operator", "POST", path) for _ in range(5)))
    assert sorted(answer.status for answer in answers) == [201, 409, 409, 409, 409]


async def test_shell_is_off_unless_enabled(start_api):
    async with start_api(shell=None) as api:
        run = await api.run(await api.create())
        assert (run["Status"], run["ErrorCode"]) == ("failed", "executor_unavailable")
        assert (await api.get("/api/v1/capabilities"))["shell"]["enabled"] is False


async def test_containers_say_that_they_cannot_run_here(api):
    run = await api.run(await api.create(type="container", image="alpine"))
    assert (run["Status"], run["ErrorCode"]) == ("failed", "executor_unavailable")


async def test_http_tasks_may_fetch_the_service_itself(api):
    run = await api.run(await api.create(type="http", payload=f"{api.service.url}/healthz"))
    assert (run["Status"], run["ErrorMessage"]) == ("success", '{"status":"ok"}')
    missing = await api.run(await api.create("no", type="http", payload=f"{api.service.url}/nothing"))
    assert missing["Status"] == "failed"
    assert missing["ErrorMessage"].startswith("HTTP status 404")


OWN_ADDRESSES = (
    "127.0.0.1",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
    "0.0.0.0",
    "2130706433",
)


async def test_http_tasks_may_not_press_buttons_on_this_machine(api):
    pressed = []

    async def press(request: web.Request) -> web.Response:
        pressed.append(request.path)
        return web.Response()

    app = web.Application()
    app.router.add_route("*", "/{any:.*}", press)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        for host in OWN_ADDRESSES:
            task_id = await api.create(host, type="http", payload=f"http://{host}:{port}/approve")
            run = await api.run(task_id)
            assert run["Status"] == "failed", host
            problem = run["ErrorMessage"]
            assert "may not fetch" in problem or "not a canonical IPv4" in problem, problem
    finally:
        await runner.cleanup()
    assert pressed == []


async def test_without_bubblewrap_root_runs_payloads_as_nobody(start_api, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can start a payload as another user")
    async with start_api(isolation="user") as api:
        payload = f"id -u; pwd; touch here && echo wrote; cat {tmp_path}/scheduler-token-secret /proc/{os.getpid()}/environ"
        run = await api.run(await api.create(payload=payload))
        log = (await api.get(f"/api/v1/task-instances/{run['ID']}/logs"))["content"]
        uid, folder, wrote = log.split()[:3]
        assert (uid, wrote) == ("65534", "wrote")
        assert log.count("Permission denied") == 2
        assert not await asyncio.to_thread(Path(folder).exists)
        assert (await api.get("/api/v1/capabilities"))["shell"] == {
            "enabled": True,
            "isolation": "user",
            "network_blocked": False,
        }
