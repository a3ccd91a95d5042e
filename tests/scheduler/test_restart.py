"""What a restart finds: cut-off runs, tokens, idempotency keys, undelivered alerts."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest
from aiohttp import web

from chatops_bot.scheduler import StartRefused


class Receiver:
    """A webhook receiver that answers with the next of `statuses`, then 200."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def start(self) -> None:
        app = web.Application()
        app.router.add_post("/hook", self._take)
        self.runner = web.AppRunner(app)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", self.port).start()
        self.port = self.runner.addresses[0][1]

    async def stop(self) -> None:
        if self.runner is not None:
            await self.runner.cleanup()
            self.runner = None

    async def _take(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.json())
        self.headers.append(dict(request.headers))
        return web.Response(status=self.statuses.pop(0) if self.statuses else 200)


@pytest.fixture
async def receiver():
    found = Receiver()
    await found.start()
    yield found
    await found.stop()


@pytest.mark.case("sched-E9")
async def test_runs_under_way_fail_as_scheduler_restart_and_are_tried_again(start_api, eventually):
    async with start_api() as api:
        task_id = await api.create(
            payload="test -e /tmp/x || sleep 30", max_retry=1, retry_interval_seconds=3600
        )
        instance_id = await api.trigger(task_id)

        async def running():
            return (await api.instance(instance_id))["Status"] == "running"

        await eventually(running)
    async with start_api() as api:
        cut = await api.instance(instance_id)
        assert (cut["Status"], cut["ErrorCode"]) == ("failed", "scheduler_restart")
        page = await api.get("/api/v1/task-instances")
        assert [(run["Status"], run["RetryOfInstanceID"]) for run in page["instances"]] == [
            ("retry_waiting", instance_id),
            ("failed", 0),
        ]


async def test_tokens_outlive_a_restart(start_api):
    async with start_api() as api:
        token = await api.token("viewer")
    async with start_api() as api:
        api.tokens["viewer"] = token
        assert await api.get("/api/v1/tasks") == []


@pytest.mark.case("sched-T23")
async def test_an_idempotency_key_gives_the_first_answer_again_even_after_a_restart(start_api):
    key = {"Idempotency-Key": "proposal-17"}
    body = {"name": "once", "type": "shell", "payload": "exit 1"}
    async with start_api() as api:
        first = await api.call("operator", "POST", "/api/v1/tasks", body, key)
        again = await api.call("operator", "POST", "/api/v1/tasks", body, key)
        assert (first.status, again.status) == (201, 201)
        assert again.body == first.body
        assert again.headers["Idempotency-Replayed"] == "true"
        other = await api.call("operator", "POST", "/api/v1/tasks", body | {"name": "two"}, key)
        assert (other.status, other.body) == (
            409,
            {"error": "Idempotency-Key: was already used with a different body"},
        )
        path = f"/api/v1/tasks/{first.body['ID']}"
        runs = await asyncio.gather(
            *(api.call("operator", "POST", f"{path}/trigger", None, key) for _ in range(8))
        )
        assert len({run.headers["X-Instance-ID"] for run in runs}) == 1
        run_id = int(runs[0].headers["X-Instance-ID"])
        await api.ended(run_id)
        retry = f"/api/v1/task-instances/{run_id}/retry"
        retries = await asyncio.gather(*(api.call("operator", "POST", retry, None, key) for _ in range(8)))
        assert {answer.status for answer in retries} == {201}
        assert len({answer.body["ID"] for answer in retries}) == 1
    async with start_api() as api:
        assert (await api.call("operator", "POST", "/api/v1/tasks", body, key)).body == first.body
        for _ in range(2):
            assert (await api.call("admin", "DELETE", path, None, key)).status == 204
        assert (await api.call("admin", "DELETE", path)).status == 404
        assert await api.get("/api/v1/tasks") == []


async def test_a_refused_write_stores_no_answer(api):
    key = {"Idempotency-Key": "k"}
    task_id = await api.create(status="disabled")
    path = f"/api/v1/tasks/{task_id}"
    assert (await api.call("operator", "POST", f"{path}/trigger", None, key)).status == 409
    await api.call("operator", "POST", f"{path}/resume")
    assert (await api.call("operator", "POST", f"{path}/trigger", None, key)).status == 200


async def test_an_alert_is_posted_with_the_token(start_api, eventually, receiver):
    async with start_api(failure_webhook=receiver.url, webhook_token="t0ken") as api:
        run = await api.run(await api.create(payload="echo broken >&2; exit 4"))

        async def posted():
            return receiver.bodies

        (body,) = await eventually(posted)
    assert body["instance_id"] == run["ID"]
    assert body["error_message"] == "exit code 4\nbroken"
    assert receiver.headers[0]["Authorization"] == "Bearer t0ken"
    assert receiver.headers[0]["Idempotency-Key"] == run["ScheduleInstanceID"]


async def test_an_alert_waits_for_a_receiver_that_is_down_and_for_a_restart(
    start_api, eventually, receiver, tmp_path
):
    url = receiver.url
    await receiver.stop()

    async def tried():
        with sqlite3.connect(f"file:{tmp_path}/scheduler.db?mode=ro", uri=True) as look:
            found = look.execute("SELECT attempts FROM outbox WHERE attempts > 0").fetchone()
        look.close()
        return found

    async with start_api(failure_webhook=url) as api:
        run = await api.run(await api.create(payload="exit 1"))
        await eventually(tried)
    receiver.statuses = [503]
    await receiver.start()

    async def delivered():
        return len(receiver.bodies) == 2

    async with start_api(failure_webhook=url):
        await eventually(delivered)
    assert {body["instance_id"] for body in receiver.bodies} == {run["ID"]}


async def test_a_second_service_on_the_same_folder_is_refused(start_api, tmp_path):
    (tmp_path / "notes.txt").write_text("not ours")
    async with start_api():
        with pytest.raises(
            StartRefused, match=r"^another scheduler is running on .*: stop it or use another data folder$"
        ):
            async with start_api():
                pass
    assert (tmp_path / "notes.txt").read_text() == "not ours"


async def test_a_newer_data_file_is_refused(start_api, tmp_path):
    async with start_api():
        pass
    change = sqlite3.connect(tmp_path / "scheduler.db")
    change.execute("PRAGMA user_version = 99")
    change.close()
    with pytest.raises(StartRefused, match="schema version 99"):
        async with start_api():
            pass


async def test_a_data_file_that_is_no_database_is_refused(start_api, tmp_path):
    (tmp_path / "scheduler.db").write_text("plain text, long enough to be no header" * 100)
    with pytest.raises(StartRefused, match="can't be used as a data file"):
        async with start_api():
            pass


async def test_a_taken_port_is_refused(start_api, tmp_path):
    async with start_api() as api:
        other = tmp_path / "other"
        with pytest.raises(StartRefused, match="choose another port"):
            async with start_api(data=other, port=int(api.service.url.rpartition(":")[2])):
                pass


async def test_secrets_are_readable_by_the_owner_only(start_api, tmp_path):
    async with start_api(demo=True):
        ours = [path for path in tmp_path.iterdir() if path.name != "scheduler-accounts.json"]
        assert len(ours) >= 5
        assert [path.name for path in ours if path.stat().st_mode & 0o077] == []
