"""Checks of this machine: people and roles, the texts, the data folder, the store and the bot that may run on it."""

import asyncio
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import aiohttp

from chatops_bot.app.config import Config
from chatops_bot.app.doctor.findings import Finding, failed, ok, warning
from chatops_bot.app.local_client import reach
from chatops_bot.app.local_socket import KNOWS_PEERS, socket_path
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.people import RIGHTS, Effect, Role
from chatops_bot.platforms.terminal.people import LocalRefused
from chatops_bot.stores.sqlite import MIGRATIONS
from chatops_bot.stores.sqlite_file import open_read_only

LITTLE_SPACE = 200 * 1024 * 1024
"""Bytes. A busy team's store grows by a few megabytes a day; SQLite needs room beside it for its log."""
BOT_SECONDS = 4.0


async def check_roles(config: Config) -> Sequence[Finding]:
    """Decision: without anybody who approves, nothing can ever be changed, and nobody would learn why."""
    roster = config.roster
    able = [one for one, role in (*roster.people.items(), *roster.groups.items()) if RIGHTS[role].approves]
    if not config.has_approver:
        return [
            failed(
                "roles",
                "Nobody may approve: roles.people names no approver and no admin, so no change can ever run. "
                "Give somebody the role approver or admin under roles.people.",
            )
        ]
    if not able:
        return [
            warning(
                "roles",
                f"Nobody may approve in the chat, only people of this machine, as {config.local.role} (local.role). "
                "Give somebody the role approver or admin under roles.people.",
            )
        ]
    if warned := _nobody_deletes(config):
        return [warned]
    groups = sum(one in roster.groups for one in able)
    people = "1 person" if len(able) - groups == 1 else f"{len(able) - groups} people"
    also = f" and {groups} user group{'s' if groups > 1 else ''}" if groups else ""
    return [
        ok("roles", f"{people}{also} may approve changes; {len(config.people)} have a role of their own.")
    ]


def _nobody_deletes(config: Config) -> Finding | None:
    """A deletion is never approved by whoever asked for it; that takes two people who may."""
    able = [person for person, role in config.people.items() if Effect.DESTRUCTIVE in RIGHTS[role].approves]
    if any(Effect.DESTRUCTIVE in RIGHTS[role].approves for role in config.roster.groups.values()):
        return None
    if Effect.DESTRUCTIVE in RIGHTS[Role(config.local.role)].approves or len(able) > 1:
        return None
    what, who = (f"what {able[0]} asks to delete", "another person") if able else ("a deletion", "somebody")
    says = f"Nobody may approve {what}: it takes an admin. Give {who} the role admin under roles.people."
    return warning("roles", says)


async def check_texts(config: Config) -> Sequence[Finding]:
    try:
        texts = await asyncio.to_thread(configured_texts, config.agents)
    except ConfigInvalid as error:
        return [failed("prompts", problem) for problem in str(error).splitlines()]
    return [ok("prompts", f"The prompts of {len(texts.defaults)} agents are there in both languages.")]


async def check_data(config: Config) -> Sequence[Finding]:
    return [await asyncio.to_thread(_data, config.data)]


def _data(folder: Path) -> Finding:
    if not folder.exists():
        parent = next(path for path in folder.parents if path.exists())
        if parent.is_dir() and os.access(parent, os.W_OK | os.X_OK):
            return ok("data folder", f"{folder} does not exist yet; the first start makes it.")
        return failed("data folder", f"{folder} cannot be made: {parent} takes no new folder. Change data.")
    if not folder.is_dir():
        return failed("data folder", f"{folder} is a file, not a folder; name a folder with data.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return failed(
            "data folder", f"{folder} is not writable for this user; give it to the user that runs the bot."
        )
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        return warning("data folder", f"{folder} has only {free >> 20} MB left on its disk; make room.")
    return ok("data folder", f"{folder} is writable, {free >> 20} MB are free.")


async def check_store(config: Config) -> Sequence[Finding]:
    return [await asyncio.to_thread(_store, config.store_path)]


def _store(path: Path) -> Finding:
    """Read only: no second process ever opens a store for writing."""
    if not path.exists():
        return ok("store", f"{path} does not exist yet; the first start makes it.")
    if not os.access(path, os.W_OK):
        return failed(
            "store", f"{path} is not writable for this user; give it to the user that runs the bot."
        )
    try:
        with closing(open_read_only(path)) as connection:
            schema = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    except sqlite3.DatabaseError as error:
        return failed(
            "store",
            f"{path} cannot be read as a database ({error}); restore it from a backup or move it away.",
        )
    if schema and "entries" not in tables:
        return failed("store", f"{path} is another program's database; name another folder with data.")
    if schema > len(MIGRATIONS):
        return failed(
            "store",
            f"{path} has schema {schema}, but this version knows only {len(MIGRATIONS)}; start the newer version again.",
        )
    if schema < len(MIGRATIONS):
        return ok("store", f"{path} has schema {schema}; the next start brings it to {len(MIGRATIONS)}.")
    return ok("store", f"{path} has schema {schema}, the newest.")


async def check_bot(config: Config, session: aiohttp.ClientSession) -> Sequence[Finding]:
    """Whether a bot runs on the store, as its lock and its own address tell it."""
    url = f"http://{reachable(config.web.host)}:{config.web.port}/readyz"
    held = await asyncio.to_thread(_is_locked, config.store_path.with_suffix(".lock"))
    if config.web.port == 0:
        return [ok("bot", "A bot runs on the store." if held else "No bot runs on the store; it can start.")]
    answer = await readiness(session, url)
    if held and answer is None:
        return [
            failed(
                "bot",
                f"Another process holds the store, but no bot answers at {url}: a bot with other settings uses this "
                "data folder, or it hangs. Stop that process, or choose another data folder.",
            )
        ]
    if answer is None:
        return [ok("bot", "No bot runs on the store; it can start.")]
    if not held:
        return [
            failed(
                "bot",
                f"Something answers at {url}, but no bot holds the store: a start would find the port taken. "
                "Stop that program, or choose another web.port.",
            )
        ]
    if red := answer.get("red"):
        reasons = " ".join(map(str, red.values())) if isinstance(red, dict) else str(red)
        return [failed("bot", f"A bot runs on the store and is not ready. {reasons}")]
    if mute := await local_api_problem(config.data):
        return [failed("bot", f"A bot runs on the store. {mute}")]
    return [ok("bot", "A bot runs on the store and is ready.")]


async def local_api_problem(folder: Path) -> str | None:
    """Why commands on this machine do not reach the bot that runs with this data folder; None when they do."""
    if not KNOWS_PEERS:
        return None
    try:
        async with reach(folder) as client:
            if client is not None:
                return None
    except LocalRefused as error:
        return str(error)
    return (
        f"But nothing answers at {socket_path(folder)}, so `chatops-bot approve` and `ask` do not reach it; "
        "look at its log for the local API, and start it again."
    )


def reachable(host: str) -> str:
    """Where a server that listens on `host` is spoken to, as it stands in a URL."""
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    return f"[{host}]" if ":" in host else host


def _is_locked(path: Path) -> bool:
    """Looks with a shared lock, held for no longer than the look."""
    try:
        with path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


async def readiness(session: aiohttp.ClientSession, url: str) -> dict[str, object] | None:
    """What a bot's /readyz says; None when nothing answers there."""
    try:
        async with session.get(url, timeout=aiohttp.ClientTimeout(total=BOT_SECONDS)) as response:
            answer = await response.json(content_type=None)
    except (aiohttp.ClientConnectionError, TimeoutError):
        return None
    except (aiohttp.ClientError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}
