"""`chatops-bot demo` as the processes that people start: what it prints, what runs, how it ends, what it survives."""

import asyncio
import json
import os
import signal
import socket
import stat
import time
import urllib.request
from pathlib import Path

import pytest
import yaml

from chatops_bot.app.bootstrap import CUT_SECONDS
from chatops_bot.app.demo import DRAIN_SECONDS
from chatops_bot.app.process import ONE_WISH_SECONDS
from tests.app.conftest import (
    ANY_PORTS,
    DEADLINE,
    END_SECONDS,
    REPOSITORY,
    DemoProcess,
    StartDemo,
    group_members,
    plain_env,
    run_cli,
    wait_until,
)
from tests.llm.model_server import DONE, Answer, ModelServer, chunk, text
from tests.scenarios.conftest import action_ids, everything, visible

pytestmark = pytest.mark.processes

KEYS = {
    "workspace", "scheduler", "bot", "bot_user_id", "channels", "people", "scheduler_accounts", "pids", "model",
}  # fmt: skip
PAUSE = "Pause the task nightly-report"


def told(what: str, seconds: float) -> None:
    print(f"\n[measured] {what}: {seconds:.2f} s")


def alive(pid: int) -> bool:
    return pid in group_members(os.getpgid(pid)) if Path(f"/proc/{pid}").exists() else False


def is_ready(demo: DemoProcess) -> bool:
    """What the bot tells its load balancer; the first thing that it takes back when it ends."""
    port = yaml.safe_load((demo.data / "bot" / "chatops-bot.yaml").read_text())["web"]["port"]
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10):
            return True
    except OSError:  # refused, or an answer such as 503
        return False


def child_of(demo: DemoProcess, module: str) -> int | None:
    """The living child of the launcher that runs `module`, whatever its pid is by now."""
    for pid in demo.members - {demo.process.pid}:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if command[1:3] == [b"-m", module.encode()]:
            return pid
    return None


MODULES = {
    "bot": "chatops_bot",
    "workspace": "chatops_bot.simulators.slack",
    "scheduler": "chatops_bot.scheduler",
}


def restarted(demo: DemoProcess, name: str, old: int) -> int:
    def other() -> int | None:
        pid = child_of(demo, MODULES[name])
        return pid if pid not in (None, old) else None

    return wait_until(other, f"a new {name}")


def test_the_ready_line_says_what_runs_where(demo: DemoProcess):
    ready = demo.ready
    assert set(ready) == KEYS
    assert set(ready["channels"]) == {"incidents", "ops"}
    assert {name: person["role"] for name, person in ready["people"].items()} == {
        "vera": "viewer", "oscar": "operator", "ana": "approver", "adam": "admin",
    }  # fmt: skip
    assert all(set(person) == {"id", "role", "token"} for person in ready["people"].values())
    assert set(ready["scheduler_accounts"]) == {"viewer", "operator", "admin"}
    assert all(set(account) == {"username", "password"} for account in ready["scheduler_accounts"].values())
    assert set(ready["pids"]) == {"bot", "workspace", "scheduler"}
    assert ready["model"] == "offline"
    with urllib.request.urlopen(f"{ready['bot']}/readyz", timeout=DEADLINE) as answer:
        assert json.load(answer)["ready"] is True
    assert demo.client("vera").auth_test()["user_id"] == ready["people"]["vera"]["id"]


def test_the_pages_tell_of_every_part_of_the_ready_line_and_how_long_the_end_takes():
    page = (REPOSITORY / "docs" / "simulator.md").read_text()
    assert {key for key in KEYS if f"`{key}`" not in page} == set()
    assert (
        f"gets {DRAIN_SECONDS} s to come to its end, then {CUT_SECONDS:g} s to say that it was cut off"
        in " ".join(page.split())
    )
    assert f"{DRAIN_SECONDS} s in the demo" in (REPOSITORY / "README.md").read_text()
    assert "`bot` in its `--json` line" in (REPOSITORY / "docs" / "health.md").read_text()


def test_the_children_share_the_launchers_process_group(demo: DemoProcess):
    assert {os.getpgid(pid) for pid in demo.ready["pids"].values()} == {demo.process.pid}


def test_the_bot_posts_the_alert_of_a_demo_task_that_failed(demo: DemoProcess):
    assert demo.alert()["user"] == demo.ready["bot_user_id"]


def test_nightly_report_exists_and_is_enabled(demo: DemoProcess):
    assert demo.task("nightly-report")["Status"] == "enabled"


@pytest.mark.parametrize(
    ("question", "word"), [("What failed recently?", "db-backup"), ("最近哪些任务失败了？", "db-backup")]
)
def test_a_person_who_asks_gets_an_answer(demo: DemoProcess, question: str, word: str):
    demo.alert()
    assert word in demo.asks("oscar", question)


def test_a_second_demo_on_the_same_data_is_refused_in_one_sentence(demo: DemoProcess):
    refused = run_cli("demo", *ANY_PORTS, "--no-browser", "--data", demo.data)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"chatops-bot: Another demo runs on {demo.data}; stop it, or choose another folder with --data.\n"
    )


def test_secrets_stay_in_a_folder_of_ones_own_and_out_of_the_log(demo: DemoProcess):
    assert stat.S_IMODE(demo.data.stat().st_mode) == 0o700
    secrets = [person["token"] for person in demo.ready["people"].values()]
    secrets += [account["password"] for account in demo.ready["scheduler_accounts"].values()]
    secrets.append((demo.data / "webhook-token").read_text())
    assert [secret for secret in secrets if secret in demo.stderr] == []


def test_sigint_to_the_launcher_alone_ends_all_and_stdout_held_one_line(start_demo: StartDemo):
    demo = start_demo()
    demo.wait_ready()
    demo.says("oscar", "What failed recently?")  # the end comes in the middle of a turn
    code, rest, seconds = demo.end(signal.SIGINT)
    told("end by SIGINT", seconds)
    assert (code, rest) == (0, b"")
    assert "Traceback" not in demo.stderr


async def test_a_turn_that_sigterm_cuts_off_says_so_after_the_next_start_at_the_latest(start_demo: StartDemo):
    async with ModelServer(Answer([text("I have found "), asyncio.Event()])) as server:
        env = plain_env(OPENAI_BASE_URL=server.base_url, OPENAI_MODEL="night-owl")
        first = start_demo(env=env)
        await asyncio.to_thread(first.wait_ready)
        ts = await asyncio.to_thread(first.says, "oscar", "What failed?")
        await asyncio.wait_for(server.asked.wait(), DEADLINE)
        code, rest, seconds = await asyncio.to_thread(first.end)
        told("end in the middle of a model's answer", seconds)
        assert (code, rest) == (0, b"")
        assert "Traceback" not in first.stderr
    second = start_demo()
    await asyncio.to_thread(second.wait_ready)
    (answer,) = await asyncio.to_thread(second.settled, ts)
    assert "the answer is incomplete" in everything(answer)
    assert (await asyncio.to_thread(second.end))[:2] == (0, b"")


async def test_a_turn_under_way_is_answered_to_its_end_before_the_demo_ends(start_demo: StartDemo):
    goes_on = asyncio.Event()
    said = Answer([text("I have found "), goes_on, text("the cause."), chunk(finish="stop"), DONE])
    async with ModelServer(said) as server:
        env = plain_env(OPENAI_BASE_URL=server.base_url, OPENAI_MODEL="night-owl")
        first = start_demo(env=env)
        await asyncio.to_thread(first.wait_ready)
        ts = await asyncio.to_thread(first.says, "oscar", "What failed?")
        await asyncio.wait_for(server.asked.wait(), DEADLINE)
        ending = asyncio.create_task(asyncio.to_thread(first.end))
        await asyncio.to_thread(
            wait_until, lambda: None if is_ready(first) else True, "the beginning of the end"
        )
        goes_on.set()
        code, rest, seconds = await ending
        told("end that waits for a model's answer", seconds)
        assert (code, rest) == (0, b"")
    second = start_demo()
    await asyncio.to_thread(second.wait_ready)
    (answer,) = await asyncio.to_thread(second.settled, ts)
    assert visible(answer) == "I have found the cause."
    assert "incomplete" not in everything(answer)


async def test_a_second_signal_cuts_at_once_and_what_waited_is_answered_at_the_next_start(
    start_demo: StartDemo,
):
    async with ModelServer(Answer([text("I have found "), asyncio.Event()])) as server:
        env = plain_env(OPENAI_BASE_URL=server.base_url, OPENAI_MODEL="night-owl")
        first = start_demo(env=env)
        await asyncio.to_thread(first.wait_ready)
        ts = await asyncio.to_thread(first.says, "oscar", "What failed?")
        await asyncio.wait_for(server.asked.wait(), DEADLINE)
        await asyncio.to_thread(first.says, "ana", "Which tasks are there?", ts)
        await asyncio.to_thread(
            wait_until,
            lambda: True if "Waiting" in everything(first.replies(ts)[-1]) else None,
            "a waiting message",
        )
        began = time.monotonic()
        first.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(ONE_WISH_SECONDS + 0.2)  # what comes sooner counts as the same wish
        code, rest, _ = await asyncio.to_thread(first.end)
        told("end after a second signal", time.monotonic() - began)
        assert time.monotonic() - began < DRAIN_SECONDS
        assert (code, rest) == (0, b"")
    second = start_demo()
    await asyncio.to_thread(second.wait_ready)
    cut, _, answered = await asyncio.to_thread(second.settled, ts, 3)
    assert "the answer is incomplete" in everything(cut)
    assert "nightly-report" in visible(answered)


def test_for_people_it_prints_five_lines_and_ctrl_c_which_reaches_the_whole_group_ends_it(
    start_demo: StartDemo,
):
    demo = start_demo("--port", "0", "--scheduler-port", "0")
    lines = [demo.read_line() for _ in range(5)]
    assert [line.split()[0] for line in lines] == ["workspace", "scheduler", "bot", "model", "data"]
    assert "http://127.0.0.1:" in lines[0]
    assert lines[2].endswith("/readyz")
    assert "offline" in lines[3]
    os.killpg(demo.process.pid, signal.SIGINT)
    rest, _ = demo.process.communicate(timeout=END_SECONDS)
    assert (demo.process.returncode, rest, demo.members) == (0, b"", set())
    assert "starting it again" not in demo.stderr


def test_kill_9_of_the_launcher_ends_all_and_the_next_start_goes_on(start_demo: StartDemo):
    first = start_demo()
    before = first.wait_ready()
    told("first start", time.monotonic() - first.started_at)
    (first.data / "notes.txt").write_text("not ours")
    (first.data / "bot" / "more").mkdir()
    answered = first.asks("oscar", "Which tasks are there?")
    posted = first.history()
    first.process.kill()
    killed = time.monotonic()
    second = start_demo()
    wait_until(lambda: None if first.members else True, "the end of the orphans", END_SECONDS)
    told("end after kill -9 of the launcher", time.monotonic() - killed)
    after = second.wait_ready()
    told(
        "second start, right after kill -9 (goal 3 s on a quiet machine)",
        time.monotonic() - second.started_at,
    )
    for key in ("bot_user_id", "channels", "people", "scheduler_accounts"):
        assert after[key] == before[key]
    kept = {message["ts"]: message.get("text") for message in second.history()}
    assert all(kept[message["ts"]] == message.get("text") for message in posted)
    assert second.asks("oscar", "Which tasks are there?") == answered
    assert (first.data / "notes.txt").read_text() == "not ours"


def test_kill_9_of_the_launcher_at_any_moment_of_the_start_leaves_nothing(
    start_demo: StartDemo, tmp_path: Path
):
    for after in (0.3, 0.8, 1.3):
        demo = start_demo(data=tmp_path / f"killed-{after}")
        time.sleep(after)  # the moment itself is what the test varies; nothing tells of it
        demo.process.kill()
        wait_until(lambda: None if demo.members else True, "the end of the orphans", END_SECONDS)  # noqa: B023


@pytest.mark.parametrize("children", [0, 1, 2, 3])
def test_sigterm_during_the_start_leaves_nothing(start_demo: StartDemo, children: int):
    demo = start_demo()
    wait_until(lambda: True if len(demo.members) > children else None, f"{children} children")
    code, rest, seconds = demo.end()
    told(f"end with {children} children started", seconds)
    assert code in (0, -signal.SIGTERM)  # by itself, or before it could listen to signals
    assert rest.count(b"\n") <= 1


def test_kill_9_of_the_bot_brings_it_back_and_old_cards_work(start_demo: StartDemo):
    demo = start_demo()
    bot = demo.wait_ready()["pids"]["bot"]
    card = next(m for m in demo.settled(demo.says("oscar", PAUSE), 2) if "approve" in " ".join(action_ids(m)))
    killed = time.monotonic()
    os.kill(bot, signal.SIGKILL)
    restarted(demo, "bot", bot)
    told("bot process back after kill -9", time.monotonic() - killed)
    assert "nightly-report" in demo.asks("oscar", "Which tasks are there?")
    told("answer after kill -9 of the bot", time.monotonic() - killed)
    assert demo.click("ana", card, "approve")["ok"] is True
    wait_until(
        lambda: True if demo.task("nightly-report")["Status"] == "disabled" else None,
        "the pause that was approved",
    )
    assert demo.end()[:2] == (0, b"")


def test_kill_9_of_a_neighbour_brings_it_back_at_its_address(start_demo: StartDemo):
    demo = start_demo()
    demo.wait_ready()
    demo.alert()
    for name in ("workspace", "scheduler"):
        comes_back(demo, name)
    assert demo.end()[:2] == (0, b"")


def comes_back(demo: DemoProcess, name: str) -> None:
    ready = demo.ready
    killed = time.monotonic()
    os.kill(ready["pids"][name], signal.SIGKILL)
    restarted(demo, name, ready["pids"][name])

    def listening() -> bool | None:
        with socket.socket() as probe:
            return True if probe.connect_ex(("127.0.0.1", int(ready[name].rpartition(":")[2]))) == 0 else None

    wait_until(listening, f"the {name} at its address")
    told(f"{name} back after kill -9", time.monotonic() - killed)
    assert "nightly-report" in demo.asks("oscar", "Which tasks are there?")
    told(f"answer after kill -9 of the {name}", time.monotonic() - killed)


@pytest.mark.parametrize("option", ["--port", "--scheduler-port"])
def test_a_port_in_use_is_named_and_nothing_is_started(start_demo: StartDemo, option: str):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        demo = start_demo(*ANY_PORTS, option, port)
        rest, _ = demo.process.communicate(timeout=60)
    assert (demo.process.returncode, rest, demo.members) == (2, b"", set())
    assert demo.stderr == (
        f"chatops-bot: Port {port} cannot be used (Address already in use); choose another with {option}, or 0 for any.\n"
    )


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    refused = run_cli("demo", *ANY_PORTS, "--no-browser", "--data", tmp_path / "file")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"chatops-bot: {tmp_path / 'file'} cannot be used as the demo's folder (File exists); choose another with --data.\n"
    )


async def test_the_model_of_the_environment_answers(start_demo: StartDemo):
    said = Answer([text("Four tasks "), text("are fine."), chunk(finish="stop"), DONE])
    async with ModelServer(said, Answer([text("ok"), DONE])) as server:
        env = plain_env(
            OPENAI_BASE_URL=server.base_url, OPENAI_MODEL="night-owl", OPENAI_API_KEY="sk-demo-key-of-tests"
        )
        demo = start_demo(env=env)
        ready = await asyncio.to_thread(demo.wait_ready)
        assert ready["model"] == f"night-owl at {server.base_url.split('/')[2]}"
        assert await asyncio.to_thread(demo.asks, "oscar", "How are the tasks?") == "Four tasks are fine."
        assert server.received[0].headers["Authorization"] == "Bearer sk-demo-key-of-tests"
        assert "sk-demo-key-of-tests" not in demo.stderr
        looked = await asyncio.to_thread(run_cli, "doctor", "--data", demo.data, env=plain_env())
        assert f"{ready['model']} answers, with a tool offered" in looked.stdout, (
            "from a shell that has no model set"
        )
        assert looked.returncode == 0
        assert stat.S_IMODE((demo.data / "bot" / "chatops-bot.env").stat().st_mode) == 0o600
        assert (await asyncio.to_thread(demo.end))[:2] == (0, b"")


def test_half_a_model_is_refused_in_one_sentence(start_demo: StartDemo):
    demo = start_demo(env=plain_env(OPENAI_BASE_URL="http://127.0.0.1:9/v1"))
    rest, _ = demo.process.communicate(timeout=DEADLINE)
    assert (demo.process.returncode, rest, demo.members) == (2, b"", set())
    assert "A model endpoint is set but no model: set OPENAI_MODEL" in demo.stderr
    assert "Traceback" not in demo.stderr


def test_an_alert_is_posted_once_over_restarts(start_demo: StartDemo):
    first = start_demo()
    first.wait_ready()
    alert = first.alert()
    assert first.end()[0] == 0
    second = start_demo()
    second.wait_ready()
    assert [m["ts"] for m in second.history() if everything(m) == everything(alert)] == [alert["ts"]]
