"""What of this machine a script needs: an interpreter, the libraries that it loads, and the programs that build the sandbox."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from chatops_bot.domain.language import Phrase

NOBODY = 65_534
"""Who scripts are inside, and outside too where the bot is root: limits on processes do not bind root."""

_LINKS = ("/bin", "/lib", "/lib64")
_FOLDERS = ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")
_LOCAL_FOLDERS = ("/usr/local/bin", "/usr/local/lib")
"""Where container images of Python have it."""
_LOADER_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Host:
    """`read_only` are paths that stand at the same place inside; `links` are (target, place). `user` is who bubblewrap is
    started as, None for the bot's own user. `strict`: bubblewrap itself forbids further user namespaces, which some
    containers do not let it; the filter and the probe see to it in any case."""

    bwrap: str
    prlimit: str
    python: str
    shell: str
    read_only: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    devices: tuple[str, ...]
    user: int | None = None
    strict: bool = True


def find_host() -> Host | Phrase:
    """What is here; or what is missing, and how to get it."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return Phrase(
            "没有 bubblewrap；请安装（例如 apt install bubblewrap）后重启。",
            "bubblewrap is not installed; install it (apt install bubblewrap) and start again.",
        )
    prlimit, python = (
        _first("/usr/bin/prlimit", "/bin/prlimit"),
        _first("/usr/bin/python3", "/usr/local/bin/python3"),
    )
    if not prlimit:
        return Phrase(
            "没有 prlimit；请安装 util-linux 后重启。",
            "prlimit is not installed; install util-linux and start again.",
        )
    if not python:
        return Phrase(
            "/usr/bin 和 /usr/local/bin 中都没有 python3；请安装后重启。",
            "There is no python3 in /usr/bin or /usr/local/bin; install it and start again.",
        )
    local = _LOCAL_FOLDERS if python.startswith("/usr/local/") else ()
    links = tuple((str(Path(place).readlink()), place) for place in _LINKS if Path(place).is_symlink())
    linked = {place for _, place in links}
    wanted = (*_FOLDERS, *local, *(place for place in _LINKS if place not in linked), *_LOADER_FILES)
    return Host(
        bwrap=bwrap,
        prlimit=prlimit,
        python=python,
        shell=_first("/bin/bash", "/bin/sh"),
        read_only=tuple(path for path in wanted if Path(path).exists()),
        links=links,
        devices=tuple(path for path in _DEVICES if Path(path).exists()),
        user=NOBODY if os.geteuid() == 0 else None,
    )


def _first(*paths: str) -> str:
    return next((path for path in paths if os.access(path, os.X_OK)), "")
