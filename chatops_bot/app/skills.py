"""The skills of a bot: where they come from, which of them are loaded from the start, and the tools that reach them."""

from chatops_bot.app.bundled import bundled, load_read_result, load_skill_words
from chatops_bot.app.config import Config
from chatops_bot.context.skill_mask import masked_result
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import ToolReturned
from chatops_bot.ports import Store, Tool, ToolContext
from chatops_bot.sessions.skill_choice import SkillChoice
from chatops_bot.skillpacks.folder import SkillFolder
from chatops_bot.skillpacks.library import SkillLibrary, Source
from chatops_bot.tools.load_skill import LoadSkill
from chatops_bot.tools.read_result import ReadResult


def skill_library(config: Config) -> SkillLibrary:
    """Every source that `config` names, then the skills that ship, so that an operator's own replaces one of those. Nothing is
    read yet."""
    skills = config.skills
    sources: list[Source] = [SkillFolder(folder, str(folder)) for folder in skills.folders]
    shipped = SkillFolder(bundled("skills"), "skills")
    return SkillLibrary([*sources, shipped] if skills.enabled else [])


def skill_choice(config: Config, library: SkillLibrary) -> SkillChoice | None:
    """Which skills a turn has; None when they are off."""
    if not config.skills.enabled:
        return None
    preload = config.skills.preload
    return SkillChoice(library, load_skill_words(), preload.agents, preload.channels)


def skill_tools(choice: SkillChoice | None, store: Store) -> list[Tool]:
    """The tools that reach the skills of `choice`, none when skills are off, and the one that reads earlier results back."""
    load = [] if choice is None else [LoadSkill(choice.skills, choice.words["en"].load_skill)]
    return [*load, _read_result(store, choice)]


def _read_result(store: Store, choice: SkillChoice | None) -> Tool:
    """The tool that reads earlier results back, as far as the person may see the skills that they came from."""

    def is_hidden(call: ToolCall, returned: ToolReturned, context: ToolContext) -> bool:
        skills = () if choice is None else choice.skills.visible_to(context.person, context.session.channel)
        return masked_result(call, returned, [skill.name for skill in skills]) is not returned

    return ReadResult(store.transcripts, store.results, load_read_result(), is_hidden)
