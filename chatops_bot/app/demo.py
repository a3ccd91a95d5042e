"""`chatops-bot demo`: scheduler, local workspace and bot, as three processes under one launcher.

Each child holds one end of a pipe as its stdin; when the launcher dies, however it dies, the pipe ends and so do they.
They share the launcher's lock on the data folder, so the folder is free only when the last of them is gone.
A child that dies is started again at once, on its own port, so that a click after a crash finds a bot.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import yaml

from chatops_bot.app.process import stop_event, unless
from chatops_bot.domain.errors import ChatopsError

READY_SECONDS = 30.0
STOP_SECONDS = 0.9
"""How long a child gets to end by itself. The bot goes first, so that it can still say in its threads that it was cut off;
then the others; the whole end stays under two seconds."""
RESTART_PAUSES = (0.0, 0.5, 2.0, 5.0)
"""Seconds before the first, second, ... restart in a row; a child that lives for a minute starts the row anew."""
HEALTHY_AFTER = 60.0
LOCK_SECONDS = 3.0
"""How long a start waits for the children of a launcher that was killed just before; they end within two seconds."""


class DemoFailed(ChatopsError):
    """The demo could not start; the message says which part and what to do."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    port: int
    scheduler_port: int
    data: Path
    open_browser: bool
    as_json: bool


class Child:
    """One supervised process that prints a JSON line when it is ready."""

    def __init__(self, name: str, arguments: list[str], env: Mapping[str, str], lock: IO[str]) -> None:
        self.name = name
        self.arguments = arguments
        self.env = dict(env)
        self.lock = lock
        self.process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        return self.process.pid if self.process is not None else 0

    async def start(self) -> dict[str, Any]:
        """Start it and wait for its ready line. Raises DemoFailed when it ends first or takes too long."""
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", *self.arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=self.env, pass_fds=(self.lock.fileno(),),
        )  # fmt: skip
        if self.process.stdout is None:
            raise RuntimeError("the child was started without a pipe")
        try:
            async with asyncio.timeout(READY_SECONDS):
                line = await self.process.stdout.readline()
        except TimeoutError as error:
            await self.stop()
            raise DemoFailed(
                f"The {self.name} was not ready within {READY_SECONDS:g} s; its log is above."
            ) from error
        if not line:
            code = await self.process.wait()
            raise DemoFailed(
                f"The {self.name} ended at start (exit {code}); its last log line above says why."
            )
        ready: dict[str, Any] = json.loads(line)
        return ready

    async def stop(self) -> None:
        """End it: ask, then insist."""
        if self.process is None or self.process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self.process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()


class Demo:
    def __init__(self, options: DemoOptions) -> None:
        self._options = options
        self._data = options.data

    async def run(self) -> int:
        """Start all three, tell what runs where, and keep them running until told to stop."""
        stop = stop_event()
        for port, option in (
            (self._options.port, "--port"),
            (self._options.scheduler_port, "--scheduler-port"),
        ):
            _require_free(port, option)
        try:
            lock = await self._lock_data()
            webhook_token = self._kept_secret("webhook-token")
        except OSError as error:
            raise DemoFailed(
                f"{self._data} cannot be used as the demo's folder ({error.strerror}); choose another with --data."
            ) from error
        bot_port = _free_port()
        scheduler = self._scheduler(webhook_token, bot_port, lock)
        workspace = self._workspace(lock)
        children = [scheduler, workspace]
        keeping: list[asyncio.Task[None]] = []
        try:
            starting = asyncio.gather(scheduler.start(), workspace.start())
            if not await unless(stop, starting):
                return 0
            scheduler_ready, workspace_ready = starting.result()
            bot = self._bot(scheduler_ready, workspace_ready, webhook_token, bot_port, lock)
            children.append(bot)
            bot_start = asyncio.ensure_future(bot.start())
            if not await unless(stop, bot_start):
                return 0
            scheduler.arguments = _on_port(scheduler.arguments, scheduler_ready["url"])
            workspace.arguments = _on_port(workspace.arguments, workspace_ready["url"])
            keeping = [asyncio.create_task(_keep(child), name=f"keep {child.name}") for child in children]
            self._tell(scheduler_ready, workspace_ready, bot_start.result(), children)
            await stop.wait()
        finally:
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)
            for together in (children[2:], children[:2]):
                await asyncio.gather(*(child.stop() for child in together))
            lock.close()
        return 0

    async def _lock_data(self) -> IO[str]:
        self._data.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (self._data / "demo.lock").open("w")
        deadline = asyncio.get_running_loop().time() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if asyncio.get_running_loop().time() > deadline:
                    lock.close()
                    raise DemoFailed(
                        f"Another demo runs on {self._data}; stop it, or choose another folder with --data."
                    ) from error
                await asyncio.sleep(0.05)
            else:
                return lock

    def _kept_secret(self, name: str) -> str:
        """A random secret of this demo, made at its first start and kept in its folder."""
        path = self._data / name
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(secrets.token_urlsafe(24))
        return path.read_text()

    def _scheduler(self, webhook_token: str, bot_port: int, lock: IO[str]) -> Child:
        arguments = [
            "chatops_bot.scheduler", "--data", str(self._data / "scheduler"), "--port", str(self._options.scheduler_port),
            "--demo", "--failure-webhook", f"http://127.0.0.1:{bot_port}/hooks/scheduler", "--ready-json", "--exit-with-parent",
        ]  # fmt: skip
        return Child("scheduler", arguments, _plain_env() | {"SCHEDULER_WEBHOOK_TOKEN": webhook_token}, lock)

    def _workspace(self, lock: IO[str]) -> Child:
        arguments = [
            "chatops_bot.simulators.slack", "--data", str(self._data / "workspace"), "--port", str(self._options.port),
            "--ready-json", "--exit-with-parent",
        ]  # fmt: skip
        return Child("workspace", arguments, _plain_env(), lock)

    def _bot(
        self,
        scheduler: Mapping[str, Any],
        workspace: Mapping[str, Any],
        webhook_token: str,
        bot_port: int,
        lock: IO[str],
    ) -> Child:
        """The bot, by the very configuration file and environment that production uses."""
        folder = self._data / "bot"
        folder.mkdir(exist_ok=True)
        passwords = {
            f"SCHEDULER_{role.upper()}_PASSWORD": a["password"] for role, a in scheduler["accounts"].items()
        }
        config = {
            "data": ".",
            "slack": {"api_url": f"{workspace['url']}/api/"},
            "scheduler": {
                "url": scheduler["url"],
                "accounts": {
                    role: {
                        "username": account["username"],
                        "password_env": f"SCHEDULER_{role.upper()}_PASSWORD",
                    }
                    for role, account in scheduler["accounts"].items()
                },
            },
            "roles": {"people": {person["id"]: person["role"] for person in workspace["people"].values()}},
            "alerts": {"channel": workspace["channels"]["incidents"]},
            "web": {"port": bot_port},
        }
        config_path = folder / "chatops-bot.yaml"
        config_path.write_text(
            "# Written by `chatops-bot demo` at each start.\n" + yaml.safe_dump(config, sort_keys=False)
        )
        env = {
            "SLACK_BOT_TOKEN": workspace["bot_token"],
            "SLACK_APP_TOKEN": workspace["app_token"],
            "SCHEDULER_WEBHOOK_TOKEN": webhook_token,
            **passwords,
            **{name: os.environ[name] for name in _MODEL_VARIABLES if name in os.environ},
        }
        arguments = ["chatops_bot", "run", "--config", str(config_path), "--ready-json", "--exit-with-parent"]
        return Child("bot", arguments, _plain_env() | env, lock)

    def _tell(
        self,
        scheduler: Mapping[str, Any],
        workspace: Mapping[str, Any],
        bot: Mapping[str, Any],
        children: list[Child],
    ) -> None:
        if self._options.as_json:
            line = {
                "workspace": workspace["url"],
                "scheduler": scheduler["url"],
                "bot_user_id": workspace["bot_user_id"],
                "channels": workspace["channels"],
                "people": workspace["people"],
                "scheduler_accounts": scheduler["accounts"],
                "pids": {child.name: child.pid for child in children},
                "model": bot["model"],
            }
            _say(json.dumps(line, ensure_ascii=False))
        else:
            offline = bot["model"] == "offline"
            hint = (
                " (rules only; set OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL for a language model)"
                if offline
                else ""
            )
            _say(f"workspace  {workspace['url']}  <- open this in a browser")
            _say(f"scheduler  {scheduler['url']}  with demo tasks and a worker")
            _say("bot        mention @opsbot in #incidents or #ops, or write to it directly")
            _say(f"model      {bot['model']}{hint}")
            _say(f"data       {self._data}  (Ctrl-C ends all three; start again to go on)")
        if self._options.open_browser and not self._options.as_json:
            webbrowser.open(workspace["url"])


_MODEL_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL")


async def _keep(child: Child) -> None:
    """Start the child again whenever it ends."""
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        if child.process is None:
            raise RuntimeError(f"the {child.name} is kept before it was started")
        started = loop.time()
        code = await child.process.wait()
        failures = 0 if loop.time() - started > HEALTHY_AFTER else failures
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
        sys.stderr.write(f"chatops-bot demo: the {child.name} ended ({how}); starting it again.\n")
        await asyncio.sleep(RESTART_PAUSES[min(failures, len(RESTART_PAUSES) - 1)])
        failures += 1
        try:
            await child.start()
        except DemoFailed as error:
            sys.stderr.write(f"chatops-bot demo: {error}\n")


def _on_port(arguments: list[str], url: str) -> list[str]:
    """The same command line with the port that was given out, so that a restart comes back at the same address."""
    at = arguments.index("--port") + 1
    return [*arguments[:at], url.rsplit(":", 1)[1], *arguments[at + 1 :]]


def _plain_env() -> dict[str, str]:
    """What a child needs of our environment: the paths of Python and the language, no secret of anybody's."""
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "PYTHONPATH", "VIRTUAL_ENV", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"PYTHONUNBUFFERED": "1"}


def _require_free(port: int, option: str) -> None:
    """Raise DemoFailed when something listens on `port`, before any child is started."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DemoFailed(
                f"Port {port} cannot be used ({error.strerror}); choose another with {option}, or 0 for any."
            ) from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
