"""The skills of a bot: where they come from, which of them are loaded from the start, and the tools that reach them."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from chatops_bot.app.bundled import bundled, load_skill_words
from chatops_bot.app.config import Config
from chatops_bot.app.known_tools import KNOWN_SPECS
from chatops_bot.app.skills_config import SkillsConfig
from chatops_bot.context.skill_mask import SkillTrail
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.skill import Skill
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import Entry
from chatops_bot.ports import Results, ScriptRunner, Tool, ToolContext, Transcripts
from chatops_bot.sandbox.runner import NoScripts, ThisMachine
from chatops_bot.sessions.skill_choice import SkillChoice
from chatops_bot.skillpacks.archive import SkillArchive
from chatops_bot.skillpacks.folder import SkillFolder
from chatops_bot.skillpacks.git import SkillRepository
from chatops_bot.skillpacks.library import SkillLibrary, Source
from chatops_bot.skillpacks.unpacking import forget_others
from chatops_bot.tools.load_skill import LoadSkill
from chatops_bot.tools.read_result import ReadResult
from chatops_bot.tools.run_skill_script import RunSkillScript

_log = logging.getLogger(__name__)

START_SECONDS = 5.0
"""What a bot that starts waits for repositories, and people for it. Most are fetched in one."""


def _library(skills: SkillsConfig, kept: Path, copies: Path) -> SkillLibrary:
    """Every source that is configured, then the skills that ship, so that an operator's own replaces one of those. Archives and
    checkouts are unpacked into `kept`; the copies of the last time lie in `copies`. Nothing is read yet."""
    stop = Event()
    sources: list[Source] = [
        *(SkillFolder(folder, str(folder)) for folder in skills.folders),
        *(SkillArchive(archive, kept) for archive in skills.archives),
        *(SkillRepository(git.url, git.ref, kept, git.subdir or "", copies, stop) for git in skills.git),
    ]
    shipped = SkillFolder(bundled("skills"), "skills")
    return SkillLibrary([*sources, shipped] if skills.enabled else [], stop)


@contextmanager
def borrowed_library(skills: SkillsConfig, data: Path) -> Iterator[SkillLibrary]:
    """The skills of a bot for a command beside it, which may be another user's. The data folder is only read; what is unpacked is
    gone at the end."""
    with TemporaryDirectory(prefix="chatops-skills-", ignore_cleanup_errors=True) as folder:
        yield _library(skills, Path(folder), _kept(data))


def _kept(data: Path) -> Path:
    """Where a bot keeps what it unpacked. It is that process's alone."""
    return data / "skills"


@dataclass(frozen=True, slots=True)
class BotSkills:
    """`choice` is which skills a turn has, None when they are off; `scripts` is what runs theirs, None when that is off. `kept` is the
    folder of what was unpacked for them, None where that is not theirs to tidy up. Set `asked` to have the sources read now."""

    library: SkillLibrary
    choice: SkillChoice | None
    scripts: ScriptRunner | None
    kept: Path | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def tools(self) -> list[Tool]:
        """The tools that reach the skills; none when they are off."""
        choice = self.choice
        if choice is None:
            return []
        runs = [] if self.scripts is None else [RunSkillScript(choice.skills, self.scripts)]
        return [LoadSkill(choice.skills), *runs]

    def read_result(self, transcripts: Transcripts, results: Results) -> Tool:
        """The tool that reads earlier results back, as far as the person may see the skills that they came from."""
        choice = self.choice

        def is_hidden(entries: Sequence[Entry], turn_id: str, call: ToolCall, context: ToolContext) -> bool:
            person, channel = context.person, context.session.channel
            skills = () if choice is None else choice.skills.visible_to(person, channel)
            return SkillTrail(entries).hides(turn_id, call, [skill.name for skill in skills])

        return ReadResult(transcripts, results, is_hidden)

    async def begin(self, patience: float) -> None:
        """Read the sources for the first time, and wait `patience` seconds at most for those that are fetched."""
        if await self.library.begin(patience):
            await self._forget_all_but(())

    async def refresh(self) -> None:
        """Read the sources, and forget the packages that were used neither before nor are now."""
        before = self.library.all
        await self.library.refresh()
        await self._forget_all_but(before)

    async def _forget_all_but(self, before: Sequence[Skill]) -> None:
        """A script of one that was used before may be about to start."""
        if self.kept is not None:
            used = [skill.folder for skill in (*before, *self.library.all)]
            await asyncio.to_thread(forget_others, self.kept, used)

    async def keep_reading(self, minutes: int) -> None:
        """Read the sources again every so many minutes and whenever it is `asked`, until cancelled."""
        before = self.library.all
        if await self.library.finish():
            await self._forget_all_but(before)
            _log.info("what was still being fetched was read; skills in use: %s", _told(self.library))
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(minutes * 60):
                    await self.asked.wait()
            is_asked = self.asked.is_set()
            self.asked.clear()
            await self.refresh()
            if is_asked:
                _log.info("the skills were read again; in use: %s", _told(self.library))


def _told(library: SkillLibrary) -> str:
    names = [
        f"{skill.name} (as it was before)" if skill.name in library.as_before else skill.name
        for skill in library.all
    ]
    count = len(library.broken)
    more = f"; {count} broken, which `chatops-bot skills list` names" if count else ""
    return f"{', '.join(names) or 'none'}{more}"


THIS_MACHINE = ThisMachine()
_NOT_TRIED = NoScripts(Phrase("隔离尚未检验。", "The isolation was not tried yet."))


def unknown_tools(skills: Iterable[Skill]) -> list[str]:
    """A sentence for each tool that a skill names and that there is not."""
    known = {spec.name for spec in KNOWN_SPECS}
    return [
        f"{skill.source}/{skill.name}/SKILL.md, line {line}: there is no tool {name}; correct builtin_tools or allowed-tools."
        for skill in skills
        for name, line in zip(skill.tools, skill.tool_lines, strict=True)
        if name not in known
    ]


def skills_of(
    config: Config, library: SkillLibrary | None = None, scripts: ScriptRunner = _NOT_TRIED
) -> BotSkills:
    """The skills of a bot, not read yet. A command beside the bot gives a `borrowed_library`; without, they are the bot's own."""
    kept = _kept(config.data) if library is None else None
    if library is None:
        library = _library(config.skills, _kept(config.data), _kept(config.data))
    preload = config.skills.preload
    choice = SkillChoice(library, load_skill_words(), preload.agents, preload.channels)
    return BotSkills(
        library,
        choice if config.skills.enabled else None,
        None if config.skills.scripts == "off" else scripts,
        kept,
    )


async def read_skills(
    config: Config,
    library: SkillLibrary | None = None,
    meter: Callable[[ScriptRunner], ScriptRunner] = lambda runner: runner,
    patience: float = START_SECONDS,
) -> BotSkills:
    """The skills of a bot, as `skills_of`, as far as they were read within `patience` seconds, and what runs their scripts, counted
    by `meter`. `keep_reading` reads the rest."""
    scripts: ScriptRunner = _NOT_TRIED
    if config.skills.enabled and config.skills.scripts != "off":
        scripts = await THIS_MACHINE.runner()
        if scripts.disabled_because is not None:
            _log.warning("scripts of skills are not run: %s", scripts.disabled_because.en)
    skills = skills_of(config, library, meter(scripts))
    await skills.begin(patience)
    return skills
