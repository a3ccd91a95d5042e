"""The doctor, against a real workspace, scheduler and store, with each thing broken in turn: the sentence and the exit code."""

import asyncio
import fcntl
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from chatops_bot.app.anchoring import Anchoring
from chatops_bot.app.clock import ManualClock, SystemClock
from chatops_bot.app.config import Config, LocalConfig, ModelEndpoint, StoreConfig, anchor_path_of
from chatops_bot.app.doctor.command import doctor, examine
from chatops_bot.app.doctor.findings import Check, Finding, Status, as_lines, failed, ok, run_side_by_side
from chatops_bot.app.doctor.local import check_roles
from chatops_bot.app.doctor.services import asked_scopes
from chatops_bot.app.keys import key_file, open_keys
from chatops_bot.app.policy_config import RolesConfig
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.simulators.slack.scopes import GRANTED
from chatops_bot.stores.sqlite import MIGRATIONS, SqliteStore
from tests.app.test_audit_cli import a_call
from tests.llm.model_server import DONE, Answer, ModelServer, call, complaint, text
from tests.redis_server import RedisServer
from tests.scenarios.conftest import ACCOUNTS, KEYS, World, open_world
from tests.scenarios.gateway import Fault

pytestmark = pytest.mark.asyncio(loop_scope="module")
Env = dict[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with open_world(tmp_path_factory.mktemp("world")) as opened:
        yield opened


@pytest.fixture
def world(shared_world: World) -> World:
    """One workspace and one scheduler for all tests here, as they were: no bot ran yet, and nothing is broken."""
    bot = shared_world.folder / "bot"
    if bot.is_dir():
        shutil.rmtree(bot)
    else:
        bot.unlink(missing_ok=True)
    anchor_path_of(bot).unlink(missing_ok=True)
    shared_world.to_slack.faults.clear()
    shared_world.to_scheduler.faults.clear()
    return shared_world


def env_of(world: World) -> Env:
    secrets = world.secrets()
    passwords = {name: world.scheduler.accounts[name]["password"] for name in ACCOUNTS}
    return {
        "CHATOPS_KEY": KEYS.texts[0],
        "SLACK_BOT_TOKEN": secrets.slack_bot_token,
        "SLACK_APP_TOKEN": secrets.slack_app_token,
        **passwords,
    }


def well(world: World) -> Config:
    """The world's configuration with a second admin, as the demo has it: the people of this machine."""
    return world.config(local=LocalConfig(role="admin"))


def written(world: World, config: Config | None = None, **extra: Any) -> Path:
    """The world's configuration as the file that a person would have written; on one disk, with a channel as second place."""
    value = (config or well(world)).model_dump(mode="json")
    value["audit"]["anchor_channel"] = "C_ANCHORS"
    path = world.folder / "chatops-bot.yaml"
    path.write_text(yaml.safe_dump(value | extra))
    return path


async def seen(world: World, path: Path | None = None, **env: str) -> dict[str, Finding]:
    """Findings by check. Whatever is found holds no secret."""
    everything = env_of(world) | env
    found = await examine(path or written(world), everything)
    for finding in found:
        assert [
            value
            for value in everything.values()
            if len(value) > 8 and value in finding.says and "http" not in value
        ] == []
    return {finding.check: finding for finding in found}


def failures(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.says for name, finding in found.items() if finding.status is Status.FAILED}


def warnings(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.says for name, finding in found.items() if finding.status is Status.WARNING}


async def test_all_is_well_before_the_first_start(world: World):
    found = await seen(world)
    assert {name: finding.status for name, finding in found.items() if finding.status is not Status.OK} == {}
    assert list(found) == [
        "config", "environment", "roles", "policy", "prompts", "skills", "data folder", "store", "audit key", "audit anchors", "bot", "scheduler", "scheduler viewer",
        "scheduler operator", "scheduler admin", "model", "scripts", "slack bot", "slack scopes", "slack app", "slack people", "slack channel",
    ]  # fmt: skip
    assert found["roles"].says == "2 people may approve changes; 4 have a role of their own."
    assert found["bot"].says == "No bot runs on the store; it can start."
    assert found["model"].says == "None is configured: the offline rules answer, and say so."
    assert (
        found["slack scopes"].says
        == f"All {len(asked_scopes())} scopes that manifest.yaml asks for are granted."
    )
    assert found["scheduler viewer"].says.endswith("as viewer (embedded-scheduler, API version 1).")
    assert not (world.folder / "bot").exists(), "a look makes nothing"


async def test_beside_a_running_bot_all_is_well_and_nothing_is_disturbed(world: World):
    async with world.bot() as bot:
        port = int(bot.web_url.rpartition(":")[2])
        config = well(world)
        config = config.model_copy(update={"web": config.web.model_copy(update={"port": port})})
        found = await seen(world, written(world, config))
        assert failures(found) == {}
        assert found["bot"].says == "A bot runs on the store and is ready."
        assert found["store"].says.endswith(f"has schema {len(MIGRATIONS)}, the newest.")
        async with world.session.get(f"{bot.web_url}/readyz") as response:
            assert response.status == 200
        world.to_slack.faults.append(Fault("apps.connections.open", "refused", times=1000))
        with closing(sqlite3.connect(config.store_path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            found = await seen(world, written(world, config))
            other.execute("ROLLBACK")
    assert found["bot"] == Finding(
        "bot", Status.FAILED, "A bot runs on the store and is not ready. The store did not take a write within 2 s; check the disk.",
    )  # fmt: skip


# -- this machine -----------------------------------------------------------------------------------------------------


async def test_a_mistake_in_the_configuration_is_told_and_the_rest_left(world: World):
    path = written(world, webb={"port": 1})
    found = await examine(path, env_of(world))
    assert [(finding.check, finding.status) for finding in found] == [
        ("config", Status.FAILED),
        ("the rest", Status.WARNING),
    ]
    assert found[0].says.endswith("webb is not a known key; did you mean web?")
    assert found[0].says.startswith(f"{path}, line ")


async def test_a_configuration_that_is_not_there_is_told(world: World):
    (found, _) = await examine(world.folder / "no.yaml", {})
    assert found.says.endswith(
        "no.yaml: cannot be read (No such file or directory); name the file with --config."
    )


async def test_what_is_missing_in_the_environment_is_told_and_everything_else_looked_at(world: World):
    found = await seen(world, SLACK_APP_TOKEN="", viewer="")
    assert set(failures(found)) == {"environment"}
    for name in ("slack bot", "slack people", "slack channel", "scheduler admin"):
        assert found[name].status is Status.OK
    assert not {"slack app", "scheduler viewer"} & set(found)
    all_found = await examine(written(world), env_of(world) | {"SLACK_APP_TOKEN": "", "viewer": ""})
    assert [finding.says for finding in all_found if finding.check == "environment"] == [
        "SLACK_APP_TOKEN is not set in the environment; set it.",
        "viewer is not set in the environment; set it.",
    ]


async def test_without_anybody_who_approves_it_fails_and_names_the_key(world: World):
    config = world.config()
    roles = config.roles.model_copy(update={"people": {"U1": "operator"}})
    found = await seen(world, written(world, config.model_copy(update={"roles": roles})))
    assert failures(found) == {
        "roles": "Nobody may approve: roles.people names no approver and no admin, so no change can ever run. "
        "Give somebody the role approver or admin under roles.people."
    }


async def test_with_approvers_at_this_machine_only_it_warns(world: World):
    config = well(world)
    changes = {"roles": RolesConfig(people={}), "local": LocalConfig(role="approver")}
    found = await seen(world, written(world, config.model_copy(update=changes)))
    assert failures(found) == {}
    assert warnings(found) == {
        "roles": "Nobody may approve in the chat, only people of this machine, as approver (local.role). "
        "Give somebody the role approver or admin under roles.people."
    }


@pytest.mark.parametrize(
    ("people", "says"),
    [
        (
            {"U1": "admin", "U2": "approver"},
            "Nobody may approve what U1 asks to delete: it takes an admin. Give another person the role admin under roles.people.",
        ),
        (
            {"U2": "approver"},
            "Nobody may approve a deletion: it takes an admin. Give somebody the role admin under roles.people.",
        ),
    ],
)
async def test_with_no_second_admin_it_warns_of_deletions_that_nobody_could_approve(
    world: World, people: dict[str, Any], says: str
):
    config = world.config(roles=RolesConfig(people=people))
    (found,) = await check_roles(config)
    assert (found.status, found.says) == (Status.WARNING, says)
    more = RolesConfig(people=people | {"U3": "admin", "U4": "admin"})
    for enough in (world.config(roles=more), config.model_copy(update={"local": LocalConfig(role="admin")})):
        (found,) = await check_roles(enough)
        assert found.status is Status.OK


async def test_without_rules_the_roles_say_who_may(world: World):
    found = await seen(world)
    assert found["policy"].says == "No rules: the roles alone say who may ask and approve (docs/policy.md)."


@pytest.mark.case("hitl-C39")
async def test_a_rule_that_nobody_could_meet_fails_with_its_line(world: World):
    rule = {"tools": ["delete_task"], "approve": {"people": [world.people["adam"]["id"]]}, "count": 2}
    path = written(world, policy={"rules": [rule]})
    found = await seen(world, path)
    line = 1 + path.read_text().splitlines().index("  - approve:")
    assert found["policy"].status is Status.FAILED
    assert found["policy"].says.startswith(
        f"{path}, line {line}: policy.rules.0: by policy.rules.0, delete_task (high risk) takes 2 approvals"
    )


async def test_groups_and_their_members_of_today_are_looked_at(world: World):
    leads = world.workspace.ready()["groups"]["incident-leads"]
    rule = {"tools": ["pause_task"], "approve": {"groups": [leads]}}
    found = await seen(world, written(world, policy={"rules": [rule]}))
    assert found["policy"].status is Status.OK
    assert found["slack policy"].says == "The rules can be met by the 4 people of today."
    alone = {"tools": ["pause_task"], "approve": {"groups": [leads]}, "count": 3}
    found = await seen(world, written(world, policy={"rules": [alone]}))
    assert found["policy"].status is Status.OK, "who is in a group is not known without asking"
    assert "takes 3 approvals, and fewer people may give one" in failures(found)["slack policy"]
    unknown = {"approve": {"groups": ["S0000"]}}
    found = await seen(world, written(world, policy={"rules": [unknown]}))
    assert "Slack knows no active user group S0000" in failures(found)["slack policy"]


async def test_rules_that_change_nothing_are_told(world: World):
    rules: list[dict[str, Any]] = [
        {"tools": ["delete_task"], "keep_minutes": 5},
        {"tools": ["create_task"], "remind_minutes": 500},
        {"tools": ["trigger_task"], "only_in": ["C0NOPE", world.incidents]},
    ]
    found = await seen(world, written(world, policy={"rules": rules[:1]}))
    assert "policy.rules.0: keep_minutes takes nothing back of delete_task" in warnings(found)["policy"]
    found = await seen(world, written(world, policy={"rules": rules[1:2]}))
    assert "policy.rules.0: nobody is reminded after remind_minutes: 500" in warnings(found)["policy"]
    found = await seen(world, written(world, policy={"rules": rules[2:]}))
    assert "policy.rules.0: the bot sees no channel C0NOPE (" in warnings(found)["policy channels"]
    rules[2]["only_in"] = [world.incidents]
    found = await seen(world, written(world, policy={"rules": rules[2:]}))
    assert found["policy channels"].says == "The bot sees the 1 channel that the rules name."


def no_database(path: Path) -> str:
    path.write_bytes(b"junk" * 1000)
    return f"{path} cannot be read as a database (file is not a database); restore it from a backup or move it away."


def newer(path: Path) -> str:
    with closing(sqlite3.connect(path)) as store:
        store.execute("CREATE TABLE entries (seq)")
        store.execute("PRAGMA user_version = 99")
        store.commit()
    return (
        f"{path} has schema 99, but this version knows only {len(MIGRATIONS)}; start the newer version again."
    )


def foreign(path: Path) -> str:
    with closing(sqlite3.connect(path)) as store:
        store.execute("CREATE TABLE songs (title)")
        store.execute("PRAGMA user_version = 1")
        store.commit()
    return f"{path} is another program's database; name another folder with data."


@pytest.mark.parametrize("break_it", [no_database, newer, foreign])
async def test_a_store_that_cannot_be_used_is_told(world: World, break_it: Callable[[Path], str]):
    path = world.folder / "bot" / "bot.db"
    path.parent.mkdir()
    says = break_it(path)
    assert failures(await seen(world)) == {"store": says}


async def test_a_data_folder_that_is_a_file_is_told(world: World):
    (world.folder / "bot").write_text("")
    assert failures(await seen(world)) == {
        "data folder": f"{world.folder / 'bot'} is a file, not a folder; name a folder with data."
    }


async def test_a_store_that_somebody_else_holds_is_told(world: World):
    await (await SqliteStore.open(world.folder / "bot" / "bot.db", SystemClock())).aclose()
    config = well(world)
    config = config.model_copy(update={"web": config.web.model_copy(update={"port": 9})})
    with (world.folder / "bot" / "bot.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = await seen(world, written(world, config))
    assert failures(found) == {
        "bot": "Another process holds the store, but no bot answers at http://127.0.0.1:9/readyz: a bot with other settings "
        "uses this data folder, or it hangs. Stop that process, or choose another data folder."
    }
    assert (await seen(world, written(world, config)))["bot"].status is Status.OK


async def test_a_port_that_is_taken_is_told(world: World):
    config = well(world)
    port = int(world.to_scheduler.url.rpartition(":")[2])
    config = config.model_copy(update={"web": config.web.model_copy(update={"port": port})})
    assert failures(await seen(world, written(world, config))) == {
        "bot": f"Something answers at http://127.0.0.1:{port}/readyz, but no bot holds the store: a start would find the port "
        "taken. Stop that program, or choose another web.port."
    }


# -- audit ------------------------------------------------------------------------------------------------------------


async def test_a_second_place_on_the_same_disk_is_told_unless_a_channel_is_one(world: World):
    said = warnings(await seen(world, written(world, audit={})))["audit anchors"]
    assert said.startswith(f"{world.folder / 'bot.audit-anchors'} is on the same disk as the store")
    assert (await seen(world))["audit anchors"].status is Status.OK


async def test_a_key_that_others_may_read_or_that_is_another_one_is_told(world: World):
    data = world.folder / "bot"
    assert "the next start makes a key in" in (await seen(world, CHATOPS_KEY=""))["audit key"].says
    keys = open_keys({}, data)
    store = await SqliteStore.open(data / "bot.db", SystemClock(), keys.audit[0])
    await store.audit.record(a_call(1, ManualClock(datetime(2026, 3, 2, tzinfo=UTC))))
    await store.aclose()
    where = f"The key stands in {key_file(data)}, which only its owner reads."
    assert (await seen(world, CHATOPS_KEY=""))["audit key"].says == where
    key_file(data).chmod(0o644)
    assert "is open to others (mode 644)" in failures(await seen(world, CHATOPS_KEY=""))["audit key"]
    key_file(data).unlink()
    assert "CHATOPS_KEY is not set" in failures(await seen(world, CHATOPS_KEY=""))["audit key"]
    other = failures(await seen(world))["audit key"]
    assert other.startswith(f"The newest record was sealed with another key ({keys.audit[0].id})")


async def test_a_tail_that_was_cut_is_told(world: World):
    data = world.folder / "bot"
    store = await SqliteStore.open(data / "bot.db", SystemClock(), open_keys({}, data).audit[0])
    await store.audit.record(a_call(1, ManualClock(datetime(2026, 3, 2, tzinfo=UTC))))
    await Anchoring(store.audit, SystemClock(), anchor_path_of(data)).end()
    await store.aclose()
    assert "audit anchors" not in failures(await seen(world))
    with closing(sqlite3.connect(data / "bot.db", isolation_level=None)) as db:
        db.execute("DROP TRIGGER audit_is_append_only_d")
        db.execute("DELETE FROM audit")
    said = failures(await seen(world))["audit anchors"]
    anchor_path_of(data).unlink()
    assert "knows record 1 of the audit with a seal that the store does not have" in said


# -- scheduler --------------------------------------------------------------------------------------------------------


async def test_a_scheduler_that_is_down_is_told_for_it_and_each_account(world: World):
    world.to_scheduler.faults.append(Fault(".", "refused", times=1000))
    host = world.to_scheduler.url.partition("://")[2]
    told = failures(await seen(world))
    assert told == {
        "scheduler": f"The scheduler at {host} does not answer. Check scheduler.url, and that the service runs.",
        **{
            f"scheduler {name}": f"The scheduler at {host} does not answer. This follows from scheduler."
            for name in ACCOUNTS
        },
    }


async def test_a_wrong_password_is_told_with_its_account(world: World):
    host = world.to_scheduler.url.partition("://")[2]
    user = world.scheduler.accounts["operator"]["username"]
    assert failures(await seen(world, operator="not-the-password")) == {
        "scheduler operator": f"The scheduler at {host} does not accept the account {user}; check the configured user name "
        "and password. See scheduler.accounts.operator."
    }


async def test_accounts_with_too_few_and_too_many_rights_are_told(world: World):
    config = well(world)
    accounts = config.scheduler.accounts
    swapped = accounts.model_copy(update={"viewer": accounts.admin, "admin": accounts.viewer})
    config = config.model_copy(
        update={"scheduler": config.scheduler.model_copy(update={"accounts": swapped})}
    )
    found = await seen(world, written(world, config))
    names = {name: world.scheduler.accounts[name]["username"] for name in ACCOUNTS}
    assert failures(found) == {
        "scheduler admin": f"{names['viewer']} logs in, but only as viewer, so what the role admin approves would be refused; "
        "name an account of that role in scheduler.accounts.admin."
    }
    assert warnings(found) == {
        "scheduler viewer": f"{names['admin']} logs in as admin, with more rights than the role viewer needs; name an account of that role "
        "in scheduler.accounts.viewer, so that the scheduler enforces the roles once more."
    }


async def test_another_zone_of_schedules_than_the_schedulers_own_is_told(world: World):
    config = well(world)
    there = config.scheduler.model_copy(update={"timezone": "Asia/Shanghai"})
    told = failures(await seen(world, written(world, config.model_copy(update={"scheduler": there}))))
    assert set(told) == {"scheduler viewer"}
    assert told["scheduler viewer"].endswith("set scheduler.timezone to UTC.")


async def test_a_broken_text_of_a_prompt_is_told_and_what_rests_on_it_is_looked_at(world: World):
    agents = world.folder / "texts" / "agents"
    agents.mkdir(parents=True)
    (agents / "incident_responder.en.yaml").write_text("agent: {}\n")
    found = await examine(written(world, agents={"folder": str(agents.parent)}), env_of(world))
    broken = [each for each in found if each.status is Status.FAILED]
    assert {each.check for each in broken} == {"prompts"}
    assert any("agent.agent_id is missing; add it." in each.says for each in broken)
    assert not any("phrases" in each.says for each in broken), "nobody may write those there"


async def test_a_check_that_cannot_be_made_has_failed_and_the_others_are_told():
    async def breaks() -> list[Finding]:
        raise ConfigInvalid("a.yaml, line 3: is broken; mend it.")

    async def works() -> list[Finding]:
        return [ok("good", "All is well.")]

    found = await run_side_by_side([Check("bad", breaks()), Check("good", works())])
    assert [(each.check, each.status) for each in found] == [("bad", Status.FAILED), ("good", Status.OK)]
    assert found[0].says == "Could not be looked at: a.yaml, line 3: is broken; mend it."


async def test_a_clock_that_differs_is_told(world: World):
    late = format_datetime(datetime.now(UTC) - timedelta(minutes=5), usegmt=True)
    world.to_scheduler.faults.append(Fault("GET /healthz", {"status": "ok"}, headers={"Date": late}))
    told = warnings(await seen(world))
    assert set(told) == {"scheduler"}
    assert "but its clock is 30" in told["scheduler"] or "but its clock is 29" in told["scheduler"]
    assert told["scheduler"].endswith("s behind this machine's; set both by the same time service.")


# -- model ------------------------------------------------------------------------------------------------------------

STREAMED = Answer([text("ok"), DONE])


async def model_of(world: World, *answers: Answer) -> tuple[dict[str, Finding], ModelServer]:
    async with ModelServer(*answers) as server:
        env = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_MODEL": "m-1",
            "OPENAI_API_KEY": "sk-key-of-the-doctor-1",
        }
        return await seen(world, written(world), **env), server


@pytest.mark.parametrize("answer", [STREAMED, Answer([call(0, "c1", "report_health", "{}"), DONE])])
async def test_a_model_that_answers_is_well_and_was_offered_a_tool(world: World, answer: Answer):
    found, server = await model_of(world, answer)
    assert failures(found) == {}
    assert found["model"].says.startswith("m-1 at 127.0.0.1:")
    assert "answers, with a tool offered; first piece after 0." in found["model"].says
    (received,) = server.received
    assert [tool["function"]["name"] for tool in received.body["tools"]] == ["report_health"]


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (
            401,
            "{host} does not accept the model's API key (HTTP 401). Check the configured key and what it may use.",
        ),
        (404, "{host} finds no model m-1 at this address (HTTP 404). Check the model name and the base URL."),
    ],
)
async def test_a_model_that_refuses_is_told(world: World, status: int, says: str):
    found, server = await model_of(world, Answer([complaint("no")], status=status))
    assert failures(found) == {
        "model": says.format(host=server.base_url.partition("://")[2].partition("/")[0])
    }


async def test_a_model_that_says_nothing_is_told(world: World):
    empty = Answer([b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', DONE])
    found, _ = await model_of(world, empty)
    assert warnings(found)["model"].endswith("answers, but with nothing; try another model.")


async def test_a_running_bot_with_another_model_than_this_environment_says_is_told(world: World):
    async with ModelServer() as server:
        endpoint = ModelEndpoint(server.base_url, "m-1", "sk-key-of-the-bot-1")
        async with world.bot(secrets=replace(world.secrets(), model=endpoint)):
            found = await seen(world)
        host = server.base_url.partition("://")[2].partition("/")[0]
        assert warnings(found) == {
            "model": f"The running bot uses m-1 at {host}, but the environment of this shell says offline. Run the doctor "
            "with the bot's OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL to have its model looked at."
        }
        assert server.received == []


# -- Slack ------------------------------------------------------------------------------------------------------------


async def test_a_wrong_bot_token_is_told(world: World):
    told = failures(await seen(world, SLACK_BOT_TOKEN="xoxb-wrong-token-123"))
    assert (
        told["slack bot"]
        == "Slack refused auth.test: invalid_auth; check the bot token. See SLACK_BOT_TOKEN."
    )
    assert told["slack channel"].endswith(" This follows from slack bot.")


async def test_a_wrong_app_token_is_told(world: World):
    bot_token = env_of(world)["SLACK_BOT_TOKEN"]
    assert failures(await seen(world, SLACK_APP_TOKEN=bot_token)) == {
        "slack app": "Slack refused apps.connections.open: not_allowed_token_type; use the xoxb- token for the bot and the "
        "xapp- token for the socket. See SLACK_APP_TOKEN: an app-level token (xapp-…) with the scope connections:write."
    }


async def test_a_wrong_app_token_is_not_called_the_bots(world: World):
    told = failures(await seen(world, SLACK_APP_TOKEN="xapp-wrong-token-123"))
    assert told == {
        "slack app": "Slack refused apps.connections.open: invalid_auth; check the app token. See SLACK_APP_TOKEN: an app-level "
        "token (xapp-…) with the scope connections:write."
    }


async def test_when_slack_is_silent_no_token_is_blamed(world: World):
    world.to_slack.faults.append(Fault(".", "refused", times=1000))
    found = await seen(world)
    assert failures(found) == {
        "slack bot": "Slack did not answer auth.test. Check the network and slack.api_url.",
        "slack app": "Slack did not answer apps.connections.open. This follows from slack bot.",
        "slack channel": "Slack did not answer conversations.info. This follows from slack bot.",
    }
    assert warnings(found) == {
        "slack people": "Slack did not say who the people of roles.people are. This follows from slack bot."
    }


async def test_people_whom_slack_does_not_know_are_named(world: World):
    config = well(world)
    people = {**config.roles.people, "U0NOBODY000": "operator"}
    roles = config.roles.model_copy(update={"people": people})
    found = await seen(world, written(world, config.model_copy(update={"roles": roles})))
    assert failures(found) == {}
    assert warnings(found) == {
        "slack people": "Slack does not know U0NOBODY000; correct the ids under roles.people."
    }


async def test_missing_scopes_are_named(world: World):
    fewer = ",".join(sorted(set(GRANTED) - {"chat:write", "users:read"}))
    answer = {"ok": True, "team_id": "T1", "user_id": "UBOT", "bot_id": "BBOT"}
    world.to_slack.faults.append(Fault("auth.test", answer, times=10, headers={"X-OAuth-Scopes": fewer}))
    assert failures(await seen(world)) == {
        "slack scopes": "The app lacks chat:write, users:read; add to its scopes what manifest.yaml asks for and install it again."
    }


async def test_a_channel_without_the_bot_is_told(world: World):
    outside = {"ok": True, "channel": {"id": world.incidents, "is_member": False}}
    world.to_slack.faults.append(Fault("conversations.info", outside))
    assert failures(await seen(world)) == {
        "slack channel": f"The bot is not in alerts.channel {world.incidents}; invite it there with /invite."
    }


async def test_a_channel_that_does_not_exist_is_told(world: World):
    config = well(world)
    config = config.model_copy(update={"alerts": config.alerts.model_copy(update={"channel": "C0NOWHERE00"})})
    told = failures(await seen(world, written(world, config)))
    assert told == {
        "slack channel": "alerts.channel is C0NOWHERE00: Slack refused conversations.info: channel_not_found; invite the bot "
        "to the channel, or correct the channel id."
    }


# -- several at once --------------------------------------------------------------------------------------------------


async def test_texts_anchors_scopes_and_an_archived_channel_are_each_told(world: World, tmp_path: Path):
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "opsbot.en.yaml").write_text("agent: [")
    archived = {"ok": True, "channel": {"id": world.incidents, "is_member": True, "is_archived": True}}
    world.to_slack.faults.append(Fault("conversations.info", archived))
    answer = {"ok": True, "team_id": "T1", "user_id": "UBOT", "bot_id": "BBOT"}
    world.to_slack.faults.append(Fault("auth.test", answer, times=10))
    audit = {"anchor_channel": "C_ANCHORS", "anchor_file": str(tmp_path)}
    found = await seen(world, written(world, agents={"folder": str(tmp_path)}, audit=audit))
    told = failures(found)
    assert told.keys() == {"prompts", "audit anchors", "slack channel"}
    assert "opsbot.en.yaml" in told["prompts"]
    assert told["audit anchors"].endswith("name another file with audit.anchor_file.")
    assert told["slack channel"] == f"alerts.channel {world.incidents} is archived; name another one."
    assert warnings(found)["slack scopes"].startswith("Slack does not say which scopes the app has")


async def test_a_data_folder_that_cannot_be_made_is_told(world: World, tmp_path: Path):
    (tmp_path / "file").write_text("")
    found = await seen(world, written(world, data=str(tmp_path / "file" / "bot")))
    assert "takes no new folder. Change data." in failures(found)["data folder"]


# -- how it is told ---------------------------------------------------------------------------------------------------


async def test_a_check_that_hangs_has_failed_and_holds_no_other_up():
    async def hang() -> list[Finding]:
        await asyncio.Event().wait()
        return []

    async def quick() -> list[Finding]:
        return [ok("quick", "Well.")]

    found = await run_side_by_side([Check("slow", hang(), 0.05), Check("quick", quick())])
    assert found == [
        Finding("slow", Status.FAILED, "No answer within 0.05 s; check the network and the address."),
        Finding("quick", Status.OK, "Well."),
    ]


async def test_lines_for_people_and_json_for_machines_and_the_exit_code(
    world: World, capsys: pytest.CaptureFixture[str]
):
    assert await doctor(written(world), env_of(world), as_json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "22 ok, 0 to look at, 0 failed."
    assert (
        lines[2] == "ok       roles               2 people may approve changes; 4 have a role of their own."
    )
    wrong = env_of(world) | {"SLACK_BOT_TOKEN": "xoxb-wrong-token-123"}
    assert await doctor(written(world), wrong, as_json=True) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert {"check": "roles", "status": "ok", "says": lines[2][29:]} in told["checks"]
    assert "xoxb-wrong-token-123" not in json.dumps(told)


async def test_what_a_server_says_stays_on_its_line_and_does_not_drive_the_terminal():
    lines = as_lines(
        [failed("model", "It says: \x1b[2J\u202eno\nok       all"), ok("web", "Well.")]
    ).splitlines()
    assert lines == [
        "failed   model  It says: ⟨U+001B⟩[2J⟨U+202E⟩no ok all",
        "ok       web    Well.",
        "1 ok, 0 to look at, 1 failed.",
    ]


# -- a store that several bots share ----------------------------------------------------------------------------------


async def test_a_shared_store_is_looked_at_and_its_bots_counted(world: World, redis_process: RedisServer):
    redis_process.flush()
    config = well(world).model_copy(update={"store": StoreConfig(redis_url_env="BOT_REDIS")})
    path = written(world, config)
    found = await seen(world, path, BOT_REDIS=redis_process.url)
    assert failures(found) == {}
    assert found["store"].says.endswith("holds nothing of a bot yet; the first start begins it.")
    assert found["bot"].says == "No bots run on the store; another can start here."
    secrets = replace(world.secrets(), redis_url=redis_process.url)
    async with world.bot(config=config, secrets=secrets):
        found = await seen(world, path, BOT_REDIS=redis_process.url)
    assert found["store"].says.endswith("the newest, and keeps what it acknowledges.")
    assert found["bot"].says == "1 bot runs on the store; another can start here."
    assert failures(found) == {}


async def test_with_a_shared_store_the_data_folder_is_made_and_a_bot_that_local_commands_do_not_reach_is_told(
    world: World, redis_process: RedisServer, unused_port: int
):
    redis_process.flush()
    store = StoreConfig(redis_url_env="BOT_REDIS")
    web = well(world).web.model_copy(update={"port": unused_port})
    changes = {"store": store, "data": world.folder / "not" / "there", "web": web}
    config = well(world).model_copy(update=changes)
    path, secrets = written(world, config), replace(world.secrets(), redis_url=redis_process.url)
    async with world.bot(config=config, secrets=secrets):
        found = await seen(world, path, BOT_REDIS=redis_process.url)
        assert found["bot"].says == "1 bot runs on the store, and the one of this configuration is ready."
        assert config.data.stat().st_mode & 0o777 == 0o700
        (config.data / "local" / "bot.sock").unlink()
        found = await seen(world, path, BOT_REDIS=redis_process.url)
        assert "so `chatops-bot approve` and `ask` do not reach it" in failures(found)["bot"]


async def test_a_shared_store_that_cannot_be_used_is_told_in_one_sentence(world: World, unused_port: int):
    path = written(world, well(world).model_copy(update={"store": StoreConfig(redis_url_env="BOT_REDIS")}))
    found = await seen(
        world, path, CHATOPS_KEY="", BOT_REDIS=f"redis://:hunter2-long@127.0.0.1:{unused_port}/0"
    )
    assert f"127.0.0.1:{unused_port} cannot be reached (Connection refused)" in found["store"].says
    assert "hunter2" not in repr(found)
    assert found["audit key"].says.startswith("CHATOPS_KEY is not set in the environment;")
    found = await seen(world, path)
    assert found["store"].says == "BOT_REDIS is not set in the environment; set it."
