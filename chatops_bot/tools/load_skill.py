"""load_skill: the text of one skill, for a model that needs its know-how; its tools and its steps come with it.

A skill that the person may not see and one that does not exist get the same words.
"""

from pydantic import BaseModel, ConfigDict, Field

from chatops_bot.domain.errors import Told, ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person
from chatops_bot.domain.skill import LOAD_SKILL, NO_SUCH_SKILL, RUN_SKILL_SCRIPT, Skill
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import Skills, ToolContext, ToolSpec


class LoadSkillArguments(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    name: str = Field(max_length=200)


def found(skills: Skills, name: str, person: Person, channel: str) -> Skill:
    """The skill of exactly this name that `person` may see in `channel`. Raises ToolFailed for any other name."""
    for skill in skills.visible_to(person, channel):
        if skill.name == name:
            return skill
    raise ToolFailed(NO_SUCH_SKILL, told=Told("no_such_skill"))


def offered_by(skill: Skill) -> tuple[str, ...]:
    """The tools that a loaded skill brings."""
    return (*skill.tools, RUN_SKILL_SCRIPT) if skill.scripts else skill.tools


class LoadSkill:
    spec = ToolSpec(
        LOAD_SKILL, LoadSkillArguments, Effect.READ, Phrase("读取技能", "loading a skill"), of_agent=True
    )

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    async def run(self, arguments: LoadSkillArguments, context: ToolContext) -> ToolResult:
        skill = found(self._skills, arguments.name, context.person, context.session.channel)
        # People who may not see the skill read along, and what they see of a call is its summary.
        is_public = not skill.audience.is_personal
        return ToolResult(
            "ok",
            {"skill": skill.name, "text": skill.body},
            Phrase(f"已读取 {skill.name}", f"{skill.name} loaded")
            if is_public
            else Phrase("已读取", "loaded"),
            offers=offered_by(skill),
            rounds=skill.rounds,
            skills_read=(skill.name,),
        )
