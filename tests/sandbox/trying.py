"""Tries ways out in a process that stands for the bot, as root or as a plain user, with and without a sandbox around them.

The bot is a process of its own, since it gives up its rights for good; what it owns (data folder, key, sockets, a descriptor
that can be inherited, an environment with a secret) belongs to the very user that the sandbox is started by.
"""

import asyncio
import json
import os
import secrets
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.skill import ScriptRun, Skill
from chatops_bot.sandbox import runner
from chatops_bot.sandbox.host import find_host
from chatops_bot.sandbox.limits import Limits
from chatops_bot.sandbox.probe import probed
from chatops_bot.sandbox.runner import Sandboxes
from chatops_bot.sandbox.seccomp import filter_for_this_machine
from tests.forked import processes
from tests.sandbox.ways_out import WAYS_OUT, WayOut

PLAIN_USER = 61_234
LIMITS = Limits(wall_seconds=10.0)


@dataclass(frozen=True, slots=True)
class Tried:
    """What each way out came to, by name; `heard` is how often something of the host was reached over a socket."""

    said: dict[str, str]
    heard: int


def tried(names: Sequence[str], *, user: int | None, outside: bool = False) -> Tried:
    """Try the ways out of these names by a bot that runs as `user`, None for the user of the tests."""
    mine, its = processes.Pipe()
    bot = processes.Process(target=_be_the_bot, args=(its, list(names), user, outside))
    bot.start()
    its.close()
    try:
        said, heard = mine.recv()
    finally:
        mine.close()
        bot.join(10)
        bot.kill()
    return Tried(said, heard)


def got_out(way: WayOut, said: str) -> bool:
    """Whether it did, or did not end as it should; what cannot be told counts as out."""
    if "ESCAPED" in said:
        return True
    is_refused = said.splitlines()[0].startswith("HELD") if said else False
    return not is_refused and not (way.says and way.says in said)


def _be_the_bot(out: Connection, names: list[str], user: int | None, outside: bool) -> None:
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    ways = [way for way in WAYS_OUT if way.name in names]
    with _belongings() as (skill, facts, listening):
        said = _without(ways, skill, facts) if outside else asyncio.run(_with_sandboxes(ways, skill, facts))
        out.send((said, _heard(listening)))
    out.close()


async def _with_sandboxes(ways: Sequence[WayOut], skill: Skill, facts: dict[str, Any]) -> dict[str, str]:
    seccomp = filter_for_this_machine()
    host = find_host()
    if not isinstance(host, Phrase):
        host = await probed(host, LIMITS, seccomp)
    if isinstance(host, Phrase):
        return dict.fromkeys((way.name for way in ways), f"no sandbox here: {host.en}")
    sandboxes = {way.name: Sandboxes(host, _limits(way), seccomp) for way in ways}
    places = asyncio.Semaphore(2)

    async def run(way: WayOut) -> str:
        own = skill.folder / way.name
        own.mkdir()
        (own / way.script).write_text(way.text, encoding="utf-8")
        told = json.dumps({**facts, "mine": "/workspace"})
        async with places:
            packed = Skill(skill.name, "", "", own, "tests", scripts=(way.script,))
            return _told(await sandboxes[way.name].run(packed, way.script, [told]))

    return dict(zip([way.name for way in ways], await asyncio.gather(*map(run, ways)), strict=True))


def _limits(way: WayOut) -> Limits:
    if "ran for" in way.says:
        return Limits(wall_seconds=0.7)
    return Limits(wall_seconds=10.0, cpu_seconds=1) if way.says == "CPU" else LIMITS


def _told(run: ScriptRun) -> str:
    last = run.stdout[-2000:].strip().splitlines()[-1:]
    notes = [note.en for note in run.notes]
    return "\n".join([*last, f"exit {run.exit_code}", *notes, run.stderr[-500:]])


def _without(ways: Sequence[WayOut], skill: Skill, facts: dict[str, Any]) -> dict[str, str]:
    said = {}
    for way in ways:
        script = skill.folder / f"{way.name}.py"
        script.write_text(way.text, encoding="utf-8")
        argv = ["/usr/bin/python3", "-E", "-s", str(script), json.dumps({**facts, "mine": str(skill.folder)})]
        with (skill.folder / f"{way.name}.out").open("w+") as out:
            bare = subprocess.Popen(
                argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL, close_fds=False, start_new_session=True,
                env={**os.environ, "TOKEN": facts["secret"]},
            )  # fmt: skip
            bare.wait(20)
            with suppress(ProcessLookupError):
                os.killpg(bare.pid, signal.SIGKILL)
            out.seek(0)
            said[way.name] = out.read()[-1000:]
    return said


@contextmanager
def _belongings() -> Iterator[tuple[Skill, dict[str, Any], list[socket.socket]]]:
    """What the bot has: a folder with its data and skills, a process with its environment, and services that act for people."""
    secret = f"canary-{secrets.token_hex(8)}"
    os.environ["TOKEN"] = secret
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name in ("data/bot.db", "data/keys/audit.key", "skills/other/SKILL.md"):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(secret)
        skill = Skill("triage", "", "", home / "skills" / "triage", "tests")
        skill.folder.mkdir()
        held = os.open(home / "data/keys/audit.key", os.O_RDONLY)
        os.set_inheritable(held, True)
        stack.callback(os.close, held)
        bot = stack.enter_context(subprocess.Popen(["sleep", "600"], env={"TOKEN": secret}))
        stack.callback(bot.kill)
        facts, listening = _services(home, stack)
        facts |= {
            "secret": secret, "bot": bot.pid, "uid": os.getuid(), "descriptor": held, "bwrap": "/usr/bin/bwrap",
            "data": str(home / "data/bot.db"), "key": str(home / "data/keys/audit.key"), "folder": str(skill.folder),
            "other_skill": str(home / "skills/other/SKILL.md"), "source": runner.__file__, "processes": LIMITS.processes,
            "open_files": LIMITS.open_files, "memory_bytes": LIMITS.memory_bytes, "tmp_bytes": LIMITS.tmp_bytes,
            "workspace_bytes": LIMITS.workspace_bytes, "file_bytes": LIMITS.file_bytes,
        }  # fmt: skip
        yield skill, facts, listening


def _services(home: Path, stack: ExitStack) -> tuple[dict[str, Any], list[socket.socket]]:
    facts: dict[str, Any] = {"unix": str(home / "bot.sock"), "abstract": f"\0bot-{os.getpid()}"}
    wanted: list[tuple[str, socket.AddressFamily, Any]] = [
        ("tcp", socket.AF_INET, ("127.0.0.1", 0)), ("tcp6", socket.AF_INET6, ("::1", 0)),
        ("unix", socket.AF_UNIX, facts["unix"]), ("abstract", socket.AF_UNIX, facts["abstract"]),
    ]  # fmt: skip
    listening = []
    for name, family, address in wanted:
        server = stack.enter_context(socket.socket(family))
        server.bind(address)
        server.listen()
        server.setblocking(False)
        listening.append(server)
        if family is not socket.AF_UNIX:
            facts[name] = list(server.getsockname()[:2])
    return facts, listening


def _heard(listening: Sequence[socket.socket]) -> int:
    count = 0
    for server in listening:
        try:
            while True:
                server.accept()[0].close()
                count += 1
        except BlockingIOError:
            continue
    return count
