"""`ask`, `approve` and `reject`: whole turns and decisions from a terminal, over the real socket of a running bot."""

import asyncio
import json
import os
import pty
import pwd
import re
import signal
import socket
import stat
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from chatops_bot.app.config import Config, LocalConfig, ShutdownConfig
from chatops_bot.app.local_socket import listen, socket_path
from chatops_bot.app.policy_config import RolesConfig
from chatops_bot.domain.errors import ModelRefused
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import TextDelta
from chatops_bot.llm.scripted import ScriptedModel, calls, fails, says
from chatops_bot.platforms.terminal.frames import Opened, frame_to_json
from chatops_bot.stores.sqlite_file import open_read_only
from tests.app.conftest import DEADLINE, REPOSITORY, DemoProcess, plain_env, run_cli
from tests.app.test_cli import SECRETS, config_file
from tests.audit_rows import read_audit
from tests.llm.model_server import Answer, ModelServer, text
from tests.scenarios.conftest import World, action_ids, everything, until
from tests.scenarios.test_change import PAUSE, asked_for, code_of, is_paused, pausing
from tests.scenarios.test_long_action import SCRIPT, creating
from tests.warm_commands import run_warm

Json = dict[str, Any]
ME = f"local:{pwd.getpwuid(os.getuid()).pw_name}"
OFFLINE = {"zh": "未连接语言模型", "en": "No language model is connected"}


@dataclass
class Ended:
    """A command that came to its end."""

    code: int | None
    out: str
    err: str


async def start(*arguments: str | Path, **more: Any) -> asyncio.subprocess.Process:
    env = plain_env(**more.pop("env", {}))
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "chatops_bot", *map(str, arguments), env=env, cwd=more.pop("cwd", REPOSITORY),
        **{"stdin": asyncio.subprocess.DEVNULL, "stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE, **more},
    )  # fmt: skip


async def cli(
    *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None, terminal: str = ""
) -> Ended:
    """A command to its end, in a warm process; with the path of a `terminal`, that is its standard output."""
    words = [str(word) for word in arguments]
    ended = await asyncio.to_thread(
        run_warm, words, env=plain_env(**env or {}), cwd=REPOSITORY, deadline=DEADLINE, stdin=stdin, terminal=terminal
    )  # fmt: skip
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def data(world: World) -> Path:
    return world.folder / "bot"


def offered(out: str) -> str:
    """The code of the one proposal whose command is shown."""
    (code,) = set(re.findall(r"chatops-bot approve (\w+)", out))
    return str(code)


def local(world: World, role: str, **people: str) -> Config:
    """The world's configuration with a role for the people of this machine."""
    known = {**world.config().roles.people, **people}
    return world.config(local=LocalConfig(role=role), roles=RolesConfig(people=known))  # type: ignore[arg-type]  # pydantic takes the text


def held_at(
    word: str, until: asyncio.Event | None = None
) -> tuple[asyncio.Event, Callable[[Any], Awaitable[None]]]:
    """An event that is set when a model comes to `word`, and the hook that holds the model there `until`, or for ever."""
    reached, go_on = asyncio.Event(), until or asyncio.Event()

    async def hold(delta: Any) -> None:
        if isinstance(delta, TextDelta) and delta.text == word:
            reached.set()
            await go_on.wait()

    return reached, hold


def audit(world: World) -> list[Any]:
    return [record for _, record in read_audit(data(world) / "bot.db")]


# -- ask a running bot -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "question"), [("zh", "有哪些任务？"), ("en", "Which tasks are there?")])
async def test_a_question_is_answered_in_its_language_and_ends_with_numbered_questions(
    world: World, language: str, question: str
):
    async with world.bot():
        asked = await cli("ask", question, "--data", data(world))
    assert asked.code == 0
    assert "nightly-report" in asked.out
    assert OFFLINE[language] in asked.out
    assert "\n1. " in asked.out
    assert "\x1b" not in asked.out
    assert "Working" not in asked.out
    assert asked.err.startswith("thread t_")


async def test_the_answer_grows_while_the_turn_runs(world: World):
    reached, hold = held_at("never")
    model = ScriptedModel([says("So far so good, ", "and on it goes ", "never")], before_delta=hold)
    async with world.bot(model):
        process = await start("ask", "how is it?", "--data", data(world))
        assert process.stdout is not None
        await asyncio.wait_for(reached.wait(), DEADLINE)
        grown = await asyncio.wait_for(process.stdout.readuntil(b"on it"), DEADLINE)
        assert grown == b"So far so good, and on it"  # the last word may still grow
        process.send_signal(signal.SIGINT)
        rest, err = await asyncio.wait_for(process.communicate(), DEADLINE)
    assert process.returncode == 130
    assert f"Stopped by {ME}" in rest.decode()
    assert "Traceback" not in err.decode()


async def test_a_thread_goes_on_where_it_was_and_others_know_nothing_of_it(world: World):
    model = ScriptedModel([says("First."), says("Second."), says("Third.")])
    async with world.bot(model):
        first = await cli("ask", "remember the owl", "--data", data(world))
        thread = first.err.split()[1]
        await cli("ask", "what did I say?", "--thread", thread, "--data", data(world))
        await cli("ask", "what did I say?", "--data", data(world))
    texts = [" ".join(getattr(m, "text", "") for m in request.messages) for request in model.requests]
    assert ["remember the owl" in text for text in texts] == [True, True, False]


async def test_a_thread_that_is_none_is_refused(world: World):
    async with world.bot():
        refused = await cli("ask", "and then?", "--thread", "nosuch", "--data", data(world))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "chatops-bot: There is no thread nosuch here; ask without a thread to begin one.\n"


async def test_the_question_may_come_from_stdin(world: World):
    model = ScriptedModel([says("Fine.")])
    async with world.bot(model):
        asked = await cli("ask", "-", "--data", data(world), stdin="how is it?\nreally?\n")
    assert (asked.code, asked.out) == (0, "Fine.\n")
    assert any(getattr(m, "text", "") == "how is it?\nreally?" for m in model.requests[0].messages)


async def test_for_scripts_each_event_is_one_json_object(world: World):
    async with world.bot(ScriptedModel([says("Fine, ", "thanks.")])):
        asked = await cli("ask", "--json", "how is it?", "--data", data(world))
    events = [json.loads(line) for line in asked.out.splitlines()]
    assert [events[0]["event"], events[-1]] == ["opened", {"event": "ended", "outcome": "answered"}]
    assert events[0]["model"] == "scripted"
    assert events[0]["thread"].startswith("t_")
    assert events[-2]["blocks"][0] == {"block": "markdown", "text": "Fine, thanks."}
    assert asked.err == ""


def all_of(terminal: int) -> str:
    """What was written to a terminal that nobody has open any more: Linux hands it over in parts, and ends with EIO."""
    parts: list[bytes] = []
    with suppress(OSError):
        while part := os.read(terminal, 65536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()


async def test_a_terminal_gets_styles_unless_no_color_is_set(world: World):
    model = ScriptedModel([calls(("query_tasks", {})), says("**Eight** tasks.")] * 2)
    outputs = []
    async with world.bot(model):
        for more in ({}, {"NO_COLOR": "1"}):
            ours, theirs = pty.openpty()
            asked = await cli(
                "ask",
                "tasks?",
                "--data",
                data(world),
                terminal=os.ttyname(theirs),
                env={"TERM": "xterm", **more},
            )
            os.close(theirs)
            outputs.append(all_of(ours))
            assert asked.code == 0
    assert "\x1b[1mEight\x1b[0m tasks." in outputs[0]
    assert "**Eight** tasks." in outputs[1]
    assert "\x1b[2m" in outputs[0]
    assert "m" not in outputs[1].replace("\r\x1b[K", "").partition("\x1b")[2]


@pytest.mark.parametrize("answer", ["\x1b[2J\x1b]0;owned\x07 \u202ecba", "`\x9b31m`"])
async def test_what_a_model_says_cannot_drive_the_terminal(world: World, answer: str):
    async with world.bot(ScriptedModel([says(answer)])):
        asked = await cli("ask", "hello", "--data", data(world))
    assert "⟨U+" in asked.out
    assert [c for c in asked.out if c in "\x1b\x9b\x07\u202e"] == []


async def test_secrets_are_redacted_as_everywhere(world: World):
    secret = world.secrets().slack_bot_token
    async with world.bot(ScriptedModel([says(f"The token is {secret} indeed.")])):
        asked = await cli("ask", "hello", "--data", data(world))
        raw = await cli("ask", "--json", "", "--data", data(world))
    assert secret not in asked.out + raw.out
    assert "indeed." in asked.out


async def test_a_reader_who_has_enough_stops_the_turn(world: World):
    reached, hold = held_at("never")
    model = ScriptedModel([says("one\n\n", "two\n\n", "never"), says("Fine.")], before_delta=hold)
    async with world.bot(model):
        process = await start("ask", "--json", "count", "--data", data(world))
        assert process.stdout is not None
        await process.stdout.readline()
        await asyncio.wait_for(reached.wait(), DEADLINE)
        process.kill()
        await process.communicate()

        async def stopped() -> bool | None:
            return True if "stopped" in outcomes(world) else None

        await until(stopped, "the end of the turn that nobody reads")
        assert (await cli("ask", "and now?", "--data", data(world))).out == "Fine.\n"


def outcomes(world: World) -> list[str]:
    """How the turns that have ended did, as the store keeps it."""
    with closing(open_read_only(data(world) / "bot.db")) as db:
        return [outcome for (outcome,) in db.execute("SELECT outcome FROM turns") if outcome]


async def test_a_closed_pipe_leaves_no_traceback(world: World):
    async with world.bot():
        process = await asyncio.create_subprocess_shell(
            f"'{sys.executable}' -m chatops_bot ask 'Which tasks are there?' --data '{data(world)}' | head -c 1",
            env=plain_env(), cwd=REPOSITORY, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await asyncio.wait_for(process.communicate(), DEADLINE)
    assert len(out) == 1
    assert b"Traceback" not in err
    assert b"Exception" not in err
    assert b"Broken" not in err


async def test_a_turn_that_fails_says_so_and_exits_with_one(world: World):
    refusal = ModelRefused(Phrase("密钥无效。", "The key is not accepted."))
    async with world.bot(ScriptedModel([fails(refusal)])):
        asked = await cli("ask", "hello", "--data", data(world))
    assert asked.code == 1
    assert "✗ The key is not accepted." in asked.out


async def test_a_question_that_is_too_long_is_refused_by_the_bot(world: World):
    async with world.bot(ScriptedModel([])):
        asked = await cli("ask", "-", "--data", data(world), stdin="x" * 12_001)
    assert asked.code == 1
    assert "over the limit of 12,000" in asked.out


async def test_one_question_at_a_time_in_a_thread(world: World):
    reached, hold = held_at("never")
    async with world.bot(ScriptedModel([says("ok"), says("never")], before_delta=hold)):
        mine = (await cli("ask", "zeroth", "--data", data(world))).err.split()[1]
        process = await start("ask", "first", "--thread", mine, "--data", data(world))
        await asyncio.wait_for(reached.wait(), DEADLINE)
        second = await cli("ask", "second", "--thread", mine, "--data", data(world))
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert (second.code, second.out) == (2, "")
    assert f"Another question in thread {mine} is still being answered" in second.err


async def test_a_bot_that_stops_takes_nothing_more_and_ends_what_it_began(world: World):
    go_on = asyncio.Event()
    reached, hold = held_at("good.", go_on)
    stack = AsyncExitStack()
    await stack.enter_async_context(
        world.bot(
            ScriptedModel([says("So far so ", "good.")], before_delta=hold),
            config=world.config(shutdown=ShutdownConfig(drain_seconds=15)),
        )
    )
    process = await start("ask", "first", "--data", data(world))
    await asyncio.wait_for(reached.wait(), DEADLINE)
    stopping = asyncio.create_task(stack.aclose())
    refused = [
        await cli(*command, "--data", data(world)) for command in (("ask", "more"), ("approve", "ABC234"))
    ]
    go_on.set()
    out, _ = await asyncio.wait_for(process.communicate(), DEADLINE)
    await asyncio.wait_for(stopping, DEADLINE)
    assert (process.returncode, out) == (0, b"So far so good.\n")
    for one in refused:
        assert (one.code, one.out) == (2, "")
        assert (
            one.err
            == "chatops-bot: The bot is stopping and takes nothing more; try again when it has started.\n"
        )


async def test_a_bot_that_hangs_is_told_after_five_seconds(tmp_path: Path):
    with closing(listen(tmp_path)) as listener:
        listener.listen()  # so the system takes connections, and nobody answers
        commands = (("ask", "list tasks"), ("approve", "ABC234"))
        for told in await asyncio.gather(*(cli(*command, "--data", tmp_path) for command in commands)):
            assert (told.code, told.out) == (2, "")
            assert told.err == (
                f"chatops-bot: The bot of {tmp_path} has not answered within 5 s: it hangs. Look at its log, or start it again.\n"
            )


async def test_the_end_of_the_bot_ends_the_answer(world: World):
    reached, hold = held_at("never")
    async with world.bot(ScriptedModel([says("So far ", "never")], before_delta=hold)):
        process = await start("ask", "first", "--data", data(world))
        await asyncio.wait_for(reached.wait(), DEADLINE)
    out, err = await asyncio.wait_for(process.communicate(), DEADLINE)
    assert process.returncode == 1
    assert "The bot restarted while it was working on this" in out.decode()
    assert "Traceback" not in err.decode()


async def test_a_bot_that_dies_in_the_middle_of_an_answer_is_a_failure_and_no_refusal(tmp_path: Path):
    async def about(_: web.Request) -> web.Response:
        return web.json_response({"model": "offline"})

    async def die(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(json.dumps(frame_to_json(Opened("t_1", "offline"))).encode() + b"\n")
        assert request.transport is not None
        request.transport.abort()
        return response

    app = web.Application()
    app.add_routes([web.get("/", about), web.post("/ask", die)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.SockSite(runner, listen(tmp_path)).start()
        told = await cli("ask", "list tasks", "--data", tmp_path)
    finally:
        await runner.cleanup()
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith(f"chatops-bot: The bot of {tmp_path} broke off in the middle; ")
    assert "Traceback" not in told.err


# -- who somebody is ---------------------------------------------------------------------------------------------------


async def test_the_socket_is_for_its_owner_alone_and_goes_with_the_bot(world: World):
    path = socket_path(data(world))
    async with world.bot():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()


async def test_a_start_leaves_the_rights_of_the_data_folder_to_its_owner(world: World):
    data(world).mkdir()
    data(world).chmod(0o751)
    async with world.bot():
        assert stat.S_IMODE(data(world).stat().st_mode) == 0o751


async def test_a_socket_of_a_bot_that_was_killed_is_in_nobodys_way(world: World):
    path = socket_path(data(world))
    path.parent.mkdir(parents=True)
    with closing(socket.socket(socket.AF_UNIX)) as left:
        left.bind(str(path))
    async with world.bot(ScriptedModel([says("Fine.")])):
        assert (await cli("ask", "hello", "--data", data(world))).out == "Fine.\n"


async def test_a_folder_with_a_long_name_has_a_socket_too(world: World):
    folder = world.folder / ("long-" * 30)
    async with world.bot(ScriptedModel([says("Fine.")]), config=world.config(data=folder)):
        assert (await cli("ask", "hello", "--data", folder)).out == "Fine.\n"


@pytest.mark.case("hitl-C44")
async def test_who_asks_is_known_from_the_system_whatever_the_request_says(world: World):
    async with world.bot(pausing(), config=local(world, "operator")), world.local_api() as session:
        headers = {"X-User": "admin", "Authorization": "Bearer admin", "X-Forwarded-User": "local:ana"}
        body = {"text": "pause nightly-report", "as": "operator"}
        async with session.post("/ask", json=body, headers=headers) as response:
            await response.read()
        for forged in ("user", "person", "id", "name"):
            async with session.post("/ask", json={**body, forged: "local:ana"}, headers=headers) as response:
                assert (response.status, (await response.json())["error"]) == (
                    403,
                    f"The request cannot be read; missing or wrong: {forged}.",
                )
    assert {(r.person_id, r.person_name, r.role) for r in audit(world) if r.decision != "shown"} == {
        (ME, ME, "operator")
    }


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("ask", {}), ("ask", {"text": 1}), ("ask", {"text": "x", "thread": "a:b"}), ("ask", {"text": "x", "thread": "../x"}),
        ("ask", {"text": "x", "as": "root"}), ("approve", {}), ("approve", {"code": ""}), ("stop", {"thread": "\x1b"}), ("reject", []),
    ],
)  # fmt: skip
async def test_a_request_that_is_none_is_told_what_is_wrong_with_it(world: World, path: str, body: Any):
    async with (
        world.bot(ScriptedModel([])),
        world.local_api() as session,
        session.post(f"/{path}", json=body) as response,
    ):
        assert response.status == 403
        assert (await response.json())["error"].startswith("The request cannot be read; missing or wrong:")


# -- roles and decisions -----------------------------------------------------------------------------------------------


async def test_a_viewer_is_refused_before_a_proposal_is_made(world: World):
    async with world.bot():
        asked = await cli("ask", "pause nightly-report", "--data", data(world))
        assert "Role viewer may read but not ask for changes" in asked.out
        assert "Approval needed" not in asked.out
        assert asked.err.endswith("; to ask for changes add --as operator)\n")
        more = await cli("ask", "pause nightly-report", "--as", "operator", "--data", data(world))
    assert (more.code, more.out) == (2, "")
    assert f"{ME} may act as viewer at most, not as operator; local.role" in more.err
    assert len(more.err.splitlines()) == 1


async def test_a_change_asked_for_here_is_a_card_that_a_person_in_config_approves_here(world: World):
    async with world.bot(config=local(world, "admin")):
        asked = await cli("ask", "pause nightly-report", "--as", "operator", "--data", data(world))
        assert asked.code == 0
        assert "│ Approval needed: Pause task nightly-report (#1)" in asked.out
        assert "Or type" not in asked.out
        assert f"chatops-bot reject {offered(asked.out)} --data {data(world)}\n" in asked.out, (
            "it reaches this bot from anywhere"
        )
        code = offered(asked.out)
        assert not await is_paused(world)
        approved = await cli("approve", code.lower(), "--data", data(world))
        assert approved.code == 0
        assert "Done: Pause task nightly-report (#1)" in approved.out
        assert await is_paused(world)
        again = await cli("approve", code, "--data", data(world))
    assert again.code == 1
    assert "This proposal is decided already: done" in again.out
    assert len(world.to_scheduler.reached(PAUSE)) == 1
    decided = [record for record in audit(world) if record.decision in ("approved", "applied")]
    assert {(record.person_id, record.role) for record in decided} == {(ME, "admin")}


async def test_a_proposal_of_a_chat_is_approved_here_once_and_its_card_tells(world: World):
    async with world.bot(pausing(), config=local(world, "approver")):
        ts, card = await asked_for(world, "pause nightly-report")
        both = await asyncio.gather(*(cli("approve", code_of(card), "--data", data(world)) for _ in range(2)))
        assert sorted(one.code or 0 for one in both) == [0, 1]
        done = await world.becomes(ts, card, "Done: Pause task nightly-report")
        assert ME in everything(done)
        assert action_ids(done) == ["undo", "continue"]
    assert len(world.to_scheduler.reached(PAUSE)) == 1


@pytest.mark.case("hitl-C49")
async def test_the_first_approval_of_a_long_action_prints_all_of_it_and_the_second_decides(world: World):
    async with world.bot(creating(), config=local(world, "admin")):
        ts, card = await asked_for(world, "create the migration task")
        approve = ("approve", code_of(card), "--data", data(world))
        first = await cli(*approve)
        assert first.code == 1
        assert all(f"│     {line}\n" in first.out for line in SCRIPT.split("\n"))
        assert f"to approve, give approve {code_of(card)}" in first.out
        assert "Read to the end by 1" in everything(await world.becomes(ts, card, "Approval needed: "))
        second = await cli(*approve)
    assert second.code == 0
    assert "Done: Create task migrate" in second.out
    mine = [record.decision for record in audit(world) if record.person_id == ME]
    assert (mine[0], mine[1], mine[-1]) == ("read", "approved", "applied")


async def test_a_decision_with_a_lower_role_is_carried_out_with_that_role(world: World):
    async with world.bot(pausing(), config=local(world, "admin")):
        _, card = await asked_for(world, "pause nightly-report")
        done = await cli("approve", code_of(card), "--as", "approver", "--data", data(world))
    assert done.code == 0
    assert [(r.decision, r.role) for r in audit(world) if r.person_id == ME] == [
        ("approved", "approver"),
        ("claimed", "approver"),
        ("applied", "approver"),
    ]


async def test_a_proposal_is_rejected_here_and_nothing_runs(world: World):
    async with world.bot(pausing(), config=local(world, "approver")):
        ts, card = await asked_for(world, "pause nightly-report")
        rejected = await cli("reject", code_of(card), "--data", data(world))
        await world.becomes(ts, card, "Rejected: Pause task nightly-report")
    assert rejected.code == 0
    assert "Rejected" in rejected.out
    assert world.to_scheduler.reached(PAUSE) == []


async def test_why_it_is_rejected_is_said_with_the_rejection_or_afterwards_once(world: World):
    two = ScriptedModel([calls(("pause_task", {"task_id": n, "action": "pause"})) for n in (1, 3)])
    async with world.bot(two, config=local(world, "approver")):
        ts, card = await asked_for(world, "pause nightly-report")
        await cli("reject", code_of(card), "--reason", "the month closes at 06:00", "--data", data(world))
        assert "the month closes at 06:00" in everything(await world.becomes(ts, card, "Rejected: "))
        ts, card = await asked_for(world, "pause the other one")
        await cli("reject", code_of(card), "--data", data(world))
        said = await cli("reject", code_of(card), "--reason", "not tonight", "--data", data(world))
        assert (said.code, "not tonight" in said.out) == (0, True)
        again = await cli("reject", code_of(card), "--reason", "another reason", "--data", data(world))
        assert (again.code, "another reason" in again.out) == (1, False)
    decided = [r.decision for r in audit(world) if r.person_id == ME]
    assert decided == ["rejected", "rejected", "reason_given"]


@pytest.mark.parametrize("verdict", ["approve", "reject"])
async def test_a_viewer_decides_nothing_and_is_told_why(world: World, verdict: str):
    async with world.bot(pausing()):
        _, card = await asked_for(world, "pause nightly-report")
        refused = await cli(verdict, code_of(card), "--data", data(world))
        assert (refused.code, refused.err) == (1, "")
        assert f"! Role viewer may not {verdict} this change" in refused.out
        assert not await is_paused(world)
    assert [(r.person_id, r.decision) for r in audit(world) if r.person_id == ME] == [(ME, "refused")]


async def test_nobody_approves_here_what_they_asked_for_here(world: World):
    async with world.bot(pausing(), config=local(world, "approver")):
        asked = await cli("ask", "pause it", "--as", "operator", "--data", data(world))
        code = offered(asked.out)
        typed = await cli("ask", f"approve {code}", "--as", "approver", "--data", data(world))
        refused = await cli("approve", code, "--data", data(world))
        assert not await is_paused(world)
    for one in (typed, refused):
        assert one.code == 1
        assert "You asked for this change yourself" in one.out


async def test_typed_into_a_question_an_approval_is_a_decision_too_with_the_role_of_the_question(
    world: World,
):
    async with world.bot(pausing(), config=local(world, "viewer", **{ME: "approver"})):
        _, card = await asked_for(world, "pause nightly-report")
        as_viewer = await cli("ask", f"approve {code_of(card)}", "--data", data(world))
        assert as_viewer.code == 1
        assert "Role viewer may not approve" in as_viewer.out
        typed = await cli("ask", f"approve {code_of(card)}", "--as", "approver", "--data", data(world))
        assert typed.code == 0
        assert await is_paused(world)


async def test_a_code_that_nobody_has_runs_nothing(world: World):
    async with world.bot(ScriptedModel([]), config=local(world, "admin")):
        refused = await cli("approve", "\x1b[2J", "--data", data(world))
    assert refused.code == 1
    assert "There is no proposal ⟨U+001B⟩[2J, so nothing was run" in refused.out
    assert "找不到" not in refused.out, "said once, in the language of the command line"


# -- without a running bot ---------------------------------------------------------------------------------------------


def written(world: World, **sections: Any) -> Path:
    """The world's scheduler in a configuration file, as a person would write it."""
    accounts = {
        name: {"username": world.scheduler.accounts[name]["username"], "password_env": f"SCHEDULER_{name.upper()}_PASSWORD"}
        for name in ("viewer", "operator", "admin")
    }  # fmt: skip
    return config_file(world.folder, scheduler={"url": world.scheduler.url, "accounts": accounts}, **sections)


def passwords(world: World) -> dict[str, str]:
    return {
        f"SCHEDULER_{name.upper()}_PASSWORD": str(world.scheduler.accounts[name]["password"])
        for name in ("viewer", "operator", "admin")
    }


async def test_without_a_bot_the_question_is_answered_here_and_nothing_is_kept(world: World, tmp_path: Path):
    path, temporary = written(world), tmp_path / "tmp"
    temporary.mkdir()
    env = {**passwords(world), "TMPDIR": str(temporary)}
    asked = await cli("ask", "Which tasks are there?", "--config", path, env=env)
    assert asked.code == 0
    assert "nightly-report" in asked.out
    assert (
        f"No bot runs on {world.folder / 'data'}: asking directly, as viewer; nothing is kept." in asked.err
    )
    assert "thread" not in asked.err
    assert list(temporary.iterdir()) == []
    assert not (world.folder / "data").exists()


@pytest.mark.parametrize("way", ["argument", "stdin"])
async def test_bytes_that_are_no_text_are_asked_as_question_marks(world: World, way: str):
    question = "who is M\udcfcller?"
    text, stdin = (question, b"") if way == "argument" else ("-", os.fsencode(question))
    process = await start(
        "ask", text, "--config", written(world), stdin=asyncio.subprocess.PIPE, env=passwords(world)
    )
    _, err = await asyncio.wait_for(process.communicate(stdin), DEADLINE)
    assert (process.returncode, b"Traceback" in err) == (0, False)


async def test_without_a_bot_ctrl_c_stops_the_turn_and_leaves_nothing(world: World, tmp_path: Path):
    path, temporary = written(world), tmp_path / "tmp"
    temporary.mkdir()
    async with ModelServer(Answer([text("So far so good, and on it goes"), asyncio.Event()])) as server:
        env = {
            **passwords(world), "TMPDIR": str(temporary), "OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "night-owl",
        }  # fmt: skip
        process = await start("ask", "how is it?", "--config", path, env=env)
        assert process.stdout is not None
        begun = await asyncio.wait_for(process.stdout.readuntil(b"and on"), DEADLINE)
        process.send_signal(signal.SIGINT)
        rest, err = await asyncio.wait_for(process.communicate(), DEADLINE)
        await asyncio.wait_for(server.hung_up.wait(), DEADLINE)
    assert process.returncode == 130
    assert (begun + rest).decode().startswith("So far so good, and on it goes\n\nStopped by ")
    assert b"Traceback" not in err
    assert list(temporary.iterdir()) == []


async def test_without_a_bot_no_change_is_even_proposed(world: World):
    path = written(world, local={"role": "admin"})
    asked = await cli("ask", "pause nightly-report", "--config", path, env=passwords(world))
    assert "Role viewer may read but not ask for changes" in asked.out
    assert "Approval needed" not in asked.out
    refused = await cli("ask", "pause it", "--as", "admin", "--config", path, env=passwords(world))
    assert refused.code == 2
    assert "a change could neither be approved nor run; start the bot, or ask as viewer." in refused.err
    refused = await cli("approve", "ABC234", "--config", path)
    assert refused.code == 2
    assert "a decision is carried out by the running bot: start it." in refused.err


# -- told in one sentence ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("ask", "hi"), "There is no chatops-bot.yaml here; name a configuration with --config, or a data folder with --data."),
        (("ask", "hi", "--data", "nowhere"), "nowhere is no folder"),
        (("ask", "hi", "--data", "."), "start it, or name a configuration with --config to ask without one."),
        (("ask", " ", "--data", "."), "The question is empty"),
        (("ask", "-", "--data", "."), "The question is empty"),
        (("ask", "hi", "--config", "none.yaml"), "cannot be read (No such file or directory)"),
        (("reject", "ABC234", "--data", "."), "start it."),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_told_in_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], sentence: str
):
    refused = run_cli(*arguments, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("chatops-bot: ")
    assert sentence in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_secret_that_is_missing_is_named(tmp_path: Path):
    refused = run_cli("ask", "hi", "--config", config_file(tmp_path), env=plain_env())
    assert refused.returncode == 2
    assert "SCHEDULER_VIEWER_PASSWORD is not set" in refused.stderr
    assert "SLACK" not in refused.stderr
    assert SECRETS["SCHEDULER_VIEWER_PASSWORD"] not in refused.stderr


# -- the demo ----------------------------------------------------------------------------------------------------------


@pytest.mark.processes
def test_the_demo_is_asked_and_its_changes_are_approved_from_a_terminal(demo: DemoProcess):
    asked = run_cli("ask", "哪些任务最近失败了？", "--data", demo.data)
    assert asked.returncode == 0
    assert OFFLINE["zh"] in asked.stdout
    asked = run_cli("ask", "pause log-archive", "--as", "operator", cwd=demo.data.parent)
    assert asked.returncode == 2  # the demo's folder is not here under its usual name
    asked = run_cli("ask", "pause nightly-report", "--as", "operator", "--data", demo.data)
    code = offered(asked.stdout)
    assert run_cli("approve", code, "--data", demo.data).returncode == 0
    assert demo.task("nightly-report")["Status"] == "disabled"
