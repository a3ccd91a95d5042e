"""Checks of the skills: which can be used, which are broken and where."""

from collections.abc import Iterable, Sequence

from chatops_bot.app.config import Config
from chatops_bot.app.doctor.findings import Finding, ok, warning
from chatops_bot.app.skills import borrowed_library, unknown_tools
from chatops_bot.domain.skill import Skill
from chatops_bot.skillpacks.library import described

FETCH_SECONDS = 10.0
"""What takes longer is told as being fetched, as a bot that starts goes on without it."""


async def check_skills(config: Config, patience: float = FETCH_SECONDS) -> Sequence[Finding]:
    """Decision: a broken skill stops nothing, and whoever wrote it must hear of it."""
    if not config.skills.enabled:
        return [ok("skills", "Off (skills.enabled).")]
    with borrowed_library(config.skills, config.data) as library:
        await library.begin(patience)
        skills, broken = library.all, library.broken
        await library.give_up()
    found = [
        warning("skills", f"{described(each)} The rest is used; correct it, or take it away.")
        for each in broken
    ]
    found += [
        warning("skills", problem) for problem in (*unknown_tools(skills), *_unknown_preloads(config, skills))
    ]
    found += [
        warning("skills", f"{skill.source}/{skill.name}: {remark.en}")
        for skill in skills
        for remark in skill.remarks
    ]
    return found or [ok("skills", f"{len(skills)} skills can be used.")]


def _unknown_preloads(config: Config, skills: Iterable[Skill]) -> list[str]:
    known = {skill.name for skill in skills}
    preload = config.skills.preload
    return [
        f"skills.preload names the skill {name} for {place}, which is not there; correct it."
        for place, names in (*preload.agents.items(), *preload.channels.items())
        for name in names
        if name not in known
    ]
