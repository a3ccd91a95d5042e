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
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chatops_bot.domain.skill import BrokenSkill, Skill
from chatops_bot.skillpacks.archive import unpacked
from chatops_bot.skillpacks.folder import read_package, unreadable
from chatops_bot.skillpacks.limits import UNPACKED_BYTES, PackageRefused

FETCH_SECONDS = 30.0
TAR_BYTES = UNPACKED_BYTES
PACK_BYTES = 100 * 1024 * 1024
"""Largest file that git may write while it fetches: one commit of a repository that holds more than skills."""
_PATH = "/usr/local/bin:/usr/bin:/bin"
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
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=10",
    "tar.umask=0077",
)


@dataclass(frozen=True, slots=True)
class SkillRepository:
    """A source of skills: a repository at `ref`, of it the folder `subdir`, and the folder below which copies are kept."""

    url: str
    ref: str
    kept: Path
    subdir: str = ""

    @property
    def name(self) -> str:
        return f"{self.url}@{self.ref}"

    def read(self) -> Iterator[Skill | BrokenSkill]:
        """Every skill of the repository. One that cannot be used is one broken skill; so is one that an older copy stands for."""
        last = (
            self.kept
            / f"{hashlib.sha256(repr((self.url, self.ref, self.subdir)).encode()).hexdigest()[:40]}.last"
        )
        try:
            folder = self._fetched()
            last.write_text(folder.name, encoding="ascii")
        except PackageRefused as refused:
            yield BrokenSkill(self.name, self.name, 0, refused.phrase)
            copy = _copy_named_in(last)
            if copy is None:
                return
            folder = copy
        except OSError as error:
            yield unreadable(self.name, self.name, error)
            return
        yield from read_package(folder, self.name)

    def _fetched(self) -> Path:
        with tempfile.TemporaryDirectory(prefix="chatops-git-") as home:
            repository = str(Path(home) / "repository")
            _git(home, "init", "--quiet", "--bare", "--template=", repository)
            _git(
                home, "-C", repository, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
                "--no-write-fetch-head", "--end-of-options", self.url, f"{self.ref}:refs/skills",
            )  # fmt: skip
            tree = f"refs/skills:{self.subdir}" if self.subdir else "refs/skills"
            tar = Path(home) / "files.tar"
            _git(home, "-C", repository, "archive", "--format=tar", f"--output={tar}", tree)
            if tar.stat().st_size > TAR_BYTES:
                raise PackageRefused("仓库过大。", f"holds more than {TAR_BYTES >> 20} MB; name a subdir.")
            return unpacked(tar.read_bytes(), self.kept)


def _copy_named_in(last: Path) -> Path | None:
    try:
        name = last.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
    folder = last.parent / name
    return folder if re.fullmatch("[0-9a-f]{40}", name) and folder.is_dir() else None


def _git(home: str, *arguments: str) -> None:
    """Run git. Raises PackageRefused with what it says when it fails or takes too long."""
    program = shutil.which("git", path=_PATH)
    if program is None:
        raise PackageRefused(
            "本机没有 git。", "there is no git on this machine; install it, or use an archive."
        )
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    try:
        with subprocess.Popen(  # noqa: S603  # no shell; what is configured stands behind --end-of-options
            [program, *settings, *arguments], env=_environment(home), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        ) as running:  # fmt: skip
            _limit(running.pid)
            try:
                _, said = running.communicate(timeout=FETCH_SECONDS)
            except subprocess.TimeoutExpired:
                _kill(running.pid)
                raise
    except subprocess.TimeoutExpired as error:
        raise PackageRefused(
            f"git 在 {FETCH_SECONDS:g} 秒内没有完成。", f"git did not finish within {FETCH_SECONDS:g} s."
        ) from error
    if running.returncode:
        why = _last_line(said)
        raise PackageRefused(f"git 失败：{why}", f"git failed: {why}")


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
    """No file of it, or of what it starts, may grow beyond a pack's size."""
    with suppress(ProcessLookupError):
        resource.prlimit(process, resource.RLIMIT_FSIZE, (PACK_BYTES, PACK_BYTES))


def _kill(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _last_line(said: bytes) -> str:
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    return "".join(c if c.isprintable() else "?" for c in (lines[-1] if lines else "no reason given"))[:200]
