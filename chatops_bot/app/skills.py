"""The skills of a bot: where they come from, which of them are loaded from the start, and the tools that reach them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chatops_bot.app.bundled import bundled, load_skill_words
from chatops_bot.app.config import Config
from chatops_bot.app.skills_config import SkillsConfig
from chatops_bot.domain.language import Phrase
from chatops_bot.ports import ScriptRunner, Tool
from chatops_bot.sandbox.runner import NoScripts, open_runner
from chatops_bot.sessions.skill_choice import SkillChoice
from chatops_bot.skillpacks.archive import SkillArchive
from chatops_bot.skillpacks.folder import SkillFolder
from chatops_bot.skillpacks.git import SkillRepository
from chatops_bot.skillpacks.library import SkillLibrary, Source
from chatops_bot.skillpacks.unpacking import forget_others
from chatops_bot.tools.load_skill import LoadSkill
from chatops_bot.tools.run_skill_script import RunSkillScript

_SCRIPTS_OFF = Phrase("配置 skills.scripts 为 false。", "skills.scripts is false in the configuration.")


def skill_library(skills: SkillsConfig, data: Path) -> SkillLibrary:
    """Every source that is configured, then the skills that ship, so that an operator's own replaces one of those. Archives and
    checkouts are kept in the folder `data` of the bot. Nothing is read yet."""
    kept = _kept(data)
    sources: list[Source] = [
        *(SkillFolder(folder, str(folder)) for folder in skills.folders),
        *(SkillArchive(archive, kept) for archive in skills.archives),
        *(SkillRepository(git.url, git.ref, kept, git.subdir or "") for git in skills.git),
    ]
    shipped = SkillFolder(bundled("skills"), "skills")
    return SkillLibrary([*sources, shipped] if skills.enabled else [])


def _kept(data: Path) -> Path:
    """Where a bot keeps what it unpacked."""
    return data / "skills"


@dataclass(frozen=True, slots=True)
class BotSkills:
    """`choice` is which skills a turn has, None when they are off."""

    library: SkillLibrary
    runner: ScriptRunner
    choice: SkillChoice | None

    @property
    def tools(self) -> list[Tool]:
        """The tools that reach the skills; none when they are off."""
        if self.choice is None:
            return []
        skills, words = self.choice.skills, self.choice.words["en"]
        return [
            LoadSkill(skills, words.load_skill),
            RunSkillScript(skills, self.runner, words.run_skill_script),
        ]

    def beside(self, tools: Sequence[Tool]) -> list[Tool]:
        """`tools`, and those that reach the skills."""
        return [*tools, *self.tools]

    async def keep_reading(self, minutes: int) -> None:
        """Read the sources again every so many minutes, until cancelled."""
        while True:
            await asyncio.sleep(minutes * 60)
            await self.library.refresh()


def skills_of(config: Config) -> BotSkills:
    """The skills of a bot, not read yet."""
    library, preload = skill_library(config.skills, config.data), config.skills.preload
    choice = SkillChoice(library, load_skill_words(), preload.agents, preload.channels)
    return BotSkills(library, NoScripts(_SCRIPTS_OFF), choice if config.skills.enabled else None)


async def read_skills(config: Config) -> BotSkills:
    """The skills of a bot, read once, and the isolation of their scripts, tried once."""
    skills = skills_of(config)
    await skills.library.refresh()
    used = [skill.folder for skill in skills.library.all]
    await asyncio.to_thread(forget_others, _kept(config.data), used)
    if not (config.skills.scripts and any(skill.scripts for skill in skills.library.all)):
        return skills
    return replace(skills, runner=await open_runner())
