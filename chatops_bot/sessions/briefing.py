"""What a turn's model is given: which agent answers, what it may call, what it is told, and what it sees of the conversation."""

from collections.abc import Callable, Mapping, Sequence

from chatops_bot.agent.briefing import Briefing
from chatops_bot.context.agent_config import AgentConfig
from chatops_bot.context.budget import Budget
from chatops_bot.context.fence import fence
from chatops_bot.context.history import project
from chatops_bot.context.prompt_factory import ToolBrief, TurnContext, build_agent_system_prompt, inline
from chatops_bot.context.skill_text import ShownSkills, SkillWords, loaded_in, personal_skills, skill_section
from chatops_bot.context.speakers import people_of
from chatops_bot.context.window import Window
from chatops_bot.domain.language import Language
from chatops_bot.domain.model import ContextMessage
from chatops_bot.domain.people import Effect
from chatops_bot.domain.transcript import Entry
from chatops_bot.ports import Clock, Ids
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.skill_choice import SkillChoice, without_use
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox


class Briefer:
    def __init__(
        self,
        *,
        registry: Registry,
        agents: Mapping[Language, AgentConfig],
        clock: Clock,
        ids: Ids,
        skills: SkillChoice | None = None,
        budget: Budget,
        model: str,
    ) -> None:
        """Without `skills` nothing is said of any. `budget` is how much is sent to `model` at once."""
        self._budget = budget
        self._model = model
        self._registry = registry
        self._agents = agents
        self._clock = clock
        self._ids = ids
        self._skills = skills

    def brief(self, turn_input: TurnInput, entries: Sequence[Entry], language: Language) -> Briefing:
        """For a turn whose first entry is the newest of `entries`: stable prefix, history up to the newest message, volatile
        context last."""
        agent = self._agents[language]
        context = self._turn_context(turn_input, entries)
        skills = self._shown_skills(turn_input, agent)
        history = project(entries, nonce=self._ids.nonce, skills=skills.names)
        loaded = loaded_in(history)
        at_work = skills.at_work(loaded)
        toolbox = self._toolbox(skills)
        toolbox.offer(name for skill in at_work for name in skill.tools)
        personal = self._told(personal_skills, skills, loaded, agent)
        prompt = build_agent_system_prompt(agent, (), context, turn_input.text, personal_skills=personal)
        return Briefing(
            toolbox,
            self._system(agent, context, turn_input.text, skills),
            (*history, ContextMessage(prompt.suffix)),
            Window(self._budget, self._model, self._ids.nonce),
            rounds=max((skill.rounds for skill in at_work), default=0),
        )

    def _toolbox(self, skills: ShownSkills) -> Toolbox:
        useless = without_use(skills)
        return Toolbox(
            self._registry,
            allowed=[tool.spec.name for tool in self._registry if tool.spec.name not in useless],
        )

    def _shown_skills(self, turn_input: TurnInput, agent: AgentConfig) -> ShownSkills:
        if self._skills is None:
            return ShownSkills()
        return self._skills.shown(turn_input.author, turn_input.session.channel, agent.agent_id)

    def _told(
        self,
        part: Callable[[ShownSkills, frozenset[str], SkillWords, Callable[[str], str]], str],
        skills: ShownSkills,
        loaded: frozenset[str],
        agent: AgentConfig,
    ) -> str:
        """What a part of the prompt says of skills, in the agent's language."""
        return "" if self._skills is None else part(skills, loaded, self._skills.words[agent.lang], inline)

    def _system(
        self, agent: AgentConfig, context: TurnContext, intent: str, skills: ShownSkills
    ) -> Callable[[Toolbox, frozenset[str]], str]:
        """Writes the stable part of the prompt for the tools on offer and the loaded skills."""

        def system(toolbox: Toolbox, loaded: frozenset[str]) -> str:
            section = self._told(skill_section, skills, loaded, agent)
            return build_agent_system_prompt(agent, _briefs(toolbox), context, intent, skills=section).prefix

        return system

    def _turn_context(self, turn_input: TurnInput, entries: Sequence[Entry]) -> TurnContext:
        people = people_of(entries, turn_input.author)
        return TurnContext(
            session_id=str(turn_input.session),
            people=fence(people, source="people of this conversation", nonce=self._ids.nonce),
            asker_role=turn_input.author.role.value,
            channel=turn_input.session.channel,
            now=self._clock.now(),
        )


def _briefs(toolbox: Toolbox) -> list[ToolBrief]:
    return [
        ToolBrief(tool.spec.name, tool.spec.description, tool.spec.effect is not Effect.READ)
        for tool in toolbox
    ]
