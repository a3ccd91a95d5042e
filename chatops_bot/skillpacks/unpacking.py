"""Writes the files of a package into a new folder, and nothing anywhere else, whatever the package says.

Each folder is opened from the one above it and never through a link, each file is made new. The whole appears under its
name at once, when it is complete: whoever looks sees all of it or nothing.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chatops_bot.skillpacks.limits import (
    MAX_FILES,
    MAX_MEMBERS,
    MAX_RATIO,
    MEMBER_BYTES,
    SMALL_BYTES,
    UNPACKED_BYTES,
    PackageRefused,
    is_left_out,
    safe_parts,
    same_file,
)

CHUNK = 64 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = ".unpacking-"


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Member:
    """A file or a folder of a package. `data` is its content, None for a folder; `size` is what the package says of it."""

    name: str
    size: int
    data: Readable | None


def unpack(members: Iterable[Member], into: Path, packed: int) -> None:
    """Write `members` as the folder `into`, whose own folder exists; `packed` is the size of the package in bytes. Where another
    process wrote the same meanwhile, that stays.

    Raises PackageRefused, and leaves nothing behind, when a limit is broken.
    """
    temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=into.parent))
    try:
        root = os.open(temporary, _FOLDER)
        try:
            _Unpacking(root, packed).take(members)
            _sync(root)
        finally:
            os.close(root)
        try:
            temporary.rename(into)
        except OSError:
            if not into.is_dir():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sync(root: int) -> None:
    """Bring every file to the disk: what has its name is whole, after a power cut too."""
    for _, _, names, folder in os.fwalk(".", dir_fd=root):
        for name in names:
            file = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
            try:
                os.fsync(file)
            finally:
                os.close(file)


def set_aside(folder: Path) -> None:
    """Rename `folder`, if it is there, to what `forget_others` removes. Raises OSError. It stays where it is: a folder of another
    user can be renamed, but not moved."""
    with suppress(FileNotFoundError):
        folder.rename(folder.with_name(f"{_TEMPORARY}{secrets.token_hex(8)}"))


def forget_others(kept: Path, used: Iterable[Path]) -> None:
    """Remove the packages in `kept` that none of the folders `used` belongs to, and what a process that died left behind. For the
    one process whose folder this is; what cannot be removed stays."""
    needed = {folder.relative_to(kept).parts[0] for folder in used if folder.is_relative_to(kept)}
    try:
        with os.scandir(kept) as entries:
            found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for entry in found:
        if entry.name not in needed:
            shutil.rmtree(entry.path, ignore_errors=True)


class _Unpacking:
    def __init__(self, root: int, packed: int) -> None:
        self._root = root
        self._packed = packed
        self._members = self._files = self._bytes = 0
        self._taken: dict[str, tuple[tuple[str, ...], bool]] = {}

    def take(self, members: Iterable[Member]) -> None:
        for member in members:
            self._members += 1
            if self._members > MAX_MEMBERS:
                raise PackageRefused(
                    f"超过 {MAX_MEMBERS} 个条目。", f"holds more than {MAX_MEMBERS} entries; remove some."
                )
            parts = safe_parts(member.name)
            if parts and not is_left_out(parts):
                self._claim(parts, is_file=member.data is not None)
                self._write(parts, member)

    def _claim(self, parts: tuple[str, ...], *, is_file: bool) -> None:
        """A path is taken once, as a file or as a folder, in one spelling."""
        twice = is_file and same_file(parts) in self._taken
        for length in range(1, len(parts) + 1):
            path = (parts[:length], is_file and length == len(parts))
            twice = twice or self._taken.setdefault(same_file(parts[:length]), path) != path
        if twice:
            shown = "/".join(parts)
            raise PackageRefused(
                f"{shown}：重复的路径。", f"{shown}: comes twice, or in two spellings of one name; keep one."
            )

    def _write(self, parts: tuple[str, ...], member: Member) -> None:
        folders = parts if member.data is None else parts[:-1]
        above = os.dup(self._root)
        try:
            for folder in folders:
                above = _entered(above, folder)
            if member.data is not None:
                self._count_file(member)
                self._fill(os.open(parts[-1], _NEW_FILE, 0o600, dir_fd=above), member)
        finally:
            os.close(above)

    def _count_file(self, member: Member) -> None:
        self._files += 1
        if self._files > MAX_FILES:
            raise PackageRefused(
                f"超过 {MAX_FILES} 个文件。", f"holds more than {MAX_FILES} files; remove some."
            )
        self._fits(member.size, member.size)

    def _fill(self, descriptor: int, member: Member) -> None:
        """What is counted is what comes, not what the package says of itself."""
        written = 0
        with os.fdopen(descriptor, "wb") as file:
            for chunk in _chunks(member):
                written += len(chunk)
                self._bytes += len(chunk)
                self._fits(written, 0)
                file.write(chunk)

    def _fits(self, size: int, to_come: int) -> None:
        total = self._bytes + to_come
        if size > MEMBER_BYTES or total > UNPACKED_BYTES:
            raise PackageRefused(
                "解压后过大。",
                f"a file is larger than {MEMBER_BYTES >> 20} MB, or all together than {UNPACKED_BYTES >> 20} MB; make it smaller.",
            )
        if total > SMALL_BYTES and total > self._packed * MAX_RATIO:
            raise PackageRefused(
                "压缩比过高。",
                f"becomes more than {MAX_RATIO} times as large when unpacked; it looks like a bomb.",
            )


def _entered(above: int, name: str) -> int:
    """The folder `name` in `above`, made if need be; `above` is closed."""
    try:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=above)
        return os.open(name, _FOLDER, dir_fd=above)
    finally:
        os.close(above)


def _chunks(member: Member) -> Iterator[bytes]:
    while member.data is not None and (chunk := member.data.read(CHUNK)):
        yield chunk
