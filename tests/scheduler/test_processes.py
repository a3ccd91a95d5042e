"""The real process: its ready line, its ends, and a start after kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

Start = Callable[..., "Running"]


class Running:
    """A started scheduler process and its ready line."""

    def __init__(self, data: Path, *more: str) -> None:
        command = [
            sys.executable,
            "-m",
            "chatops_bot.scheduler",
            "--data",
            str(data),
            "--port",
            "0",
            "--demo",
        ]
        self.process = subprocess.Popen(
            [*command, "--ready-json", "--exit-with-parent", *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.ready = json.loads(self.process.stdout.readline())

    def call(self, method: str, path: str, body: object = None, token: str = "") -> object:
        request = urllib.request.Request(self.ready["url"] + path, method=method)
        request.add_header("Authorization", f"Bearer {token}")
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=20) as response:
            return json.load(response)

    def end(self) -> tuple[int, float, str, str]:
        """Exit code, seconds until it came, the rest of stdout, stderr."""
        started = time.monotonic()
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, time.monotonic() - started, out, err


@pytest.fixture
def start(tmp_path) -> Iterator[Start]:
    started: list[Running] = []

    def begin(*more: str) -> Running:
        started.append(Running(tmp_path / "data", *more))
        return started[-1]

    yield begin
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate()


def test_the_ready_line_is_the_only_output_and_logs_hold_no_secret(start: Start):
    running = start()
    assert running.ready["ready"] == "scheduler"
    assert running.call("GET", "/healthz") == {"status": "ok"}
    log_in = running.ready["accounts"]["admin"]
    answer = running.call("POST", "/api/auth/login", log_in)
    assert isinstance(answer, dict)
    os.kill(running.process.pid, signal.SIGTERM)
    code, seconds, out, err = running.end()
    assert (code, out) == (0, "")
    assert seconds < 4  # two on a quiet machine; the five that a payload is left on its own would show
    assert log_in["password"] not in err
    assert answer["token"] not in err
    assert all(line[:4].isdigit() for line in err.splitlines()), err


def slow_payload_runs(running: Running) -> None:
    """Triggers a payload that would run for a minute and waits until it does."""
    token = running.call("POST", "/api/auth/login", running.ready["accounts"]["admin"])["token"]  # type: ignore[index]
    body = {
        "name": f"slow-{time.time_ns()}",
        "type": "shell",
        "payload": "trap '' TERM; sleep 61.25 & sleep 61.25",
    }
    task = running.call("POST", "/api/v1/tasks", body, token)
    running.call("POST", f"/api/v1/tasks/{task['ID']}/trigger", token=token)  # type: ignore[index]
    deadline = time.monotonic() + 20
    while not sleepers():
        assert time.monotonic() < deadline, "the payload did not start"
        time.sleep(0.02)


def sleepers() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\x0061.25\x00":
                found.append(path.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("how", ["stdin ends", "SIGTERM", "SIGINT"])
def test_it_ends_soon_and_takes_its_payloads_along(start: Start, how: str):
    running = start()
    slow_payload_runs(running)
    if how == "stdin ends":
        assert running.process.stdin is not None
        running.process.stdin.close()
        running.process.stdin = None
    else:
        os.kill(running.process.pid, getattr(signal, how))
    code, seconds, _, err = running.end()
    assert code == 0, err
    assert seconds < 4  # two on a quiet machine; the five that a payload is left on its own would show
    assert sleepers() == []


@pytest.mark.case("sched-E9")
def test_it_starts_again_right_after_kill_9(start: Start, bubblewrap):
    first = start()
    slow_payload_runs(first)
    first.process.kill()
    first.end()
    second = start()
    assert second.ready["accounts"] == first.ready["accounts"]
    token = second.call("POST", "/api/auth/login", second.ready["accounts"]["viewer"])["token"]  # type: ignore[index]
    page = second.call("GET", "/api/v1/task-instances", token=token)
    codes = [run["ErrorCode"] for run in page["instances"]]  # type: ignore[index]
    assert "scheduler_restart" in codes
    deadline = time.monotonic() + 10
    while sleepers():
        assert time.monotonic() < deadline, "the payload outlived its scheduler"
        time.sleep(0.02)


def test_a_second_process_is_refused_in_one_sentence(start: Start, tmp_path):
    start()
    command = [sys.executable, "-m", "chatops_bot.scheduler", "--data", str(tmp_path / "data"), "--port", "0"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=10)
    assert refused.returncode == 2
    assert refused.stdout == ""
    (line,) = refused.stderr.splitlines()
    assert "another scheduler is running" in line
