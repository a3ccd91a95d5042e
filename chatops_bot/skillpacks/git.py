"""Skills of a git repository, by a commit, a tag or a branch.

Only what was asked for is fetched, and nothing is checked out: `git archive` writes the files as a tar, which goes through the
same strict reader as an archive from anywhere. So no hook, filter, submodule or link of a repository ever comes into play.
`git` runs with an environment of our own: no credentials, no configuration of the machine, no prompt, no other protocol.

When the repository cannot be reached, the copy of the last time is used, and that is reported.
"""

import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess  # git is a program
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.skill import BrokenSkill, Skill
from chatops_bot.skillpacks.archive import unpacked
from chatops_bot.skillpacks.folder import not_kept, read_package
from chatops_bot.skillpacks.limits import UNPACKED_BYTES, PackageRefused

FETCH_SECONDS = 30.0
_BEING_FETCHED = Phrase(
    "仍在获取；在此之前使用上次的副本（若有）。",
    "is still being fetched; until then the copy of the last time is used, if there is one.",
)
_LOOK_SECONDS = 0.2
"""Between two looks at whether git is to be ended."""
TAR_BYTES = UNPACKED_BYTES
PACK_BYTES = 100 * 1024 * 1024
"""Largest file that git may write while it fetches: one commit of a repository that holds more than skills."""
MEMORY_BYTES = 512 * 1024 * 1024
"""What git may take for itself: it holds whole files in memory, and half a megabyte of pack can stand for gigabytes of them."""
_PATH = "/usr/local/bin:/usr/bin:/bin"
_BLAMES = (("fatal:", "error:"), ("remote:",))
"""How the lines begin in which git says why it failed, and those in which the other side does."""
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "credential.helper=",
    "protocol.allow=never",
    "protocol.http.allow=always",
    "protocol.https.allow=always",
    "protocol.file.allow=always",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.bigFileThreshold=16m",
    "pack.threads=1",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=10",
    "tar.umask=0077",
)


@dataclass(frozen=True, slots=True)
class SkillRepository:
    """A source of skills: a repository at `ref`, of it the folder `subdir`, and the folder below which copies are kept. `copies` is
    where the copy of the last time lies, where that is another. Once `stop` is set, reading ends soon."""

    url: str
    ref: str
    kept: Path
    subdir: str = ""
    copies: Path | None = None
    stop: Event = field(default_factory=Event, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"{self.url}@{self.ref}"

    def read(self) -> Iterator[Skill | BrokenSkill]:
        """Every skill of the repository. One that cannot be used is one broken skill; so is one that an older copy stands for."""
        try:
            folder = self._fetched()
        except PackageRefused as refused:
            yield BrokenSkill(self.name, self.name, 0, refused.phrase)
        except OSError as error:
            yield not_kept(self.name, self.name, self.kept, error)
        else:
            with suppress(OSError):  # what was read is whole; there is just no copy to fall back on
                (self.kept / self._last).write_text(folder.name, encoding="ascii")
            yield from read_package(folder, self.name)
            return
        yield from self._copy()

    def at_hand(self) -> Iterator[Skill | BrokenSkill]:
        """The skills of the copy of the last time, as long as the repository is being fetched."""
        yield BrokenSkill(self.name, self.name, 0, _BEING_FETCHED)
        yield from self._copy()

    def _copy(self) -> Iterator[Skill | BrokenSkill]:
        copy = _copy_named_in((self.copies or self.kept) / self._last)
        if copy is not None:
            yield from read_package(copy, self.name)

    @property
    def _last(self) -> str:
        """The name of the file that says which folder was read last."""
        return f"{hashlib.sha256(repr((self.url, self.ref, self.subdir)).encode()).hexdigest()[:40]}.last"

    def _fetched(self) -> Path:
        self.kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=".fetching-", dir=self.kept, ignore_cleanup_errors=True
        ) as home:
            repository = str(Path(home) / "repository")
            self._git(home, "init", "--quiet", "--bare", "--template=", repository)
            self._git(
                home, "-C", repository, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
                "--no-write-fetch-head", "--end-of-options", self.url, f"{self.ref}:refs/skills",
            )  # fmt: skip
            tree = f"refs/skills:{self.subdir}" if self.subdir else "refs/skills"
            tar = Path(home) / "files.tar"
            self._git(home, "-C", repository, "archive", "--format=tar", f"--output={tar}", tree)
            if tar.stat().st_size > TAR_BYTES:
                raise PackageRefused("仓库过大。", f"holds more than {TAR_BYTES >> 20} MB; name a subdir.")
            return unpacked(tar.read_bytes(), self.kept)

    def _git(self, home: str, *arguments: str) -> None:
        """Run git. Raises PackageRefused with what it says when it fails or takes too long."""
        program = shutil.which("git", path=_PATH)
        if program is None:
            raise PackageRefused(
                "本机没有 git。", "there is no git on this machine; install it, or use an archive."
            )
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        with subprocess.Popen(  # noqa: S603  # no shell; what is configured stands behind --end-of-options
            [program, *settings, *arguments], env=_environment(home), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        ) as running:  # fmt: skip
            _limit(running.pid)
            said = self._end_of(running)
        if said is None:
            raise PackageRefused(
                f"git 在 {FETCH_SECONDS:g} 秒内没有完成。", f"git did not finish within {FETCH_SECONDS:g} s."
            )
        if running.returncode == -signal.SIGXFSZ:
            raise PackageRefused(
                "仓库过大。", f"holds more than {PACK_BYTES >> 20} MB; name a subdir, or another ref."
            )
        if running.returncode:
            why = _reason(said)
            raise PackageRefused(f"git 失败：{why}", f"git failed: {why}")

    def _end_of(self, running: subprocess.Popen[bytes]) -> bytes | None:
        """What it said on standard error, once it has ended; None where it was not done in time and was killed."""
        deadline = time.monotonic() + FETCH_SECONDS
        while True:
            try:
                return running.communicate(timeout=_LOOK_SECONDS)[1]
            except subprocess.TimeoutExpired:
                if self.stop.is_set() or time.monotonic() > deadline:
                    _kill(running.pid)
                    return None


def _copy_named_in(last: Path) -> Path | None:
    try:
        name = last.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
    folder = last.parent / name
    return folder if re.fullmatch("[0-9a-f]{40}", name) and folder.is_dir() else None


def _environment(home: str) -> dict[str, str]:
    return {
        "PATH": _PATH,
        "HOME": home,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
    }


def _limit(process: int) -> None:
    """No file of it, or of what it starts, may grow beyond a pack's size, and none of them may take all memory."""
    with suppress(ProcessLookupError):
        resource.prlimit(process, resource.RLIMIT_FSIZE, (PACK_BYTES, PACK_BYTES))
        resource.prlimit(process, resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def _kill(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _reason(said: bytes) -> str:
    """The line in which git says what is wrong. What it advises stands below it, and what led there above."""
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    blamed = [line for marks in _BLAMES for line in lines if line.startswith(marks)]
    return "".join(c if c.isprintable() else "?" for c in (*blamed, *lines, "no reason given")[0])[:200]
