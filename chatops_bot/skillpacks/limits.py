"""How large a package of skills may be, what its files may be named, and the error of one that is refused."""

import re
import unicodedata

from chatops_bot.domain.errors import ChatopsError
from chatops_bot.domain.language import Phrase

PACKED_BYTES = 10 * 1024 * 1024
UNPACKED_BYTES = 50 * 1024 * 1024
MEMBER_BYTES = 16 * 1024 * 1024
MAX_FILES = 200
MAX_RATIO = 100
"""Unpacked to packed. Text packs at most 20 to 1; what comes out a hundred times as large was made to fill a disk."""
SMALL_BYTES = 1024 * 1024
"""Below this the ratio does not matter."""
MAX_MEMBERS = 1000
"""Entries of an archive, with folders and with what is left out."""
MAX_DEPTH = 12
NAME_BYTES = 128
PATH_BYTES = 512

_WINDOWS = re.compile(r'[<>:"|?*\\]|[ .]$')


class PackageRefused(ChatopsError):
    """A package breaks a limit or could write elsewhere; `phrase` says what and what to do."""

    def __init__(self, zh: str, en: str) -> None:
        super().__init__(en)
        self.phrase = Phrase(zh, en)


def safe_parts(name: str) -> tuple[str, ...]:
    """The folders and the file of a path inside a package; empty for the package's own root. Raises PackageRefused for every name
    that could lead out of it, or means another file on another system."""
    shown = "".join(c if c.isprintable() else "?" for c in name[:80])
    if name.startswith("/"):
        raise PackageRefused(
            f"{shown}：绝对路径。", f"{shown}: an absolute path; pack the files relative to their folder."
        )
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts:
        raise PackageRefused(
            f"{shown}：路径中有 ..。",
            f"{shown}: the path holds `..`; pack the files relative to their folder.",
        )
    if len(parts) > MAX_DEPTH or len(name.encode("utf-8", "replace")) > PATH_BYTES:
        raise PackageRefused(
            f"{shown}：路径过长。", f"{shown}: the path is too long or too deep; shorten it."
        )
    for part in parts:
        if any(
            unicodedata.category(c) in {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"} for c in part
        ) or _WINDOWS.search(part):
            raise PackageRefused(
                f"{shown}：文件名含有不允许的字符。",
                f"{shown}: the name holds a character that names may not have; rename it.",
            )
        if len(part.encode()) > NAME_BYTES:
            raise PackageRefused(
                f"{shown}：文件名过长。", f"{shown}: a name is longer than {NAME_BYTES} bytes; shorten it."
            )
    return parts


def is_left_out(parts: tuple[str, ...]) -> bool:
    """What desktops and version control leave behind, which no skill needs."""
    return any(part in ("__MACOSX", ".DS_Store", ".git") or part.startswith("._") for part in parts)


def same_file(parts: tuple[str, ...]) -> str:
    """Equal for two paths that are one file on a disk that knows no case, or writes letters in another form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", "/".join(parts)).casefold())
