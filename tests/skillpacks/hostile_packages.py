"""Packages that an attacker might hand in, by families. Each would do harm to a reader that believes what a package says."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import unicodedata
import warnings
import zipfile
from collections.abc import Callable, Iterator

GOOD = b"---\nname: good\ndescription: A good skill.\n---\nDo it well.\n"
MB = 1024 * 1024
OUTSIDE = "chatops-hostile-package"
"""What hostile paths try to write; it must be found nowhere."""

NAMES = {
    "up": f"../{OUTSIDE}",
    "up from below": f"good/../../{OUTSIDE}",
    "up twice": f"good/a/../../../{OUTSIDE}",
    "up and back": "good/../good/x.md",
    "up at the end": "good/..",
    "dot and up": f"./../{OUTSIDE}",
    "slashes and up": f"good//..//..//{OUTSIDE}",
    "absolute": f"/tmp/{OUTSIDE}",
    "absolute twice": f"//tmp/{OUTSIDE}",
    "drive": f"C:{OUTSIDE}",
    "drive and backslash": f"C:\\{OUTSIDE}",
    "backslash": f"good\\..\\..\\{OUTSIDE}",
    "network share": f"\\\\host\\share\\{OUTSIDE}",
    "stream of a file": "good/SKILL.md:hidden",
    "newline": "good/a\nb.md",
    "escape code": "good/a\x1b[2Jb.md",
    "delete code": "good/a\x7fb.md",
    "direction": "good/\u202edm.exe",
    "no width": "good/a\u200bb.md",
    "private use": "good/\ue000.md",
    "line separator": "good/a\u2028b.md",
    "wildcard": "good/*.md",
    "pipe": "good/a|b.md",
    "trailing dot": "good/notes.",
    "trailing space": "good/notes ",
    "long name": f"good/{'n' * 129}",
    "long name in Chinese": f"good/{'长' * 43}",
    "deep": "good/" + "d/" * 12 + "x",
    "long path": "good/" + "/".join(["p" * 100] * 6),
}
TWINS = {
    "same": ("good/a.md", "good/a.md"),
    "case": ("good/a.md", "good/A.md"),
    "sharp s": ("good/strasse", "good/stra\u00dfe"),
    "forms of one letter": ("good/caf\u00e9", unicodedata.normalize("NFD", "good/caf\u00e9")),
    "the skill itself": ("good/skill.md", "good/notes.md"),
    "case of a folder": ("good/x/a.md", "good/X/b.md"),
    "file, then folder": ("good/x", "good/x/a.md"),
    "folder, then file": ("good/x/a.md", "good/x"),
}


def zipped(*files: tuple[str, bytes], packer: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(data, "w", packer) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in files:
            info = zipfile.ZipInfo(name)
            info.filename = name  # as it is: the constructor would cut at a NUL
            info.compress_type = packer
            archive.writestr(info, content)
    return data.getvalue()


def tarred(*files: tuple[str, bytes], pax: bool = False) -> bytes:
    return tar_of(
        *(_entry(name, content, headers={"path": name} if pax else None) for name, content in files)
    )


def _entry(
    name: str, content: bytes = b"", kind: bytes = b"0", link: str = "", headers: dict[str, str] | None = None
) -> bytes:
    """A header, with extended ones before it where they are wanted or needed, and the content."""
    raw = name.encode("utf-8", "surrogateescape")
    before = b""
    if headers:
        before, raw = _extended(b"x", _records(headers)), b"good/renamed.md"
    elif len(raw) > 100:
        before, raw = _extended(b"L", raw + b"\0"), raw[:100]
    return before + _header(raw, len(content), kind, link.encode()) + content + b"\0" * (-len(content) % 512)


def _header(name: bytes, size: int, kind: bytes, link: bytes = b"", size_field: bytes | None = None) -> bytes:
    fields = (
        name.ljust(100, b"\0"), b"0000644\0", b"0000000\0", b"0000000\0", size_field or b"%011o\0" % size, b"00000000000\0",
        b" " * 8, kind, link.ljust(100, b"\0"), b"ustar\x0000",
    )  # fmt: skip
    block = b"".join(fields).ljust(512, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _extended(kind: bytes, data: bytes) -> bytes:
    return _header(b"extended", len(data), kind) + data + b"\0" * (-len(data) % 512)


def _records(headers: dict[str, str]) -> bytes:
    records = b""
    for key, value in headers.items():
        rest = f" {key}={value}\n".encode("utf-8", "surrogateescape")
        length = len(rest) + len(str(len(rest) + 3))
        while len(str(length)) + len(rest) != length:
            length = len(str(length)) + len(rest)
        records += str(length).encode() + rest
    return records


def tar_of(*entries: bytes) -> bytes:
    return _entry("good/SKILL.md", GOOD) + b"".join(entries) + b"\0" * 1024


def paths() -> Iterator[tuple[str, bytes]]:
    good = ("good/SKILL.md", GOOD)
    for label, name in NAMES.items():
        yield f"zip, {label}", zipped(good, (name, b"x"))
        yield f"tar, {label}", tarred((name, b"x"))
        yield f"pax, {label}", tarred((name, b"x"), pax=True)
    yield "zip, NUL", zipped(good, ("good/aXb.md", b"x")).replace(b"aXb.md", b"a\0b.md")
    yield "tar, not UTF-8", tar_of(_entry("good/a\udcffb.md", b"x"))


def twins() -> Iterator[tuple[str, bytes]]:
    good = ("good/SKILL.md", GOOD)
    for label, (one, other) in TWINS.items():
        yield f"zip, {label}", zipped(good, (one, b"1"), (other, b"2"))
        yield f"tar, {label}", tarred((one, b"1"), (other, b"2"))


def links() -> Iterator[tuple[str, bytes]]:
    for label, target in {"to passwd": "/etc/passwd", "up": "../..", "to itself": "link"}.items():
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("good/SKILL.md", GOOD)
            info = zipfile.ZipInfo("good/link")
            info.external_attr = 0o120777 << 16
            archive.writestr(info, target)
        yield f"zip, link {label}", data.getvalue()
        yield f"tar, link {label}", tar_of(_entry("good/link", kind=b"2", link=target))
        yield f"tar, hard link {label}", tar_of(_entry("good/link", kind=b"1", link=target))
    for label, mode in {"pipe": 0o010644, "device": 0o020644, "socket": 0o140644}.items():
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            info = zipfile.ZipInfo("good/SKILL.md")
            info.external_attr = mode << 16
            archive.writestr(info, GOOD)
        yield f"zip, {label}", data.getvalue()
    through = (_entry("good/out", kind=b"2", link="/tmp"), _entry(f"good/out/{OUTSIDE}", b"x"))
    yield "tar, through a link", tar_of(*through)
    for kind in b"3467DKMNSVXZ":
        yield f"tar, kind {chr(kind)}", tar_of(_entry("good/special", kind=bytes([kind]), link="/etc/passwd"))


def sizes() -> Iterator[tuple[str, bytes]]:
    good, zeros = ("good/SKILL.md", GOOD), bytes(17 * MB)
    many = [(f"good/{n}.md", b"x") for n in range(201)]
    yield "zip, many files", zipped(good, *many)
    yield "tar, many files", tarred(*many)
    yield "zip, many entries", zipped(good, *((f"good/{n}/", b"") for n in range(1001)))
    yield (
        "zip, 5,000 entries",
        zipped(good, *((f"{n}", b"") for n in range(5_000)), packer=zipfile.ZIP_STORED),
    )
    yield "tar, many entries", tar_of(*(_entry(f"__MACOSX/{n}", kind=b"5") for n in range(1001)))
    yield "zip, large file", zipped(good, ("good/a", zeros))
    yield "tar, large file", gzip.compress(tarred(("good/a", zeros)), 1)
    half = (
        ("good/a", zeros[: 15 * MB]),
        ("good/b", zeros[: 15 * MB]),
        ("good/c", zeros[: 15 * MB]),
        ("good/d", zeros[: 15 * MB]),
    )
    yield "zip, large together", zipped(good, *half)
    yield "tar, large together", gzip.compress(tarred(*half), 1)
    yield "zip, bomb", zipped(good, ("good/a", zeros[: 2 * MB]))
    yield "tar, bomb", gzip.compress(tarred(("good/a", zeros[: 2 * MB])))
    yield (
        "tar, bomb that is left out",
        gzip.compress(tarred(*((f"__MACOSX/{n}", zeros[: 15 * MB]) for n in range(6))), 1),
    )
    yield "zip, packed too large", zipped(good, ("good/a", bytes(11 * MB)), packer=zipfile.ZIP_STORED)
    lying = bytearray(zipped(good, ("good/a", zeros[: 3 * MB])))
    at = lying.rfind(b"PK\x01\x02") + 24
    lying[at : at + 4] = struct.pack("<I", 10)
    yield "zip, says that it is small", bytes(lying)
    yield "zip, overlapping", _overlapping()
    yield "tar, extended header of 1 MB", tar_of(_extended(b"x", b"x" * MB))
    yield "tar, name of 1 MB", tar_of(_extended(b"L", b"n" * MB))
    flood = gzip.compress(GOOD_TAR + _extended(b"x", _records({"path": "a"})) * 40_000, 1)
    yield "tar, flood of extended headers", flood
    yield "tar, flood of long names", gzip.compress(GOOD_TAR + _extended(b"L", b"n\0") * 40_000, 1)
    yield (
        "tar, endless zeros in gzip",
        gzip.compress(
            tarred(("good/a", b"x"))[:-1024]
            + _header(b"good/b", 0, b"0", size_field=b"77777777777\0")
            + zeros,
            1,
        ),
    )


GOOD_TAR = _entry("good/SKILL.md", GOOD)


def _overlapping() -> bytes:
    """Many entries of a directory that name one and the same file of 10 MB of zeros."""
    one = zipped(("good/0", bytes(10 * MB)))
    at = one.rfind(b"PK\x01\x02")
    entry, end = one[at : one.rfind(b"PK\x05\x06")], one[one.rfind(b"PK\x05\x06") :]
    entries = b"".join(entry.replace(b"good/0", b"good/%d" % n) for n in range(9))
    counts = struct.pack("<HHII", 9, 9, len(entries), at)
    return one[:at] + entries + end[:8] + counts + end[20:]


def broken() -> Iterator[tuple[str, bytes]]:
    good, packed = ("good/SKILL.md", GOOD), zipped(("good/SKILL.md", GOOD), packer=zipfile.ZIP_STORED)
    encrypted = bytearray(packed)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.find(mark) + offset] |= 1
    yield "nothing", b""
    yield "one byte", b"P"
    yield "zip, only its end", packed[-22:]
    yield "zip, cut", packed[:-30]
    yield "zip, of another sum", packed.replace(b"Do it", b"Do me")
    yield "zip, encrypted", bytes(encrypted)
    yield "zip, bzip2", zipped(good, packer=zipfile.ZIP_BZIP2)
    yield "zip, lzma", zipped(good, packer=zipfile.ZIP_LZMA)
    yield "zip, damaged inside", zipped(good)[:45] + bytes(20) + zipped(good)[65:]
    yield "tar, bzip2", bz2.compress(tarred())
    yield "tar, xz", lzma.compress(tarred())
    yield "tar, cut", tarred()[:700]
    yield "tar, cut in gzip", gzip.compress(tarred())[:-20]
    yield "tar, damaged in gzip", gzip.compress(tarred())[:30] + bytes(40)
    yield "tar, of another sum", tarred().replace(b"ustar", b"USTAR")
    yield "tar, size below zero", tar_of(_header(b"good/a", 0, b"0", size_field=b"\xff" * 12))
    yield (
        "tar, size in base 256",
        tar_of(_header(b"good/a", 0, b"0", size_field=b"\x80" + bytes(10) + b"\x7f")),
    )
    yield "tar, size of 8 GB", tar_of(_header(b"good/a", 0, b"0", size_field=b"77777777777\0"))
    for key in ("size", "linkpath", "GNU.sparse.major", "GNU.sparse.map", "VENDOR.x"):
        yield f"pax, {key}", tar_of(_extended(b"x", _records({key: "1"})), _entry("good/a", b"x"))
    for label, data in {
        "no length": b"path=x\n",
        "too long": b"99 path=x\n",
        "no value": b"7 path\n",
        "zero": b"0 path=x\n",
    }.items():
        yield f"pax, {label}", tar_of(_extended(b"x", data), _entry("good/a", b"x"))
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.add("/dev/null", "good/device", recursive=False)
    yield "tar, a device by tar itself", made.getvalue()


FAMILIES: dict[str, Callable[[], Iterator[tuple[str, bytes]]]] = {
    "paths": paths,
    "twins": twins,
    "links": links,
    "sizes": sizes,
    "broken": broken,
}
