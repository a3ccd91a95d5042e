"""The real `chatops-bot demo` as a process: started, asked, killed, and looked for afterwards."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
from slack_sdk import WebClient

from tests.scenarios.conftest import World, action_ids, everything, open_world, visible
from tests.warm_commands import run_warm

Json = dict[str, Any]
T = TypeVar("T")
REPOSITORY = Path(__file__).parents[2]
DEADLINE = 60.0
"""Seconds until a wait fails; generous, since a build machine may be busy. What matters is measured and printed."""
END_SECONDS = 4.0
"""All processes are gone two seconds after the end is called; the rest is allowance for a busy machine."""


def plain_env(**more: str) -> dict[str, str]:
    """The environment of a person with no model and no Slack app configured."""
    foreign = ("OPENAI_", "SLACK_", "SCHEDULER_")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)} | {
        "PYTHONPATH": str(REPOSITORY),
        **more,
    }


def run_cli(*arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Any:
    """`chatops-bot …` to its end, in a warm process."""
    words = [str(word) for word in arguments]
    return run_warm(words, env=env or plain_env(), cwd=cwd or REPOSITORY, deadline=DEADLINE)


def run_cold(*arguments: str | Path) -> Any:
    """`python -m chatops_bot …` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "chatops_bot", *map(str, arguments)], env=plain_env(), cwd=REPOSITORY,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE, check=False,
    )  # fmt: skip


def wait_until(ready: Callable[[], T | None], what: str, deadline: float = DEADLINE) -> T:
    """What `ready` returns once it is not None; polled, since other processes only tell when asked."""
    ends = time.monotonic() + deadline
    while True:
        found = ready()
        if found is not None:
            return found
        assert time.monotonic() < ends, f"waited {deadline:g} s in vain for {what}"
        time.sleep(0.03)


def group_members(group: int) -> set[int]:
    """The living processes of a process group; those that are only waiting to be reaped are not counted."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if state != "Z" and int(its_group) == group:
                found.add(int(path.parent.name))
    return found


class DemoProcess:
    """One launcher in a process group of its own. Its stderr goes to a file, so that no pipe ever fills."""

    def __init__(
        self, data: Path, *more: str, env: Mapping[str, str] | None = None, cwd: Path = REPOSITORY
    ) -> None:
        self.data = data
        self.stderr_path = data.with_name(f"{data.name}-{time.monotonic_ns()}.stderr")
        self.started_at = time.monotonic()
        with self.stderr_path.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "chatops_bot", "demo", "--data", str(data), "--no-browser", *more],
                env=dict(env or plain_env()), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=stderr, start_new_session=True,
            )  # fmt: skip
        self.ready: Json = {}
        self._read = b""

    def wait_ready(self) -> Json:
        """The JSON line. Fails with the log when the launcher ends first."""
        self.ready = json.loads(self.read_line())
        return self.ready

    def read_line(self) -> str:
        assert self.process.stdout is not None
        descriptor, ends = self.process.stdout.fileno(), time.monotonic() + DEADLINE
        while b"\n" not in self._read:
            readable, _, _ = select.select([descriptor], [], [], max(0.0, ends - time.monotonic()))
            piece = os.read(descriptor, 65536) if readable else b""
            assert piece, f"no line of {self._read!r}; the log:\n{self.stderr}"
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text(encoding="utf-8")

    @property
    def members(self) -> set[int]:
        return group_members(self.process.pid)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, bytes, float]:
        """Signal the launcher alone: its exit code, the rest of its stdout, and seconds until its whole group was gone."""
        began = time.monotonic()
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=DEADLINE)
        wait_until(lambda: None if self.members else True, "the end of all processes", END_SECONDS)
        return self.process.returncode, self._read + rest, time.monotonic() - began

    def kill_group(self) -> None:
        """What a test that failed left behind."""
        if self.members:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=DEADLINE)

    def client(self, person: str) -> WebClient:
        token = self.ready["people"][person]["token"]
        return WebClient(token=token, base_url=f"{self.ready['workspace']}/api/")

    @property
    def incidents(self) -> str:
        return str(self.ready["channels"]["incidents"])

    def says(self, person: str, text: str, thread: str | None = None) -> str:
        """Mention the bot in #incidents as a person; the message's ts."""
        mention = f"<@{self.ready['bot_user_id']}>"
        posted = self.client(person).chat_postMessage(
            channel=self.incidents, text=f"{mention} {text}", thread_ts=thread
        )
        return str(posted["ts"])

    def history(self) -> list[Json]:
        """The messages of #incidents, newest first."""
        messages: list[Json] = self.client("adam").conversations_history(channel=self.incidents)["messages"]
        return messages

    def replies(self, ts: str) -> list[Json]:
        answer = self.client("adam").conversations_replies(channel=self.incidents, ts=ts)
        messages: list[Json] = answer["messages"]
        return messages[1:]

    def settled(self, ts: str, count: int = 1) -> list[Json]:
        """The replies once there are as many and none is still being worked on."""

        def ready() -> list[Json] | None:
            found = self.replies(ts)
            working = any(action.startswith("stop") for message in found for action in action_ids(message))
            return found if len(found) >= count and not working else None

        return wait_until(ready, f"{count} replies")

    def asks(self, person: str, text: str) -> str:
        """Ask and return the visible text of the answer."""
        return visible(self.settled(self.says(person, text))[0])

    def alert(self) -> Json:
        """The newest failure alert in #incidents, once the bot has posted one."""

        def posted() -> Json | None:
            found = [m for m in self.history() if m.get("bot_id") and "db-backup" in everything(m)]
            return found[0] if found else None

        return wait_until(posted, "a failure alert")

    def click(self, person: str, message: Json, action: str) -> Json:
        action_id = next(a for a in action_ids(message) if a.startswith(action))
        body = {"person": person, "channel": self.incidents, "ts": message["ts"], "action_id": action_id}
        return post_json(f"{self.ready['workspace']}/sim/click", body)

    def task(self, name: str) -> Json:
        """A task as the scheduler itself tells it."""
        account = self.ready["scheduler_accounts"]["viewer"]
        token = post_json(f"{self.ready['scheduler']}/api/auth/login", account)["token"]
        request = urllib.request.Request(f"{self.ready['scheduler']}/api/v1/tasks")
        request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request, timeout=10) as response:
            return next(dict(task) for task in json.load(response) if task["Name"] == name)


def post_json(url: str, body: Json) -> Json:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as response:
        return dict(json.load(response))


StartDemo = Callable[..., DemoProcess]
ANY_PORTS = ("--port", "0", "--scheduler-port", "0", "--json")


@pytest.fixture
def start_demo(tmp_path: Path) -> Iterator[StartDemo]:
    """Starts demos, by default on one folder of this test, and leaves none running."""
    started: list[DemoProcess] = []

    def start(
        *flags: str, data: Path = tmp_path / "demo", env: Mapping[str, str] | None = None
    ) -> DemoProcess:
        started.append(DemoProcess(data, *(flags or ANY_PORTS), env=env))
        return started[-1]

    yield start
    for demo in started:
        demo.kill_group()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoProcess]:
    """One running demo for the tests of a module that do it no harm."""
    running = DemoProcess(tmp_path_factory.mktemp("demo") / "data", *ANY_PORTS)
    try:
        running.wait_ready()
        yield running
    finally:
        running.kill_group()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        yield opened
