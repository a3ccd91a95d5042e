"""What another process does with a folder of packages: one of an ordinary user reads it, one dies in the middle of unpacking."""

import codecs
import os
import resource
from pathlib import Path

from chatops_bot.domain.skill import BrokenSkill, Skill
from chatops_bot.skillpacks.archive import SkillArchive
from chatops_bot.skillpacks.git import SkillRepository
from chatops_bot.skillpacks.library import described
from chatops_bot.skillpacks.unpacking import Member, forget_others, unpack

NOBODY = 65_534


class EndsTheProcess:
    """The content of a file, at whose end the process is gone as after `kill -9`."""

    def __init__(self) -> None:
        self._left = [b"half of it"]

    def read(self, size: int, /) -> bytes:
        if not self._left:
            os._exit(9)
        return self._left.pop()


def read_as_ordinary_user(package: Path, kept: Path) -> tuple[list[str], list[str]]:
    """Names of the skills of an archive and what is broken, read by somebody to whom rights apply."""
    codecs.lookup("cp437")  # of zip files; Python itself may lie where only root can load from
    if os.geteuid() == 0:
        os.setgroups([])
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
    found = list(SkillArchive(package, kept).read())
    forget_others(kept, [each.folder for each in found if isinstance(each, Skill)])
    names = [each.name for each in found if isinstance(each, Skill)]
    return names, [described(each) for each in found if isinstance(each, BrokenSkill)]


def die_while_unpacking(into: Path) -> None:
    unpack([Member("SKILL.md", 20, EndsTheProcess())], into, 100)


def read_repository(url: str, kept: Path) -> tuple[list[str], int]:
    """What is broken of a repository, and the most memory in bytes that a git had while it was read."""
    broken = [
        described(each) for each in SkillRepository(url, "main", kept).read() if isinstance(each, BrokenSkill)
    ]
    return broken, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
