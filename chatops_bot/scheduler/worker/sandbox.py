"""Where shell payloads run, and how far they can reach.

A payload is someone else's program. It must not read the data folder, the environment or `/proc` of this process, nor
talk to the network: on loopback sit services that act for people. Three strengths, the first that really works is used:

- `bubblewrap`: own mount, pid, net, ipc and user namespaces, no capabilities, read-only `/usr`, a private `/tmp`. When
  this process is root, bubblewrap is started as another user first.
- `user`: as root without bubblewrap, another user (nobody). Files of ours are out of reach, the network isn't.
- `none`: neither; the payload can do what this process can.

bubblewrap's own environment can be read in the sandbox through `/proc/1/environ`, whatever `--clearenv` says, so it is
started with an empty one; descriptors are closed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

logger = logging.getLogger(__name__)

NOBODY = 65_534
TMP_BYTES = 64 * 1024 * 1024
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LIMITS = "ulimit -n 256 && ulimit -u 256 && ulimit -f 131072 && ulimit -c 0"  # files, processes, 128 MiB a file, no cores
_PROBE = "test ! -e /proc/{pid}/environ && ! (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo isolated"


class Isolation(StrEnum):
    """How far a payload can reach, strongest first."""

    BUBBLEWRAP = "bubblewrap"
    USER = "user"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A chosen isolation; `bwrap` and its options only for bubblewrap."""

    isolation: Isolation
    user: int | None = None
    bwrap: str = ""
    options: Sequence[str] = ()

    @property
    def blocks_network(self) -> bool:
        return self.isolation is Isolation.BUBBLEWRAP

    async def start(self, payload: str) -> Process:
        """Start bash on the payload, output piped, in a process group of its own. Raises OSError.

        A start is never cut in half: bubblewrap killed at the wrong moment leaves a child that waits for ever.
        """
        starting = asyncio.ensure_future(self._start(payload))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(OSError):
                await (await starting).clean_up()
            raise

    async def _start(self, payload: str) -> Process:
        script = f'{_LIMITS} || exit 126; exec /bin/bash -c "$0"'
        if self.isolation is Isolation.BUBBLEWRAP:
            return await self._start_in_bubblewrap(["/bin/bash", "-c", script, payload])
        folder = await asyncio.to_thread(_private_folder, self.user)
        argv = ["/bin/bash", "-c", script, payload]
        setpriv = shutil.which("setpriv")
        if setpriv is not None:
            # The payload's first process dies with this one, even after kill -9.
            argv = [setpriv, "--no-new-privs", "--pdeathsig", "KILL", *argv]
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=_environment(str(folder)),
                cwd=folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                user=self.user,
                group=self.user,
                extra_groups=None if self.user is None else [],
            )
        except BaseException:
            await asyncio.to_thread(shutil.rmtree, folder, True)
            raise
        return Process(process, folder=folder)

    async def _start_in_bubblewrap(self, argv: list[str]) -> Process:
        read_end, write_end = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                self.bwrap,
                *self.options,
                "--info-fd",
                str(write_end),
                "--",
                *argv,
                env={},
                cwd="/",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                pass_fds=(write_end,),
                user=self.user,
                group=self.user,
                extra_groups=None if self.user is None else [],
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        return Process(process, sandboxed=await asyncio.to_thread(_child_pid, read_end))


@dataclass(slots=True)
class Process:
    """A started payload. `sandboxed` is the pid of the first process inside bubblewrap, which leads the group there."""

    process: asyncio.subprocess.Process
    sandboxed: int | None = None
    folder: Path | None = None
    _cleaned: bool = field(default=False)

    def terminate(self) -> None:
        """Ask every process of the payload's group to end; those that are gone are fine."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid if self.sandboxed is None else self.sandboxed, signal.SIGTERM)

    async def clean_up(self) -> None:
        """End whatever is left of the payload and remove its folder. Safe to call twice."""
        if self._cleaned:
            return
        self._cleaned = True
        with suppress(ProcessLookupError, PermissionError):
            if self.sandboxed is None:
                os.killpg(self.process.pid, signal.SIGKILL)
            elif self.process.returncode is None:
                # The first process of a pid namespace takes all others along. Before it, bubblewrap must not die.
                os.kill(self.sandboxed, signal.SIGKILL)
        await self.process.wait()
        if self.folder is not None:
            await asyncio.to_thread(shutil.rmtree, self.folder, True)


async def choose_sandbox(wanted: str = "auto") -> Sandbox:
    """The strongest isolation that a real probe shows to work here; `wanted` names one to insist on for tests."""
    bwrap = shutil.which("bwrap")
    if wanted in ("auto", Isolation.BUBBLEWRAP) and bwrap is not None:
        users = (NOBODY, None) if os.geteuid() == 0 else (None,)
        for user in users:
            for strict in (("--disable-userns",), ()):
                sandbox = Sandbox(Isolation.BUBBLEWRAP, user, bwrap, (*_bwrap_options(), *strict))
                if await _probe(sandbox):
                    return sandbox
        logger.warning("bubblewrap is installed but does not work here")
    if wanted in ("auto", Isolation.USER) and os.geteuid() == 0:
        return Sandbox(Isolation.USER, NOBODY)
    return Sandbox(Isolation.NONE)


async def _probe(sandbox: Sandbox) -> bool:
    """Whether a payload really starts, sees no process of ours and can't connect to a port that listens here."""
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        try:
            running = await sandbox.start(_PROBE.format(pid=os.getpid(), port=port))
        except OSError:
            return False
        try:
            async with asyncio.timeout(5):
                out, _ = await running.process.communicate()
        except TimeoutError:
            return False
        finally:
            await running.clean_up()
    return out.strip() == b"isolated"


def _bwrap_options() -> list[str]:
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--hostname", "sandbox", "--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    options += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--proc", "/proc", "--dev", "/dev"]
    options += ["--size", str(TMP_BYTES), "--tmpfs", "/tmp", "--chdir", "/tmp"]  # noqa: S108  # the sandbox's own
    # The rest of the sandbox's own root would be writable memory without a bound.
    options += ["--remount-ro", "/dev", "--remount-ro", "/"]
    for name, value in _environment("/tmp").items():  # noqa: S108  # as above
        options += ["--setenv", name, value]
    return options


def _environment(home: str) -> dict[str, str]:
    return {"PATH": _PATH, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "TZ": "UTC"}


def _private_folder(user: int | None) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="scheduler-run-"))
    if user is not None:
        os.chown(folder, user, user)
    return folder


def _child_pid(read_end: int) -> int | None:
    """The host's pid of the sandbox's first process, which leads the payload's group; None if bubblewrap failed."""
    with os.fdopen(read_end, "rb") as pipe:
        text = pipe.read()
    return int(json.loads(text)["child-pid"]) if text else None
