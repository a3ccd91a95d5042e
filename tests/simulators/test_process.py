"""The workspace as a program: its ready line, its end, and what a killed one leaves behind."""

import asyncio
import contextlib
import json
import signal
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from chatops_bot.simulators.slack import Workspace
from chatops_bot.simulators.slack.errors import WorkspaceUnusable

from .conftest import Driver

COMMAND = (sys.executable, "-m", "chatops_bot.simulators.slack")
PIPE = asyncio.subprocess.PIPE


@asynccontextmanager
async def launched(
    data: Path, *flags: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, Any]]]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        "--data",
        str(data),
        "--port",
        "0",
        "--ready-json",
        *flags,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        assert process.stdout is not None
        ready = json.loads(await asyncio.wait_for(process.stdout.readline(), 15))
        yield process, ready
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_state_survives_kill_and_the_next_start_works_at_once(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    (tmp_path / "notes.txt").write_text("not ours")
    async with launched(tmp_path) as (process, ready):
        channel = ready["channels"]["incidents"]
        ts = await Driver(ready["url"], session).says("ana", channel, "before the crash")
        process.kill()
        await process.wait()
    async with Workspace.start(tmp_path) as workspace:
        assert {**workspace.ready(), "url": ""} == {**ready, "url": ""}
        drive = Driver(workspace.url, session)
        shown = (await drive.get("messages", person="vera", channel=channel))["messages"]
        assert [(message["ts"], message["text"]) for message in shown] == [(ts, "before the crash")]
        assert await drive.says("ana", channel, "after") > ts


async def test_terminated_quickly_with_open_sockets_and_no_token_in_its_output(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    async with launched(tmp_path) as (process, ready):
        async with session.ws_connect(f"{ready['url']}/sim/live?person=ana") as page:
            started = time.monotonic()
            process.send_signal(signal.SIGTERM)
            stdout, stderr = await asyncio.wait_for(process.communicate(), 5)
            assert time.monotonic() - started < 4
            assert (await page.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        assert (process.returncode, stdout) == (0, b"")
        assert b"xox" not in stderr


async def test_exits_with_its_parent(tmp_path: Path) -> None:
    async with launched(tmp_path, "--exit-with-parent") as (process, _):
        assert process.stdin is not None
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 10) == 0


async def test_second_workspace_on_the_same_data_is_refused_in_one_sentence(tmp_path: Path) -> None:
    async with Workspace.start(tmp_path):
        process = await asyncio.create_subprocess_exec(
            *COMMAND, "--data", str(tmp_path), "--port", "0", stdout=PIPE, stderr=PIPE
        )
        stdout, stderr = await asyncio.wait_for(process.communicate(), 15)
    assert (process.returncode, stdout) == (1, b"")
    assert stderr.decode().strip() == (
        f"Another workspace already runs on {tmp_path}; stop it or choose another --data folder."
    )


async def test_unusable_folders_ports_and_hosts_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "workspace.sqlite3").write_bytes(b"junk" * 1000)
    (tmp_path / "newer").mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "newer" / "workspace.sqlite3")) as newer:
        newer.execute("PRAGMA user_version=99")
    async with Workspace.start(tmp_path / "taken") as running:
        port = int(running.url.rpartition(":")[2])
        table: list[tuple[Path, dict[str, Any], str]] = [
            (tmp_path / "file", {}, "cannot be written"),
            (tmp_path, {}, "not a usable workspace file"),
            (tmp_path / "newer", {}, "newer version"),
            (tmp_path / "a", {"port": port}, "choose another --port"),
            (tmp_path / "b", {"port": 70_000}, "choose another --port"),
            (tmp_path / "c", {"host": "0.0.0.0"}, "this machine only"),
        ]
        for folder, options, words in table:
            with pytest.raises(WorkspaceUnusable, match=words):
                async with Workspace.start(folder, **options):
                    pass
