"""What a turn's model is given: which agent answers, what it may call, what it is told, and what it sees of the conversation."""

from collections.abc import Awaitable, Callable, Sequence

from chatops_bot.agent.briefing import Briefing, keeps_nothing
from chatops_bot.context.agent_config import AgentConfig
from chatops_bot.context.fence import fence
from chatops_bot.context.history import project
from chatops_bot.context.prompt_factory import ToolBrief, TurnContext, build_agent_system_prompt, inline
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.skill_text import ShownSkills, SkillWords, loaded_in, personal_skills, skill_section
from chatops_bot.context.speakers import people_of
from chatops_bot.domain.language import Language
from chatops_bot.domain.model import ContextMessage
from chatops_bot.domain.people import Effect
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import Entry, Prompted
from chatops_bot.ports import Clock, Ids
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.prompt_keeping import PromptKeeper
from chatops_bot.sessions.skill_choice import SkillChoice, without_use
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox


class Briefer:
    def __init__(
        self,
        *,
        registry: Registry,
        prompts: PromptRegistry,
        agent_in: Callable[[str], str],
        clock: Clock,
        ids: Ids,
        skills: SkillChoice | None = None,
        keeper: PromptKeeper | None = None,
        clean: Callable[[str], str] = str,
    ) -> None:
        """`agent_in` says which agent answers in a channel. Without `skills` nothing is said of any, without `keeper` no prompt
        is kept. `clean` takes secrets out of what the model is told."""
        self._registry = registry
        self._prompts = prompts
        self._agent_in = agent_in
        self._keeper = keeper
        self._clean = clean
        self._clock = clock
        self._ids = ids
        self._skills = skills

    def brief(self, turn_input: TurnInput, entries: Sequence[Entry], language: Language) -> Briefing:
        """For a turn whose first entry is the newest of `entries`: stable prefix, history up to the newest message, volatile
        context last."""
        agent = self._agent(turn_input.session, entries, language)
        context = self._turn_context(turn_input, entries)
        skills = self._shown_skills(turn_input, agent)
        history = project(entries, nonce=self._ids.nonce, skills=skills.names)
        loaded = loaded_in(history)
        at_work = skills.at_work(loaded)
        toolbox = self._toolbox(skills, agent)
        toolbox.offer(name for skill in at_work for name in skill.tools)
        personal = self._told(personal_skills, skills, loaded, agent)
        prompt = build_agent_system_prompt(agent, (), context, turn_input.text, personal_skills=personal)
        suffix = self._clean(prompt.suffix)
        return Briefing(
            toolbox,
            self._system(agent, context, turn_input.text, skills),
            (*history, ContextMessage(suffix)),
            rounds=max((skill.rounds for skill in at_work), default=0),
            keep=self._keep(turn_input, agent, suffix),
        )

    def _agent(self, session: SessionKey, entries: Sequence[Entry], language: Language) -> AgentConfig:
        """The channel's agent; a thread keeps the version of its text that it began with."""
        agent_id = self._agent_in(session.channel)
        pinned = next(
            (each.version for each in entries if isinstance(each, Prompted) and each.agent_id == agent_id), ""
        )
        version = self._prompts.version_for(agent_id, session.channel, pinned)
        return self._prompts.get(agent_id, language, version)

    def _keep(
        self, turn_input: TurnInput, agent: AgentConfig, suffix: str
    ) -> Callable[[str, Sequence[str]], Awaitable[None]]:
        if self._keeper is None:
            return keeps_nothing
        return self._keeper.of_turn(turn_input.session, turn_input.turn_id, agent, suffix)

    def _toolbox(self, skills: ShownSkills, agent: AgentConfig) -> Toolbox:
        useless, own = without_use(skills), agent.tool_allow
        names = [tool.spec.name for tool in self._registry if own is None or tool.spec.name in own]
        return Toolbox(self._registry, allowed=[name for name in names if name not in useless])

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
            prompt = build_agent_system_prompt(
                agent, self._briefs(toolbox, agent), context, intent, skills=section
            )
            return self._clean(prompt.prefix)

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

    def _briefs(self, toolbox: Toolbox, agent: AgentConfig) -> list[ToolBrief]:
        return [
            ToolBrief(
                tool.spec.name,
                self._prompts.scenario(tool.spec.name, agent.lang, otherwise=tool.spec.description),
                tool.spec.effect is not Effect.READ,
            )
            for tool in toolbox
        ]
