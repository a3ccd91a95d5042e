"""All skills of all sources, read in one go and then only looked at: a turn waits for no disk and no network."""

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Protocol, runtime_checkable

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.skill import BrokenSkill, Skill
from chatops_bot.skillpacks.folder import SKILL_FILE

_log = logging.getLogger(__name__)

AT_ONCE = 8
"""Sources that are read at the same time: a repository that is away takes half a minute."""


class Source(Protocol):
    """Where skills come from."""

    @property
    def name(self) -> str: ...

    def read(self) -> Iterable[Skill | BrokenSkill]:
        """Read all of it, which may block and take seconds. Raises nothing: what cannot be read is a broken skill."""


@runtime_checkable
class Fetched(Source, Protocol):
    """A source that is somewhere else."""

    def at_hand(self) -> Iterable[Skill | BrokenSkill]:
        """What is on this disk of it, and that it is still being fetched."""


class SkillLibrary:
    """`sources` in order: where two have a skill of one name, the first has it, and the second is reported. A skill, or a source,
    that can no longer be used stays as it was read before, for as long as the process lives."""

    def __init__(self, sources: Sequence[Source], stop: Event | None = None) -> None:
        """`stop` is what the sources look at while they wait; it is set when reading is cancelled, since no process ends while a
        thread of it still reads."""
        self._sources = tuple(sources)
        self._stop = stop or Event()
        self.as_before: frozenset[str] = frozenset()
        """The names of those that cannot be used as they are now, and stay as they were."""
        self._skills: tuple[Skill, ...] = ()
        self._broken: tuple[BrokenSkill, ...] = ()
        self._first: asyncio.Task[None] | None = None

    async def begin(self, patience: float) -> bool:
        """Read every source for the first time. After `patience` seconds what is at hand is used of those that are fetched, and
        the reading goes on: False then, and `finish` waits for its end."""
        self._first = asyncio.create_task(self.refresh(), name="first reading of skills")
        try:
            await asyncio.wait({self._first}, timeout=patience)
            if not self._first.done():
                skills, broken = await asyncio.to_thread(self.read, at_hand=True)
                if not self._first.done():
                    self._skills, self._broken = skills, broken
        except asyncio.CancelledError:
            await self.give_up()
            raise
        if not self._first.done():
            for each in self._broken:
                _log.warning("skill %s", described(each))
            return False
        return not await self.finish()

    async def finish(self) -> bool:
        """Wait until the first reading is over; whether it was still under way."""
        first, self._first = self._first, None
        if first is None:
            return False
        is_under_way = not first.done()
        await first
        return is_under_way

    async def give_up(self) -> None:
        """End the first reading, if it is still under way."""
        if self._first is not None:
            self._first.cancel()
            await asyncio.wait({self._first})

    async def refresh(self) -> None:
        """Read every source again, in a thread. Until it is done the skills are those of before; one call at a time. Once it was
        cancelled, nothing is read any more."""
        before, known = self._skills, set(self._broken)
        try:
            self._skills, self._broken = await asyncio.to_thread(self.read)
        except asyncio.CancelledError:
            self._stop.set()
            raise
        except OSError as error:
            _log.error("the skills were not read again, and those before stay in use: %s", error)
            return
        self.as_before = frozenset(
            skill.name for skill in self._skills if any(skill is old for old in before)
        )
        new = [broken for broken in self._broken if broken not in known]
        for broken in new:
            _log.warning("skill %s", described(broken))
        if new and self.as_before:
            _log.warning("these skills stay as they were read before: %s", ", ".join(sorted(self.as_before)))

    def read(self, *, at_hand: bool = False) -> tuple[tuple[Skill, ...], tuple[BrokenSkill, ...]]:
        """The skills there are, sorted by name, and those that cannot be used. Blocks, as long as the slowest source takes; with
        `at_hand` nothing is fetched."""
        skills: dict[str, Skill] = {}
        broken: list[BrokenSkill] = []
        with ThreadPoolExecutor(AT_ONCE, "skills") as threads:
            read = [*threads.map(lambda source: _read(source, at_hand=at_hand), self._sources)]
        for source, found in zip(self._sources, read, strict=True):
            wrong = [each for each in found if isinstance(each, BrokenSkill)]
            usable = [each for each in found if isinstance(each, Skill)]
            usable += self._as_before(source.name, wrong, {each.name for each in usable})
            broken += wrong
            for each in usable:
                if skills.setdefault(each.name, each) is not each:
                    broken.append(_clash(each, skills[each.name]))
        return tuple(skills[name] for name in sorted(skills)), tuple(broken)

    def _as_before(self, source: str, wrong: Sequence[BrokenSkill], there: Collection[str]) -> list[Skill]:
        """What the source gave the last time of that which is wrong with it now: one skill, or all of it."""
        names = {each.name for each in wrong}
        is_all = any(each.path in (source, f"{source}/{SKILL_FILE}") for each in wrong)
        return [
            skill
            for skill in self._skills
            if skill.source == source and skill.name not in there and (is_all or skill.name in names)
        ]

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


def _read(source: Source, *, at_hand: bool) -> list[Skill | BrokenSkill]:
    return list(source.at_hand() if at_hand and isinstance(source, Fetched) else source.read())


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
