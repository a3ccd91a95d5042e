"""Whether the isolation holds on this machine: tried, not assumed. Where any of it does not, no script is run at all.

A sandbox that silently is none is the worst that can happen: everybody believes in it.
"""

import json
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.sandbox import inside
from chatops_bot.sandbox.bubblewrap import ENVIRONMENT, SKILL, interpreter
from chatops_bot.sandbox.host import NOBODY, Host
from chatops_bot.sandbox.limits import Limits
from chatops_bot.sandbox.process import run_sandboxed

_PROBE_SECONDS = 10.0


async def probed(host: Host, limits: Limits, seccomp: bytes | None) -> Host | Phrase:
    """The host as sandboxes work on it, as strict as it can be; or why no script may run here."""
    problem = await _problem(host, limits, seccomp)
    if problem is None:
        return host
    relaxed = replace(host, strict=False)
    return problem if await _problem(relaxed, limits, seccomp) else relaxed


async def _problem(host: Host, limits: Limits, seccomp: bytes | None) -> Phrase | None:
    limits = replace(limits, wall_seconds=min(limits.wall_seconds, _PROBE_SECONDS))
    with _laid_out() as (script, there):
        facts = {**there, **_facts(limits, seccomp)}
        argv = [*interpreter(host, "inside.py"), f"{SKILL}/inside.py", json.dumps(facts)]
        try:
            ended = await run_sandboxed(host, limits, seccomp, {"inside.py": script}, argv)
        except ToolFailed as error:
            return Phrase(
                f"{error.phrase.zh}需要允许非特权用户命名空间（容器中还需要 seccomp 配置放行）。",
                f"{error.phrase.en} It needs unprivileged user namespaces, which a container's seccomp profile must let through too.",
            )
    return judged(ended.stdout.text, ended.stderr.text)


def judged(stdout: str, stderr: str = "") -> Phrase | None:
    """What the inside told: None when each check that there is was made, and held."""
    try:
        told = json.loads(stdout)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        said = (stderr.strip().splitlines() or ["no answer"])[-1][:200]
        return Phrase(f"隔离自检没有完成（{said}）。", f"The probe of the isolation did not end ({said}).")
    broken = ", ".join(name.replace("_", " ") for name in inside.CHECKS if told.get(name) is not True)
    if not broken:
        return None
    return Phrase(
        f"隔离在本机不成立（{broken}）；请升级 bubblewrap（0.8 以上）和 Linux（5.14 以上）。",
        f"The isolation does not hold on this machine ({broken}); bubblewrap 0.8 and Linux 5.14 or newer are needed.",
    )


def _facts(limits: Limits, seccomp: bytes | None) -> dict[str, Any]:
    return {
        "environment": ENVIRONMENT,
        "open_files": limits.open_files,
        "tmp_bytes": limits.tmp_bytes,
        "memory_bytes": limits.memory_bytes,
        "processes": limits.processes,
        "user": NOBODY,
        "filtered": seccomp is not None,
    }


@contextmanager
def _laid_out() -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The script, and what it is to reach for: a file that anybody may read and sockets that anybody may connect to, so that
    nothing but the sandbox keeps them apart; the file stays open, to be inherited by whoever does not close it."""
    with (
        Path(inside.__file__).open("rb") as script,
        tempfile.NamedTemporaryFile() as canary,
        socket.socket() as tcp,
        socket.socket(socket.AF_UNIX) as local,
    ):
        os.fchmod(canary.fileno(), 0o644)
        os.set_inheritable(canary.fileno(), True)
        tcp.bind(("127.0.0.1", 0))
        local.bind(f"\0chatops-bot-probe-{os.getpid()}")
        for server in (tcp, local):
            server.listen()
        addresses = [
            (int(socket.AF_INET), list(tcp.getsockname())),
            (int(socket.AF_UNIX), local.getsockname().decode()),
        ]
        yield script.fileno(), {"canary": canary.name, "addresses": addresses}
