"""All skills of all sources, read in one go and then only looked at: a turn waits for no disk and no network."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.skill import BrokenSkill, Skill

_log = logging.getLogger(__name__)


class Source(Protocol):
    """Where skills come from."""

    @property
    def name(self) -> str: ...

    def read(self) -> Iterable[Skill | BrokenSkill]:
        """Read all of it, which may block and take seconds. Raises nothing: what cannot be read is a broken skill."""


class SkillLibrary:
    """`sources` in order: where two have a skill of one name, the first has it, and the second is reported."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self._skills: tuple[Skill, ...] = ()
        self._broken: tuple[BrokenSkill, ...] = ()

    async def refresh(self) -> None:
        """Read every source again, in a thread. Until it is done the skills are those of before."""
        before = set(self._broken)
        self._skills, self._broken = await asyncio.to_thread(self.read)
        for broken in self._broken:
            if broken not in before:
                _log.warning("skill %s", described(broken))

    def read(self) -> tuple[tuple[Skill, ...], tuple[BrokenSkill, ...]]:
        """The skills there are, sorted by name, and those that cannot be used. Blocks."""
        skills: dict[str, Skill] = {}
        broken: list[BrokenSkill] = []
        for source in self._sources:
            for each in source.read():
                if isinstance(each, BrokenSkill):
                    broken.append(each)
                elif each.name in skills:
                    broken.append(_clash(each, skills[each.name]))
                else:
                    skills[each.name] = each
        return tuple(skills[name] for name in sorted(skills)), tuple(broken)

    def visible_to(self, person: Person, channel: str) -> Sequence[Skill]:
        if person.role is Role.GUEST:
            return ()
        return [skill for skill in self._skills if skill.audience.includes(person, channel)]

    @property
    def all(self) -> Sequence[Skill]:
        return self._skills

    @property
    def broken(self) -> Sequence[BrokenSkill]:
        return self._broken


def described(broken: BrokenSkill) -> str:
    """One line for an operator: what is broken, where, and why."""
    line = f", line {broken.line}" if broken.line else ""
    return f"{broken.path}{line}: {broken.problem.en}"


def _clash(later: Skill, first: Skill) -> BrokenSkill:
    return BrokenSkill(
        later.name,
        f"{later.source}/{later.name}",
        0,
        Phrase(
            f"与 {first.source} 中的技能同名，使用后者。",
            f"has the name of a skill in {first.source}, which is the one that is used.",
        ),
    )
