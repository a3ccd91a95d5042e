"""Scripts of skills, run in sandboxes: as many at once as the limits say, first come first served."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.skill import ScriptRun, Skill
from chatops_bot.ports import ScriptRunner
from chatops_bot.sandbox.bubblewrap import SKILL, interpreter
from chatops_bot.sandbox.host import Host, find_host
from chatops_bot.sandbox.limits import Limits
from chatops_bot.sandbox.package import MOST_BYTES, MOST_FILES, PackageTooLarge, opened
from chatops_bot.sandbox.probe import probed
from chatops_bot.sandbox.process import Ended, run_sandboxed
from chatops_bot.sandbox.seccomp import filter_for_this_machine

SUFFIXES = (".py", ".sh")
_KILLED_BY_KERNEL = 128 + 9


class ThisMachine:
    """This machine, tried when its isolation is asked for first: that does not change while the process lives."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._seccomp = filter_for_this_machine()
        self._tried: Host | Phrase | None = None

    async def runner(self) -> ScriptRunner:
        """What runs scripts here; one that runs none and says why where the isolation does not hold."""
        if self._tried is None:
            host = find_host()
            self._tried = (
                host if isinstance(host, Phrase) else await probed(host, self._limits, self._seccomp)
            )
        if isinstance(self._tried, Phrase):
            return NoScripts(self._tried)
        return Sandboxes(self._tried, self._limits, self._seccomp)


@dataclass(frozen=True, slots=True)
class NoScripts:
    """Runs nothing."""

    reason: Phrase

    @property
    def disabled_because(self) -> Phrase:
        return self.reason

    async def run(self, skill: Skill, script: str, arguments: Sequence[str], stdin: str = "") -> ScriptRun:
        raise ToolFailed(self.reason)


class Sandboxes:
    """Runs each script in a sandbox of its own, on a host where the isolation was seen to hold."""

    def __init__(self, host: Host, limits: Limits, seccomp: bytes | None) -> None:
        self._host = host
        self._limits = limits
        self._seccomp = seccomp
        self._places = asyncio.Semaphore(limits.at_once)

    @property
    def disabled_because(self) -> None:
        return None

    @property
    def isolation(self) -> str:
        filtered = "system calls filtered" if self._seccomp else "system calls not filtered"
        return f"bubblewrap: no network, no files of the host, {filtered}"

    async def run(self, skill: Skill, script: str, arguments: Sequence[str], stdin: str = "") -> ScriptRun:
        """See `ports.ScriptRunner.run`."""
        if not is_plain(script):
            raise _no_such_script(skill, script)
        async with self._places:
            try:
                with ExitStack() as stack:
                    files = await asyncio.to_thread(stack.enter_context, opened(skill.folder))
                    if script not in files:
                        raise _no_such_script(skill, script)
                    argv = [*interpreter(self._host, script), f"{SKILL}/{script}", *arguments]
                    ended = await run_sandboxed(
                        self._host, self._limits, self._seccomp, files, argv, stdin.encode(errors="replace")
                    )
            except PackageTooLarge as error:
                raise _too_large(skill) from error
            except OSError as error:
                raise _unreadable(skill, error) from error
        return self._told(ended)

    def _told(self, ended: Ended) -> ScriptRun:
        return ScriptRun(
            exit_code=ended.exit_code,
            stdout=ended.stdout.text,
            stderr=ended.stderr.text,
            notes=tuple(_notes(ended)),
            seconds=ended.seconds,
            isolation=self.isolation,
        )


def is_plain(script: str) -> bool:
    """Whether this is a relative path straight down to a .py or .sh file, as it is written."""
    path = PurePosixPath(script)
    return (
        path.suffix in SUFFIXES
        and not path.is_absolute()
        and path.as_posix() == script
        and not any(part.startswith(".") for part in path.parts)
        and script.isprintable()
    )


def _notes(ended: Ended) -> list[Phrase]:
    notes = [] if ended.killed_because is None else [ended.killed_because]
    if ended.exit_code == _KILLED_BY_KERNEL:
        notes.append(
            Phrase(
                "被内核终止，多半是用尽了 CPU 时间",
                "killed by the kernel, most likely since it used up its CPU time",
            )
        )
    for name, kept in (("stdout", ended.stdout), ("stderr", ended.stderr)):
        if kept.cut:
            notes.append(
                Phrase(
                    f"{name} 中间省略了 {kept.cut} 字节",
                    f"{kept.cut} bytes in the middle of {name} were left out",
                )
            )
    return notes


def _no_such_script(skill: Skill, script: str) -> ToolFailed:
    return ToolFailed(
        Phrase(
            f"技能 {skill.name} 中没有可运行的脚本 {script!r}。",
            f"The skill {skill.name} has no script {script!r} that can be run.",
        )
    )


def _too_large(skill: Skill) -> ToolFailed:
    size = MOST_BYTES // (1024 * 1024)
    return ToolFailed(
        Phrase(
            f"技能 {skill.name} 的文件超过 {MOST_FILES} 个或 {size} MiB，不能运行其脚本。",
            f"The skill {skill.name} has more than {MOST_FILES} files or {size} MiB; its scripts cannot be run.",
        )
    )


def _unreadable(skill: Skill, error: OSError) -> ToolFailed:
    return ToolFailed(
        Phrase(
            f"技能 {skill.name} 的文件无法读取（{error.strerror}）。",
            f"The files of the skill {skill.name} cannot be read ({error.strerror}).",
        )
    )
