"""The command line: what it prints, what it refuses and with which exit code."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from chatops_bot.app.doctor.local import reachable
from chatops_bot.simulators.slack import Workspace
from tests.app.conftest import DEADLINE, REPOSITORY, DemoProcess, plain_env, run_cli, run_cold

SECRETS = {
    "SCHEDULER_VIEWER_PASSWORD": "pw-viewer-of-tests",
    "SCHEDULER_OPERATOR_PASSWORD": "pw-operator-of-tests",
    "SCHEDULER_ADMIN_PASSWORD": "pw-admin-of-tests",
}


def config_file(folder: Path, **sections: Any) -> Path:
    accounts = {
        name: {"username": name, "password_env": f"SCHEDULER_{name.upper()}_PASSWORD"}
        for name in ("viewer", "operator", "admin")
    }
    scheduler = {"url": "http://127.0.0.1:9", "accounts": accounts}
    path = folder / "chatops-bot.yaml"
    path.write_text(yaml.safe_dump({"scheduler": scheduler, "web": {"port": 0}, **sections}))
    return path


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("demo",),
        ("run",),
        ("ask",),
        ("approve",),
        ("reject",),
        ("audit",),
        ("audit", "verify"),
        ("doctor",),
    ],
)
def test_help_comes_at_once(command: tuple[str, ...]):
    began = time.monotonic()
    helped = run_cold(*command, "--help")
    print(f"\n[measured] --help of {' '.join(command) or 'chatops-bot'}: {time.monotonic() - began:.2f} s")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert helped.stdout.startswith("usage: chatops-bot")


def test_help_imports_nothing_of_the_bot_itself():
    script = "import sys, chatops_bot.app.cli; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", script], text=True, cwd=REPOSITORY).split())
    heavy = {
        "aiohttp",
        "asyncio",
        "httpx",
        "logging",
        "slack_sdk",
        "slack_bolt",
        "pydantic",
        "chatops_bot.app.bootstrap",
    }
    assert loaded & heavy == set()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "the following arguments are required: command"),
        (("dmeo",), "invalid choice: 'dmeo'"),
        (("demo", "--port", "70000"), "'70000' is not a port; give a number from 0 to 65535."),
        (("demo", "--port", "-1"), "'-1' is not a port"),
        (("audit",), "the following arguments are required: what"),
        (("audit", "show", "--last", "0"), "'0' is not a number of rows; give 1 or more."),
        (("audit", "show", "--data", "a", "--config", "b"), "not allowed with argument"),
    ],
)
def test_a_wrong_command_line_is_told_with_the_usage(arguments: tuple[str, ...], words: str):
    refused = run_cli(*arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("usage: ")
    assert words in refused.stderr.splitlines()[-1]


def test_without_a_command_the_usage_lists_all():
    usage = " ".join(run_cli().stderr.split())
    assert "{demo,run,ask,approve,reject,audit,prompt,skills,eval,doctor} ..." in usage


@pytest.mark.parametrize("command", [("ask", "hi"), ("approve", "ABC234"), ("audit", "show"), ("doctor",)])
def test_which_bot_is_meant_follows_one_rule_for_every_command(tmp_path: Path, command: tuple[str, ...]):
    nothing = run_cli(*command, cwd=tmp_path)
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert nothing.stderr == (
        "chatops-bot: There is no chatops-bot.yaml here; name a configuration with --config, or a data folder with --data.\n"
    )
    (tmp_path / ".chatops-demo").mkdir()
    demo = run_cli(*command, cwd=tmp_path)
    assert (
        str(tmp_path / ".chatops-demo") in demo.stderr
        or ".chatops-demo is not the folder of a demo" in demo.stderr
    )
    (tmp_path / "chatops-bot.yaml").write_text("odd: 1\n")
    configured = run_cli(*command, cwd=tmp_path)
    assert "chatops-bot.yaml, line 1" in configured.stdout + configured.stderr, "it comes before the demo"


# -- doctor ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "spoken_to"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
        ("fe80::1", "[fe80::1]"),
        ("box", "box"),
    ],
)
def test_the_doctor_speaks_to_a_bot_wherever_it_listens(host: str, spoken_to: str):
    assert reachable(host) == spoken_to


def test_a_folder_that_is_no_demo_is_refused(tmp_path: Path):
    refused = run_cli("doctor", "--data", tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"chatops-bot: {tmp_path} is not the folder of a demo (No such file or directory); start one with `chatops-bot demo`.\n"
    )


@pytest.mark.processes
def test_the_doctor_finds_a_running_demo_well(demo: DemoProcess):
    looked = run_cli("doctor", "--data", demo.data, env=plain_env())
    assert (looked.returncode, looked.stderr) == (0, ""), looked.stdout
    assert "A bot runs on the store and is ready." in looked.stdout
    assert looked.stdout.splitlines()[-1] == "21 ok, 1 to look at, 0 failed."
    secrets = [
        line.split("=", 1)[1] for line in (demo.data / "bot" / "chatops-bot.env").read_text().splitlines()
    ]
    assert [secret for secret in secrets if secret in looked.stdout] == []
    assert (demo.data / "bot" / "chatops-bot.env").stat().st_mode & 0o077 == 0


# -- run --------------------------------------------------------------------------------------------------------------


def test_run_with_a_bad_configuration_says_one_sentence_and_starts_nothing(tmp_path: Path):
    path = config_file(tmp_path, web={"prot": 1})
    refused = run_cli("run", "--config", path, "--ready-json", env=plain_env(**SECRETS))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"chatops-bot: {path}, line ")
    assert refused.stderr.endswith("web.prot is not a known key; did you mean port?\n")
    assert len(refused.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_that_quotes_a_file_name_does_not_drive_the_terminal(tmp_path: Path):
    refused = run_cli("run", "--config", tmp_path / "\x1b[2J\u202e.yaml")
    assert refused.returncode == 2
    assert "⟨U+001B⟩[2J⟨U+202E⟩.yaml" in refused.stderr
    assert "\x1b" not in refused.stderr


def test_an_error_that_quotes_an_address_hides_its_password(tmp_path: Path):
    refused = run_cli("run", "--config", tmp_path / "redis:" / "password=correct-horse.yaml")
    assert refused.returncode == 2
    assert "correct-horse" not in refused.stderr
    assert "password=[redacted]" in refused.stderr


def test_run_without_a_configuration_or_secrets_says_what_is_missing(tmp_path: Path):
    refused = run_cli("run", "--config", tmp_path / "chatops-bot.yaml")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "No such file or directory" in refused.stderr
    refused = run_cli("run", "--config", config_file(tmp_path))
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 5
    assert list(tmp_path.iterdir()) == [tmp_path / "chatops-bot.yaml"]


async def run_bot(
    path: Path, program: Sequence[str] = ("-m", "chatops_bot"), **env: str
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, *program, "run", "--config", str(path), "--ready-json",
        env=plain_env(**SECRETS, **env), stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


def tokens(workspace: Workspace) -> dict[str, str]:
    ready = workspace.ready()
    return {"SLACK_BOT_TOKEN": ready["bot_token"], "SLACK_APP_TOKEN": ready["app_token"]}


@pytest.mark.processes
async def test_run_prints_one_ready_line_reads_again_on_sighup_and_ends_on_sigterm(tmp_path: Path):
    async with Workspace.start(tmp_path / "workspace") as workspace:
        path = config_file(tmp_path, slack={"api_url": workspace.api_url})
        process = await run_bot(path, **tokens(workspace))
        assert process.stdout is not None
        assert process.stderr is not None
        ready = json.loads(await asyncio.wait_for(process.stdout.readline(), DEADLINE))
        assert (ready["ready"], ready["model"]) == ("bot", "offline")
        assert ready["bot_user_id"] == workspace.ready()["bot_user_id"]
        process.send_signal(signal.SIGHUP)
        first = [await asyncio.wait_for(process.stderr.readline(), DEADLINE)]
        while b"the skills were read again; in use: " not in first[-1]:
            first.append(await asyncio.wait_for(process.stderr.readline(), DEADLINE))
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        rest, log = await asyncio.wait_for(process.communicate(), 10)
        log = b"".join(first) + log
        assert (
            log.count(b"the prompts were read again; in use: incident_responder v1, scheduler_operator v1")
            == 1
        )
        assert log.count(b"read again") == 2
        print(f"\n[measured] end of `run` by SIGTERM: {time.monotonic() - began:.2f} s")
        assert (process.returncode, rest) == (0, b"")
        assert b"Traceback" not in log
        assert b"warning" not in log.lower(), "a start with all that is needed warns of nothing"
        assert [
            word for word in (*SECRETS.values(), *tokens(workspace).values()) if word.encode() in log
        ] == []


HURRIED = (
    "from chatops_bot.app import run; run.END_SECONDS = 0.0; from chatops_bot.app.cli import main; main()"
)


@pytest.mark.processes
async def test_run_is_cut_off_when_its_end_takes_longer_than_it_may(tmp_path: Path):
    async with Workspace.start(tmp_path / "workspace") as workspace:
        path = config_file(tmp_path, slack={"api_url": workspace.api_url})
        process = await run_bot(path, ("-c", HURRIED), **tokens(workspace))
        assert process.stdout is not None
        await asyncio.wait_for(process.stdout.readline(), DEADLINE)
        process.send_signal(signal.SIGTERM)
        _, log = await asyncio.wait_for(process.communicate(), DEADLINE)
    assert process.returncode == 1
    assert b"did not end within 0 s and is cut off" in log


@pytest.mark.processes
async def test_run_with_a_refused_token_says_so(tmp_path: Path):
    async with Workspace.start(tmp_path / "workspace") as workspace:
        path = config_file(tmp_path, slack={"api_url": workspace.api_url})
        process = await run_bot(path, **tokens(workspace) | {"SLACK_BOT_TOKEN": "xoxb-not-a-token-of-it"})
        rest, log = await asyncio.wait_for(process.communicate(), DEADLINE)
    assert (process.returncode, rest) == (2, b"")
    assert b"invalid_auth" in log
    assert b"Traceback" not in log
    assert b"xoxb-not-a-token-of-it" not in log


@pytest.mark.processes
async def test_a_stop_while_slack_is_silent_ends_the_start(tmp_path: Path):
    """A start that waits for an answer hears SIGTERM all the same; SIGHUP, which would end a program that knows nothing of it, does it
    no harm."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await gone.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        path = config_file(tmp_path, slack={"api_url": f"http://127.0.0.1:{port}/api/"})
        process = await run_bot(path, SLACK_BOT_TOKEN="xoxb-1", SLACK_APP_TOKEN="xapp-1")
        await asyncio.wait_for(asked.wait(), DEADLINE)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        rest, _ = await asyncio.wait_for(process.communicate(), 10)
        assert (process.returncode, rest) == (0, b"")
    finally:
        gone.set()
        server.close()
        await server.wait_closed()
