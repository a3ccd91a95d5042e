"""Which skills a turn has: those that its asker may see in its channel, and which of them are loaded from the start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chatops_bot.context.skill_text import ShownSkills, SkillWords
from chatops_bot.domain.language import Language
from chatops_bot.domain.people import Person
from chatops_bot.domain.skill import LOAD_SKILL, RUN_SKILL_SCRIPT
from chatops_bot.ports import Skills


@dataclass(frozen=True, slots=True)
class SkillChoice:
    """`skills` are all there are; `agents` and `channels` say by id which of them are loaded from the start; `words` is what
    the model is told of them."""

    skills: Skills
    words: Mapping[Language, SkillWords]
    agents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    channels: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def shown(self, person: Person, channel: str, agent_id: str) -> ShownSkills:
        preloaded = (*self.agents.get(agent_id, ()), *self.channels.get(channel, ()))
        return ShownSkills(tuple(self.skills.visible_to(person, channel)), tuple(dict.fromkeys(preloaded)))


def kept_back(shown: ShownSkills) -> frozenset[str]:
    """Tools that nothing has brought yet: who sees no skill is not told that there are any, and a script runs once its skill is
    loaded."""
    return frozenset({RUN_SKILL_SCRIPT}) if shown.listed() else frozenset({LOAD_SKILL, RUN_SKILL_SCRIPT})
