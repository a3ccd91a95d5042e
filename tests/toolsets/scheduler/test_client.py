"""Who speaks to the scheduler, what is tried again, and what a failure means."""

import asyncio
import logging

import httpx
import pytest

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.people import Role
from chatops_bot.toolsets.scheduler import Account, SchedulerClient, errors
from chatops_bot.toolsets.scheduler.api import SchedulerApi


@pytest.mark.case("sched-C1")
async def test_logs_in_once_for_many_calls_at_the_same_time(go, client):
    await asyncio.gather(*(SchedulerApi(client, Role.VIEWER).tasks() for _ in range(8)))
    assert go.logins == 1


@pytest.mark.case("sched-C1")
async def test_a_token_is_replaced_after_four_fifths_of_its_life(go, http):
    seconds = 0.0
    client = SchedulerClient(
        http, go.url, {Role.VIEWER: Account("viewer", "pass-viewer")}, monotonic=lambda: seconds
    )
    api = SchedulerApi(client, Role.VIEWER)
    await api.tasks()
    seconds = 0.79 * go.expires_in
    await api.tasks()
    assert go.logins == 1
    seconds = 0.8 * go.expires_in
    await api.tasks()
    assert go.logins == 2


@pytest.mark.case("sched-V10")
async def test_a_refused_token_is_renewed_once_and_the_call_succeeds(go, client):
    go.add_task(1, "nightly-report")
    api = SchedulerApi(client, Role.OPERATOR)
    await api.tasks()
    go.tokens.clear()
    assert [task.id for task in await api.tasks()] == [1]
    go.tokens.clear()
    await api.set_paused(1, True, "key")
    assert go.logins == 3
    assert go.tasks[1]["Status"] == "disabled"


@pytest.mark.case("sched-C1")
async def test_a_login_that_stays_refused_ends_after_one_renewal(go, client, faulty):
    faulty("GET /api/v1/tasks", "401", times=9)
    with pytest.raises(errors.LoginRefused):
        await SchedulerApi(client, Role.VIEWER).tasks()
    assert go.logins == 2


async def test_a_wrong_password_names_the_account_and_never_shows_the_password(go, http, caplog):
    caplog.set_level(logging.DEBUG)
    client = SchedulerClient(http, go.url, {Role.VIEWER: Account("viewer", "wrong-secret")})
    with pytest.raises(errors.LoginRefused, match="account viewer") as caught:
        await SchedulerApi(client, Role.VIEWER).tasks()
    shown = f"{caught.value.phrase}{Account('viewer', 'wrong-secret')!r}{caplog.text}"
    assert "wrong-secret" not in shown


@pytest.mark.case("sched-C1")
async def test_tokens_are_in_no_url_and_no_log(go, client, caplog):
    caplog.set_level(logging.DEBUG)
    await SchedulerApi(client, Role.VIEWER).tasks()
    assert "token-1" not in caplog.text
    assert all("token" not in request for request in go.requests)


@pytest.mark.case("sched-C2")
@pytest.mark.parametrize(
    ("role", "account"),
    [
        (Role.VIEWER, "viewer"),
        (Role.OPERATOR, "operator"),
        (Role.APPROVER, "operator"),
        (Role.ADMIN, "admin"),
    ],
)
async def test_each_role_speaks_with_its_account(go, client, role, account):
    await SchedulerApi(client, role).tasks()
    assert list(go.tokens.values()) == [account]


@pytest.mark.case("sched-C2")
async def test_a_guest_has_no_account(go, client):
    with pytest.raises(errors.LoginRefused, match="guest"):
        await SchedulerApi(client, Role.GUEST).tasks()
    assert go.requests == []


@pytest.mark.case("sched-C2")
async def test_the_server_refuses_what_the_account_may_not_do(go, client):
    go.add_task(1, "nightly-report")
    with pytest.raises(errors.Forbidden):
        await SchedulerApi(client, Role.OPERATOR).delete_task(1, "")
    assert 1 in go.tasks


@pytest.mark.case("sched-C4")
@pytest.mark.parametrize("kind", ["502", "503", "hang up"])
async def test_a_read_is_tried_three_times(go, client, faulty, kind):
    api = SchedulerApi(client, Role.VIEWER)
    await api.tasks()
    faulty("GET /api/v1/tasks", kind, times=2)
    assert await api.tasks() == ()
    assert go.calls("GET /api/v1/tasks") == 4
    faulty("GET /api/v1/tasks", kind, times=3)
    with pytest.raises(errors.Unreachable, match="nothing was changed"):
        await api.tasks()


@pytest.mark.case("sched-C4")
async def test_a_read_that_hangs_ends_in_time(go, http, faulty):
    client = SchedulerClient(http, go.url, {Role.VIEWER: Account("viewer", "pass-viewer")}, read_seconds=0.2)
    faulty("GET /api/v1/tasks", "hang")
    with pytest.raises(errors.Unreachable):
        await SchedulerApi(client, Role.VIEWER).tasks()


@pytest.mark.case("sched-C4")
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("rubbish", errors.ProtocolBroken),
        ("wrong shape", errors.ProtocolBroken),
        ("500", ToolFailed),
        ("plain 500", ToolFailed),
        ("429", errors.RateLimited),
    ],
)
async def test_each_answer_has_its_error(client, faulty, kind, expected):
    faulty("GET /api/v1/tasks", kind)
    with pytest.raises(expected) as caught:
        await SchedulerApi(client, Role.VIEWER).tasks()
    assert caught.value.phrase.zh
    assert not caught.value.outcome_unknown


@pytest.mark.case("sched-C4")
async def test_a_scheduler_that_is_down_is_named_and_nothing_changed(http, unused_tcp_port):
    accounts = {Role.OPERATOR: Account("operator", "pass-operator")}
    client = SchedulerClient(http, f"http://127.0.0.1:{unused_tcp_port}", accounts, pause=0.01)
    for doing in (
        SchedulerApi(client, Role.OPERATOR).tasks(),
        SchedulerApi(client, Role.OPERATOR).set_paused(1, True, ""),
    ):
        with pytest.raises(errors.Unreachable) as caught:
            await doing
        assert str(caught.value) == (
            f"The scheduler at 127.0.0.1:{unused_tcp_port} does not answer; nothing was changed."
        )
        assert not caught.value.outcome_unknown


@pytest.mark.case("sched-V10")
@pytest.mark.parametrize(
    ("kind", "unknown"),
    [
        ("hang up", True),
        ("502", True),
        ("rubbish", None),
        ("500", False),
        ("plain 500", True),
        ("429", False),
    ],
)
async def test_a_write_is_sent_once_and_says_whether_it_may_have_happened(go, client, faulty, kind, unknown):
    go.add_task(1, "nightly-report")
    faulty("POST /api/v1/tasks/1/trigger", kind, after=True)
    with pytest.raises(ToolFailed) as caught:
        await SchedulerApi(client, Role.OPERATOR).trigger(1, "key")
    assert caught.value.outcome_unknown is (True if unknown is None else unknown)
    assert go.calls("POST /api/v1/tasks/1/trigger") == 1


@pytest.mark.parametrize("status", [502, 503, 504])
@pytest.mark.parametrize("said", [None, "upstream timed out"])
def test_a_gateway_status_on_a_write_never_says_that_nothing_happened(status, said):
    error = errors.refused(status, said, "scheduler.internal", writing=True)
    assert isinstance(error, errors.Unreachable)
    assert error.outcome_unknown
    assert (said or f"HTTP {status}") in error.phrase.zh
    assert "may or may not have happened" in error.phrase.en
    assert not errors.refused(status, said, "scheduler.internal", writing=False).outcome_unknown


@pytest.mark.case("sched-V10")
async def test_a_write_without_a_reply_in_time_is_unknown_and_not_repeated(go, http, faulty):
    go.add_task(1, "nightly-report")
    accounts = {Role.OPERATOR: Account("operator", "pass-operator")}
    client = SchedulerClient(http, go.url, accounts, write_seconds=0.2)
    faulty("POST /api/v1/tasks/1/trigger", "hang")
    with pytest.raises(errors.Unreachable) as caught:
        await SchedulerApi(client, Role.OPERATOR).trigger(1, "key")
    assert caught.value.outcome_unknown
    assert go.calls("POST /api/v1/tasks/1/trigger") == 1


async def test_a_write_carries_its_idempotency_key(go, client):
    go.add_task(1, "nightly-report")
    await SchedulerApi(client, Role.OPERATOR).trigger(1, "effect-7")
    await SchedulerApi(client, Role.OPERATOR).trigger(1, "")
    keys = [headers.get("Idempotency-Key") for headers in go.headers[-2:]]
    assert keys == ["effect-7", None]


@pytest.mark.case("sched-C4")
async def test_a_duplicate_that_the_go_service_calls_500_is_a_conflict(go, client):
    go.add_task(1, "nightly-report")
    with pytest.raises(errors.Conflict) as caught:
        await SchedulerApi(client, Role.OPERATOR).create_task({"name": "nightly-report"}, "")
    assert not caught.value.outcome_unknown


async def test_a_service_that_knows_no_capabilities_has_none(go, client):
    capabilities = await SchedulerApi(client, Role.VIEWER).capabilities()
    assert capabilities.extensions == frozenset()
    assert capabilities.runs("shell")


async def test_the_connection_stays_the_callers(go):
    async with httpx.AsyncClient() as http:
        client = SchedulerClient(http, go.url + "/", {Role.VIEWER: Account("viewer", "pass-viewer")})
        await SchedulerApi(client, Role.VIEWER).tasks()
        assert not http.is_closed
