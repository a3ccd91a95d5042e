"""`chatops-bot demo`: scheduler, local workspace and bot, as three processes under one launcher.

A child that dies is started again at once, on its own port, so that a click after a crash finds a bot.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import random
import secrets
import socket
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx
import yaml

from chatops_bot.app.children import Child, keep, on_port
from chatops_bot.app.demo_policy import read_policy, with_ids
from chatops_bot.app.process import END_SECONDS, stop_wishes, unless
from chatops_bot.domain.errors import ChatopsError

FIRST_ALERT_SECONDS = 5.0
DRAIN_SECONDS = 5
"""How long Ctrl-C lets answers come to their end; with none under way the demo ends at once."""
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
    policy: Path | None = None


class Demo:
    def __init__(self, options: DemoOptions) -> None:
        self._options = options
        self._data = options.data

    async def run(self) -> int:
        """Start all three, tell what runs where, and keep them running until told to stop."""
        tried = read_policy(self._options.policy) if self._options.policy is not None else {}
        wishes = stop_wishes()
        stop = wishes.asked
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
            bot = self._bot(scheduler_ready, workspace_ready, webhook_token, bot_port, lock, tried)
            children.append(bot)
            bot_start = asyncio.ensure_future(bot.start())
            if not await unless(stop, bot_start):
                return 0
            scheduler.arguments = on_port(scheduler.arguments, scheduler_ready["url"])
            workspace.arguments = on_port(workspace.arguments, workspace_ready["url"])
            await self._first_alert(workspace_ready)
            keeping = [asyncio.create_task(keep(child), name=f"keep {child.name}") for child in children]
            self._tell(scheduler_ready, workspace_ready, bot_start.result(), children)
            await stop.wait()
        finally:
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)
            for together in (children[2:], children[:2]):
                await asyncio.gather(*(child.stop(wishes.hurried) for child in together))
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
        path.touch(mode=0o600)
        if not path.read_text():
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
        tried: Mapping[str, Any],
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
                "timezone": "UTC",
                "accounts": {
                    role: {
                        "username": account["username"],
                        "password_env": f"SCHEDULER_{role.upper()}_PASSWORD",
                    }
                    for role, account in scheduler["accounts"].items()
                },
            },
            "roles": {"people": {person["id"]: person["role"] for person in workspace["people"].values()}},
            "local": {"role": "admin"},
            "alerts": {"channel": workspace["channels"]["incidents"]},
            "web": {"port": bot_port},
            "shutdown": {"drain_seconds": DRAIN_SECONDS},
            **with_ids(tried, _ids_of(workspace)),
        }
        config_path = folder / "chatops-bot.yaml"
        config_path.write_text(
            "# Written by `chatops-bot demo` at each start.\n" + yaml.safe_dump(config, sort_keys=False)
        )
        secrets_of_demo = {
            "SLACK_BOT_TOKEN": workspace["bot_token"],
            "SLACK_APP_TOKEN": workspace["app_token"],
            "SCHEDULER_WEBHOOK_TOKEN": webhook_token,
            **passwords,
            **{name: os.environ[name] for name in _MODEL_VARIABLES if name in os.environ},
        }
        env_path = folder / "chatops-bot.env"  # for `chatops-bot doctor --data`
        env_path.touch(mode=0o600)
        env_path.write_text("".join(f"{name}={value}\n" for name, value in secrets_of_demo.items()))
        arguments = ["chatops_bot", "run", "--config", str(config_path), "--ready-json", "--exit-with-parent"]
        return Child("bot", arguments, _plain_env() | secrets_of_demo, lock, stop_seconds=END_SECONDS + 1)

    async def _first_alert(self, workspace: Mapping[str, Any]) -> None:
        """A new demo is ready when #incidents holds its first alert; an old one holds it already."""
        person, channel = next(iter(workspace["people"])), workspace["channels"]["incidents"]
        url = f"{workspace['url']}/sim/messages"
        async with httpx.AsyncClient(trust_env=False) as http:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FIRST_ALERT_SECONDS):
                    while True:
                        answer = await http.get(url, params={"person": person, "channel": channel})
                        if answer.json()["messages"]:
                            return
                        await asyncio.sleep(0.05)

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
                "bot": bot["url"],
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
            _say(f"bot        mention @opsbot in #incidents or #ops; its health is at {bot['url']}/readyz")
            _say(f"model      {bot['model']}{hint}")
            _say(f"data       {self._data}  (Ctrl-C ends all three; start again to go on)")
        if self._options.open_browser and not self._options.as_json and _has_screen():
            webbrowser.open(workspace["url"])


def _ids_of(workspace: Mapping[str, Any]) -> dict[str, str]:
    """The ids of the workspace's people, groups and channels by their names."""
    people = {name: person["id"] for name, person in workspace["people"].items()}
    return {**workspace["groups"], **workspace["channels"], **people}


_MODEL_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL")


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
    """A port that nothing uses. Below those that systems hand out on their own, so that it is still free when the bot takes it."""
    for port in random.sample(range(20_000, 32_000), k=100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise DemoFailed("No free port was found between 20000 and 32000; end what uses them.")


def _has_screen() -> bool:
    """Whether a browser would open in a window; a text browser would take over the terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
