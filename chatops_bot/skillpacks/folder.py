"""Skills of a folder on this machine: each folder in it that holds a SKILL.md.

Files are opened one folder at a time and never through a link, so that a package cannot show a model, or a script, a file
that it does not contain. A folder with a link in it is refused whole: what a link leads to is nobody's to say.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chatops_bot.context.skill_file import FILE_BYTES, Place, parse_skill
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.skill import BrokenSkill, Skill
from chatops_bot.skillpacks.limits import (
    MAX_DEPTH,
    MAX_FILES,
    MEMBER_BYTES,
    UNPACKED_BYTES,
    PackageRefused,
    is_left_out,
)

SKILL_FILE = "SKILL.md"
MAX_SKILLS = 200
"""Skills of one source. A catalogue of more helps no model to choose."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """A source of skills: a folder, and what people call it."""

    path: Path
    name: str

    def read(self) -> Iterator[Skill | BrokenSkill]:
        """Every skill of the folder, sorted by name. A folder that cannot be read is one broken skill."""
        yield from read_folder(self.path, self.name)


def read_folder(root: Path, source: str) -> Iterator[Skill | BrokenSkill]:
    """The skills in `root`: `root` itself if it holds a SKILL.md, else each folder in it that does."""
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        yield unreadable(source, source, error)
        return
    try:
        if _holds(descriptor, SKILL_FILE):
            yield _skill(root, descriptor, source, SKILL_FILE, None)
            return
        try:
            names = [name for name in _names(descriptor) if not name.startswith((".", "_"))]
        except OSError as error:
            yield unreadable(source, source, error)
            return
        folders = [name for name in names if not stat.S_ISREG(_mode(descriptor, name))]
        for name in folders[:MAX_SKILLS]:
            yield _skill_below(root, descriptor, name, source)
        if len(folders) > MAX_SKILLS:
            yield BrokenSkill(
                source,
                source,
                0,
                Phrase(
                    f"超过 {MAX_SKILLS} 个技能，其余未读取。",
                    f"holds more than {MAX_SKILLS} skills; the rest was not read.",
                ),
            )
    finally:
        os.close(descriptor)


def read_package(root: Path, source: str) -> Iterator[Skill | BrokenSkill]:
    """The skills of an unpacked package. Packers often put everything into one folder, or two; those are gone through."""
    try:
        for _ in range(3):
            inside = [path for path in root.iterdir() if not path.name.startswith(".")]
            if len(inside) != 1 or not inside[0].is_dir() or (inside[0] / SKILL_FILE).exists():
                break
            root = inside[0]
    except OSError as error:
        yield unreadable(source, source, error)
    else:
        yield from read_folder(root, source)


def _skill_below(root: Path, above: int, name: str, source: str) -> Skill | BrokenSkill:
    shown = f"{source}/{_shown(name)}"
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        return unreadable(_shown(name), shown, error)
    try:
        if not _holds(descriptor, SKILL_FILE):
            return BrokenSkill(
                _shown(name),
                shown,
                0,
                Phrase(f"没有 {SKILL_FILE}。", f"holds no {SKILL_FILE}; write one, or move the folder away."),
            )
        return _skill(root / name, descriptor, source, f"{_shown(name)}/{SKILL_FILE}", name)
    finally:
        os.close(descriptor)


def _skill(folder: Path, descriptor: int, source: str, path: str, name: str | None) -> Skill | BrokenSkill:
    shown = f"{source}/{path}"
    try:
        walk = _Walk()
        walk.through(descriptor, (), 0)
        data = _read(descriptor, SKILL_FILE)
    except PackageRefused as refused:
        return BrokenSkill(_shown(name or folder.name), shown, 0, refused.phrase)
    except OSError as error:
        return unreadable(_shown(name or folder.name), shown, error)
    return parse_skill(data, Place(folder, shown, source, frozenset(walk.files), name))


class _Walk:
    """Looks at everything below a folder, and refuses what no skill may hold."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._bytes = 0
        self._folders = 0

    def through(self, descriptor: int, above: tuple[str, ...], depth: int) -> None:
        for name in _names(descriptor):
            parts = (*above, name)
            if is_left_out(parts):
                continue
            found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                self._enter(descriptor, name, parts, depth)
            elif stat.S_ISREG(found.st_mode):
                self._count(parts, found.st_size)
            else:
                shown = _shown("/".join(parts))
                raise PackageRefused(
                    f"{shown} 是链接或特殊文件。",
                    f"{shown} is a link or a special file; a skill may hold files only.",
                )

    def _enter(self, descriptor: int, name: str, parts: tuple[str, ...], depth: int) -> None:
        self._folders += 1
        if depth >= MAX_DEPTH or self._folders > MAX_FILES:
            raise PackageRefused(
                "文件夹过多或过深。", "has too many folders, or folders in folders; flatten it."
            )
        inner = os.open(name, _FOLDER, dir_fd=descriptor)
        try:
            self.through(inner, parts, depth + 1)
        finally:
            os.close(inner)

    def _count(self, parts: tuple[str, ...], size: int) -> None:
        self.files.append("/".join(parts))
        self._bytes += size
        if len(self.files) > MAX_FILES:
            raise PackageRefused(
                f"超过 {MAX_FILES} 个文件。", f"holds more than {MAX_FILES} files; remove some."
            )
        if size > MEMBER_BYTES or self._bytes > UNPACKED_BYTES:
            raise PackageRefused(
                "文件过大。",
                f"a file is larger than {MEMBER_BYTES >> 20} MB, or all together than {UNPACKED_BYTES >> 20} MB.",
            )


def _read(above: int, name: str) -> bytes:
    """At most one byte more than a SKILL.md may have."""
    with os.fdopen(os.open(name, _FILE, dir_fd=above), "rb") as file:
        return file.read(FILE_BYTES + 1)


def _names(descriptor: int) -> list[str]:
    with os.scandir(descriptor) as entries:
        return sorted(entry.name for entry in entries)


def _holds(descriptor: int, name: str) -> bool:
    return bool(_mode(descriptor, name))


def _mode(descriptor: int, name: str) -> int:
    """What kind of file it is, links not followed; 0 when there is none."""
    try:
        return os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _shown(name: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in name[:80])


def unreadable(name: str, path: str, error: OSError) -> BrokenSkill:
    """The broken skill of something that the system does not let us read."""
    reason = os.strerror(error.errno or 0)
    return BrokenSkill(
        name,
        path,
        0,
        Phrase(f"无法读取（{reason}）。", f"cannot be read ({reason}); correct the path or its rights."),
    )


def not_kept(name: str, path: str, kept: Path, error: OSError) -> BrokenSkill:
    """The broken skill of a package that cannot be unpacked into the folder `kept`."""
    reason = os.strerror(error.errno or 0)
    return BrokenSkill(
        name,
        path,
        0,
        Phrase(
            f"无法解压到 {kept}（{reason}）。",
            f"cannot be unpacked into {kept} ({reason}); that folder has to be the bot's own, with room on its disk.",
        ),
    )
