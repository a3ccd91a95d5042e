"""A strict reader of tar, as a stream: files and folders, and nothing else that the format knows.

The standard library's reader follows what an archive says of itself: headers of any length, in any number, with links and
devices and sparse maps. A package needs none of that, so a reader that knows only what is allowed is shorter than the
list of what would have to be forbidden.
"""

from collections.abc import Iterator

from chatops_bot.skillpacks.limits import (
    MAX_MEMBERS,
    MEMBER_BYTES,
    PATH_BYTES,
    UNPACKED_BYTES,
    PackageRefused,
)
from chatops_bot.skillpacks.unpacking import Member, Readable

BLOCK = 512
MAX_HEADERS = 4 * MAX_MEMBERS
"""A member has its own header and up to two extended ones."""
HEADER_BYTES = 8 * 1024
"""Longest extended header. Ours carry a long path, a time and an owner."""
_KNOWN_RECORDS = {
    "path",
    "mtime",
    "atime",
    "ctime",
    "uid",
    "gid",
    "uname",
    "gname",
    "comment",
    "charset",
    "hdrcharset",
}


def tar_members(stream: Readable) -> Iterator[Member]:
    """The members of a tar, each to be read before the next. Raises PackageRefused for what no package needs."""
    stream, long_name, headers = _Bounded(stream), "", 0
    while (header := _exactly(stream, BLOCK)).strip(b"\0"):
        headers += 1
        if headers > MAX_HEADERS:
            raise PackageRefused("条目过多。", f"holds more than {MAX_MEMBERS} entries; remove some.")
        kind, size = header[156:157], _number(header[124:136])
        _check(header)
        if kind in (b"x", b"g", b"L"):
            if size > HEADER_BYTES:
                raise PackageRefused("tar 扩展头过长。", "an extended header of the archive is too long.")
            data = _exactly(stream, size)
            _exactly(stream, -size % BLOCK)
            if kind == b"L":
                long_name = data.rstrip(b"\0").decode("utf-8", "surrogateescape")
            elif kind == b"x":
                long_name = _records(data).get("path", long_name)
            else:
                _records(data)
            continue
        name, long_name = long_name or _name(header), ""
        if kind == b"5":
            yield Member(name, 0, None)
        elif kind in (b"\0", b"0") and name.endswith("/"):
            yield Member(name, 0, None)  # as old tars write a folder
        elif kind in (b"\0", b"0"):
            content = _Content(stream, size)
            yield Member(name, size, content)
            content.skip()
        else:
            shown = "".join(c if c.isprintable() else "?" for c in name[:80])
            raise PackageRefused(
                f"{shown} 是链接、设备或其他特殊条目。",
                f"{shown} is a link, a device or another special entry; pack files only.",
            )


class _Bounded:
    """A stream that ends in an error where no package is that long: what is left out is never written, but read as well."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._left = UNPACKED_BYTES + MAX_HEADERS * (BLOCK + HEADER_BYTES)

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise PackageRefused(
                "解压后过大。", "the archive becomes too large when unpacked; make it smaller."
            )
        return data


class _Content:
    """The bytes of one member."""

    def __init__(self, stream: Readable, size: int) -> None:
        self._stream = stream
        self._left = size
        self._padding = -size % BLOCK

    def read(self, size: int, /) -> bytes:
        chunk = _exactly(self._stream, min(size, self._left))
        self._left -= len(chunk)
        return chunk

    def skip(self) -> None:
        while self._left:
            self.read(BLOCK * 128)
        _exactly(self._stream, self._padding)


def _exactly(stream: Readable, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = stream.read(size - len(data))
        if not chunk:
            raise PackageRefused("tar 不完整。", "the archive ends in the middle; pack it again.")
        data += chunk
    return data


def _number(field: bytes) -> int:
    """Octal text. Numbers in base 256 stand for sizes that are far above every limit, or below zero."""
    text = field.strip(b" \0")
    if not text:
        return 0
    if text.strip(b"01234567") or len(text) > 11:
        raise PackageRefused("tar 头损坏。", "a header of the archive is broken; pack it again.")
    size = int(text, 8)
    if size > MEMBER_BYTES:
        raise PackageRefused("文件过大。", f"a file is larger than {MEMBER_BYTES >> 20} MB; make it smaller.")
    return size


def _check(header: bytes) -> None:
    stored = header[148:156].strip(b" \0")
    if (
        stored.strip(b"01234567")
        or not stored
        or int(stored, 8) != sum(header) - sum(header[148:156]) + 8 * ord(" ")
    ):
        raise PackageRefused("tar 校验和错误。", "the file is no tar archive, or a header of it is broken.")


def _name(header: bytes) -> str:
    name = header[:100].split(b"\0")[0]
    prefix = header[345:500].split(b"\0")[0] if header[257:263] == b"ustar\0" else b""
    whole = prefix + b"/" + name if prefix else name
    return whole.decode("utf-8", "surrogateescape")


def _records(data: bytes) -> dict[str, str]:
    """The records of an extended header: `length key=value` each, the length counting itself."""
    records: dict[str, str] = {}
    while data:
        length, _, _ = data[:8].partition(b" ")
        end = int(length) if length.isdigit() else 0
        key, equals, value = data[len(length) + 1 : end - 1].partition(b"=")
        if end <= len(length) + 1 or end > len(data) or not equals:
            raise PackageRefused(
                "tar 扩展头损坏。", "an extended header of the archive is broken; pack it again."
            )
        records[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        data = data[end:]
    unknown = [
        key for key in records if key not in _KNOWN_RECORDS and not key.startswith(("SCHILY.", "LIBARCHIVE."))
    ]
    if unknown or len(records.get("path", "")) > PATH_BYTES:
        raise PackageRefused(
            "tar 扩展头不受支持。",
            "an extended header of the archive says what no package needs; pack files only.",
        )
    return records
