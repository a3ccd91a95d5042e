"""Skills of an archive: a zip or a tar, plain or with gzip. It is unpacked into the bot's data folder, under its own hash.

The two stronger packers of both formats are refused: what they unpack may need any amount of memory, and text needs neither.
"""

import gzip
import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from chatops_bot.domain.skill import BrokenSkill, Skill
from chatops_bot.skillpacks.folder import not_kept, read_package, unreadable
from chatops_bot.skillpacks.limits import MAX_MEMBERS, PACKED_BYTES, PackageRefused
from chatops_bot.skillpacks.tar import tar_members
from chatops_bot.skillpacks.unpacking import Member, set_aside, unpack

_ZIP_ENTRY = b"PK\x01\x02"
_ZIP_PACKERS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class SkillArchive:
    """A source of skills: an archive, and the folder below which its files are kept."""

    path: Path
    kept: Path

    @property
    def name(self) -> str:
        return str(self.path)

    def read(self) -> Iterator[Skill | BrokenSkill]:
        """Every skill of the archive. One that cannot be used is one broken skill."""
        try:
            data = _bytes_of(self.path)
        except PackageRefused as refused:
            yield BrokenSkill(self.path.name, self.name, 0, refused.phrase)
            return
        except OSError as error:
            yield unreadable(self.path.name, self.name, error)
            return
        try:
            folder = unpacked(data, self.kept)
        except PackageRefused as refused:
            yield BrokenSkill(self.path.name, self.name, 0, refused.phrase)
        except OSError as error:
            yield not_kept(self.path.name, self.name, self.kept, error)
        else:
            yield from read_package(folder, self.name)


def unpacked(data: bytes, kept: Path) -> Path:
    """The folder below `kept` that holds the files of the archive `data`, unpacked unless it was before. Raises PackageRefused or
    OSError."""
    folder = kept / hashlib.sha256(data).hexdigest()[:40]
    if not _is_readable(folder):
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.path.lexists(folder) and not _is_readable(folder):  # it may have come this moment, and be well
            set_aside(folder)
        try:
            unpack(_members(data), folder, len(data))
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            ValueError,
            gzip.BadGzipFile,
        ) as error:
            raise PackageRefused(
                "压缩包已损坏。", "the archive is broken or of a kind that is not read; pack it again."
            ) from error
    return folder


def _is_readable(folder: Path) -> bool:
    """Whether it is there for us: what another user's process left here is not."""
    try:
        with os.scandir(folder):
            return True
    except OSError:
        return False


def _bytes_of(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise PackageRefused("不是文件。", "is no file; name a .zip, .tar, .tar.gz or .tgz.")
        data = file.read(PACKED_BYTES + 1)
    if len(data) > PACKED_BYTES:
        raise PackageRefused(
            f"超过 {PACKED_BYTES >> 20} MB。",
            f"is larger than {PACKED_BYTES >> 20} MB; make the package smaller.",
        )
    return data


def _members(data: bytes) -> Iterator[Member]:
    if data[:2] == b"PK":
        return _zip_members(data)
    if data[:2] == b"\x1f\x8b":
        return tar_members(gzip.GzipFile(fileobj=BytesIO(data)))
    return tar_members(BytesIO(data))


def _zip_members(data: bytes) -> Iterator[Member]:
    if data.count(_ZIP_ENTRY) > MAX_MEMBERS:  # before a directory of a million entries is built from it
        raise PackageRefused(
            f"超过 {MAX_MEMBERS} 个条目。", f"holds more than {MAX_MEMBERS} entries; remove some."
        )
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for info in archive.infolist():
            _check(info)
            if info.is_dir():
                yield Member(info.orig_filename, 0, None)
            else:
                with archive.open(info) as content:
                    yield Member(info.orig_filename, info.file_size, content)


def _check(info: zipfile.ZipInfo) -> None:
    """Raises PackageRefused for an entry that is no plain file or folder, or that takes more than a plain reader to read."""
    shown = "".join(c if c.isprintable() else "?" for c in info.orig_filename[:80])
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise PackageRefused(
            f"{shown} 是链接或特殊文件。", f"{shown} is a link or a special file; pack files only."
        )
    if info.flag_bits & _ENCRYPTED or info.compress_type not in _ZIP_PACKERS:
        raise PackageRefused(
            f"{shown}：加密或不受支持的压缩方式。",
            f"{shown} is encrypted, or packed by something other than deflate; pack it again.",
        )
