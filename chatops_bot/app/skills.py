"""The skills of a bot: where they come from, which of them are loaded from the start, and the tools that reach them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from chatops_bot.app.bundled import bundled, load_skill_words
from chatops_bot.app.config import Config
from chatops_bot.ports import Tool
from chatops_bot.sessions.skill_choice import SkillChoice
from chatops_bot.skillpacks.folder import SkillFolder
from chatops_bot.skillpacks.library import SkillLibrary, Source
from chatops_bot.tools.load_skill import LoadSkill


def skill_library(config: Config) -> SkillLibrary:
    """Every source that `config` names, then the skills that ship, so that an operator's own replaces one of those. Nothing is
    read yet."""
    skills = config.skills
    sources: list[Source] = [SkillFolder(folder, str(folder)) for folder in skills.folders]
    shipped = SkillFolder(bundled("skills"), "skills")
    return SkillLibrary([*sources, shipped] if skills.enabled else [])


@dataclass(frozen=True, slots=True)
class BotSkills:
    """`choice` is which skills a turn has, None when they are off."""

    library: SkillLibrary
    choice: SkillChoice | None

    @property
    def tools(self) -> list[Tool]:
        """The tools that reach the skills; none when they are off."""
        choice = self.choice
        return [] if choice is None else [LoadSkill(choice.skills, choice.words["en"].load_skill)]

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
    library, preload = skill_library(config), config.skills.preload
    choice = SkillChoice(library, load_skill_words(), preload.agents, preload.channels)
    return BotSkills(library, choice if config.skills.enabled else None)


async def read_skills(config: Config) -> BotSkills:
    """The skills of a bot, read once."""
    skills = skills_of(config)
    await skills.library.refresh()
    return skills
