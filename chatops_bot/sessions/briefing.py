"""What a turn's model is given: which agent answers, what it may call, what it is told, and what it sees of the conversation."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from chatops_bot.agent.briefing import Briefing, keeps_nothing
from chatops_bot.context.budget import Budget
from chatops_bot.context.fence import Marks, fence, fresh_marks
from chatops_bot.context.history import project
from chatops_bot.context.past import Past, past_of
from chatops_bot.context.prompt_cache import PromptCache
from chatops_bot.context.prompt_factory import AgentPrompt, build_agent_system_prompt
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.prompt_types import (
    AgentConfig,
    Mode,
    PromptOptions,
    SessionContext,
    UserIntent,
)
from chatops_bot.context.scanning import scan_untrusted
from chatops_bot.context.skill_mask import SkillTrail
from chatops_bot.context.skill_text import ShownSkills, SkillWords, loaded_in, personal_skills, skill_section
from chatops_bot.context.speakers import people_of
from chatops_bot.context.window import Window
from chatops_bot.domain.channel_token import channel_token, channels_in
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.model import ContextMessage, UserMessage
from chatops_bot.domain.people import Effect, Person
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.skill import LOAD_SKILL, Skill
from chatops_bot.domain.tool import CONSULT_AGENT
from chatops_bot.domain.transcript import Entry, Prompted
from chatops_bot.ports import Clock, Ids, ToolContext, ToolSpec
from chatops_bot.sessions.circumstances import Circumstances, Home
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.prompt_keeping import Keep, PromptKeeper
from chatops_bot.sessions.skill_choice import SkillChoice, kept_back
from chatops_bot.sessions.tool_briefs import brief_of
from chatops_bot.sessions.tool_choice import ToolChoice, intent_of
from chatops_bot.tools.definitions import Definitions
from chatops_bot.tools.load_skill import offered_by
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox

_log = logging.getLogger(__name__)

_NOWHERE = Home()
_LOOKS = 2
_FAILED = (TurnOutcome.FAILED, TurnOutcome.CAPPED)
_SAYS_NOTHING = (TurnOutcome.STOPPED, TurnOutcome.INTERRUPTED)


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
        choice: ToolChoice | None = None,
        budget: Budget,
        model: str,
        marks: Callable[[SessionKey], Marks],
        may_ask: Callable[[Person, str, Effect, str], Phrase | None],
        home: Home = _NOWHERE,
    ) -> None:
        """`agent_in` says which agent answers in a channel. Without `skills` nothing is said of any, without `keeper` no prompt
        is kept, without `choice` every tool is on offer. `clean` takes secrets out of what the model is told. `budget` is how much
        is sent to `model` at once, `marks` has the nonces of each conversation, and
        `may_ask` says why a person may not call a tool from a channel, and `home` is where the bot runs."""
        self._may_ask = may_ask
        self._marks = marks
        self._budget = budget
        self._model = model
        self._registry = registry
        self._texts = prompts
        self._agent_in = agent_in
        self._keeper = keeper
        self._clean = clean
        self._circumstances = Circumstances(home, clock, clean, registry.names, self._only_reads)
        self._ids = ids
        self._skills = skills
        self._choice = choice
        self._answering: dict[str, AgentConfig] = {}
        self._prompts: PromptCache[tuple[object, ...], AgentPrompt] = PromptCache()
        self._definitions: PromptCache[tuple[int, Language], Definitions] = PromptCache(2)

    def brief(self, turn_input: TurnInput, entries: Sequence[Entry], language: Language) -> Briefing:
        """For a turn whose first entry is the newest of `entries`: stable prefix, history up to the newest message, volatile
        context last."""
        agent = self._agent(turn_input.session, entries, language)
        self._answering[turn_input.turn_id] = agent
        skills = self._shown_skills(turn_input, agent)
        marks = self._marks(turn_input.session)
        trail = SkillTrail(entries)
        history = project(entries, marks=marks, words=agent.phrases.calls, skills=skills.names, trail=trail)
        loaded = loaded_in(history)
        # A filled form is no request of a kind: its sentence is the bot's own.
        intent = intent_of(turn_input.text, None if turn_input.filled else self._choice)
        session = self._circumstances.of(agent, turn_input, entries)
        toolbox, suggested = self._toolbox(skills, agent, turn_input, intent, session)
        rounds = _bring(skills.at_work(loaded), toolbox)
        personal = self._clean(self._told(personal_skills, skills, loaded, agent))
        people, system = self._people(turn_input, entries), self._system(agent, session, skills)
        window, definitions = Window(self._budget, self._model, marks), self._definitions_in(agent)

        def suffix(told: SessionContext) -> str:
            return self._suffix(agent, told, intent, people, personal, suggested)

        def past(text: str) -> Past:
            whole, stable = (*history, ContextMessage(text)), system(toolbox, loaded)
            return past_of(entries, trail, whole, window.fit(whole, definitions.of(toolbox.offered), stable))

        text = suffix(session)
        if not window.is_roomy((*history, ContextMessage(text))):
            text = _with_past(
                text,
                past,
                lambda seen: suffix(
                    self._circumstances.remembering(session, seen, agent, intent, skills.names)
                ),
            )
        return Briefing(
            toolbox,
            definitions,
            system,
            (*history, ContextMessage(text)),
            agent.phrases,
            marks,
            window,
            rounds=rounds,
            skills=tuple(skills.visible),
            told=skills.personal,
            read=skills.read_from_the_start | trail.read_of(skills.names),
            keep=self._keep(turn_input, agent, text),
            agent_id=agent.agent_id,
            agents=self._consultable(agent, toolbox),
            is_shared=_is_shared(turn_input.session),
            clocks=self._circumstances.clocks(turn_input.author),
        )

    def rested(self, turn_id: str, outcome: TurnOutcome, *, is_outage: bool = False) -> None:
        """A turn that was briefed is over, which tells of its version; one that ended by an outage of what the bot stands on says
        nothing of it."""
        agent = self._answering.pop(turn_id, None)
        if agent is not None and not is_outage and outcome not in _SAYS_NOTHING:
            self._texts.rested(agent.agent_id, agent.version, failed=outcome in _FAILED)

    def brief_consulted(self, agent_id: str, question: str, context: ToolContext, depth: int) -> Briefing:
        """For an agent that another one consults: its own prompt and tools, and the question as all that was said."""
        language = context.consultations.language
        version = self._texts.version_for(agent_id, context.session.channel)
        agent = self._texts.get(agent_id, language, version)
        asked = TurnInput(context.turn_id, context.session, context.person, question, language=language)
        skills = self._shown_skills(asked, agent)
        intent, session = intent_of(question, self._choice), self._circumstances.of(agent, asked, ())
        box, suggested = self._toolbox(skills, agent, asked, intent, session)
        last = len(context.agents) > depth  # the chain counts the first agent, which nobody consulted
        allowed = box.allowed - {CONSULT_AGENT} if last else box.allowed
        toolbox = Toolbox(
            self._registry, allowed=allowed, offered=box.offered & allowed, brought=kept_back(skills)
        )
        rounds = _bring(skills.whole(), toolbox)
        marks = fresh_marks(self._ids.nonce)  # nothing of a consultation is sent again after it
        source = f"question of {context.agents[-2]}"
        personal = self._clean(self._told(personal_skills, skills, frozenset(), agent))
        suffix = self._suffix(agent, session, intent, self._people(asked, ()), personal, suggested)
        return Briefing(
            toolbox,
            self._definitions_in(agent),
            # Nobody reads what it says but the agent that asked; skills stay, since they say how the work is done.
            self._system(agent, session, skills, "minimal" if last else "full"),
            (
                UserMessage(fence(self._clean(question), source=source, nonce=self._ids.nonce)),
                ContextMessage(suffix),
            ),
            agent.phrases,
            marks,
            Window(self._budget, self._model, marks),
            rounds=rounds,
            skills=tuple(skills.visible),
            told=skills.personal,
            read=skills.read_from_the_start,
            keep=keeps_nothing if self._keeper is None else self._keeper.of_consultation(agent, suffix),
            agent_id=agent_id,
            agents=self._consultable(agent, toolbox),
            is_shared=_is_shared(context.session),
            clocks=self._circumstances.clocks(context.person),
        )

    def handoffs(self, context: ToolContext) -> tuple[str, ...]:
        """Whom the agent at the end of the chain names, as far as there are such agents."""
        agent = self._answering.get(context.turn_id)
        if agent is None or context.agents[-1:] not in ((), (agent.agent_id,)):
            asker = context.agents[-1] if context.agents else self._agent_in(context.session.channel)
            version = self._texts.version_for(asker, context.session.channel)
            agent = self._texts.get(asker, context.consultations.language, version)
        return self._named_by(agent)

    def _named_by(self, agent: AgentConfig) -> tuple[str, ...]:
        return tuple(each.agent_id for each in agent.handoffs if each.agent_id in self._texts.agent_ids)

    def _consultable(self, agent: AgentConfig, toolbox: Toolbox) -> tuple[str, ...]:
        return self._named_by(agent) if CONSULT_AGENT in toolbox.offered else ()

    def _agent(self, session: SessionKey, entries: Sequence[Entry], language: Language) -> AgentConfig:
        """The channel's agent; a thread keeps the version of its text that it began with."""
        agent_id = self._agent_in(session.channel)
        pinned = next(
            (each.version for each in entries if isinstance(each, Prompted) and each.agent_id == agent_id), ""
        )
        version = self._texts.version_for(agent_id, session.channel, pinned)
        return self._texts.get(agent_id, language, version)

    def _definitions_in(self, agent: AgentConfig) -> Definitions:
        """The tools in the agent's language, written once until the texts are read again."""
        texts, lang = self._texts, agent.lang
        return self._definitions.get(
            (texts.generation, lang),
            lambda: Definitions(self._registry, texts.tools(lang), agent.phrases.tools.secret),
        )

    def _keep(self, turn_input: TurnInput, agent: AgentConfig, suffix: str) -> Keep:
        if self._keeper is None:
            return keeps_nothing
        return self._keeper.of_turn(turn_input.session, turn_input.turn_id, agent, suffix)

    def _toolbox(
        self,
        skills: ShownSkills,
        agent: AgentConfig,
        turn_input: TurnInput,
        intent: UserIntent,
        session: SessionContext,
    ) -> tuple[Toolbox, tuple[str, ...]]:
        """The turn's tools, and which of them its request is about, the most useful first; none named where all are on offer."""
        later, own = kept_back(skills), agent.tool_allow
        specs = [tool.spec for tool in self._registry]
        allowed = [spec.name for spec in specs if own is None or spec.name in own]
        chosen, mine = None, frozenset(allowed)
        if self._choice is not None:
            mine = frozenset(spec.name for spec in specs if spec.name in mine and self._may(turn_input, spec))
            chosen = self._choice.choose(
                intent, session.previous_tools, agent_id=agent.agent_id, allowed=mine, few=agent.limits.tools
            )
        going = mine if chosen is None else chosen
        offered = [
            spec.name for spec in specs if spec.name not in later and (spec.of_agent or spec.name in going)
        ]
        return Toolbox(self._registry, allowed=allowed, offered=offered, brought=later), chosen or ()

    def _may(self, turn_input: TurnInput, spec: ToolSpec) -> bool:
        return self._may_ask(turn_input.author, spec.name, spec.effect, turn_input.session.channel) is None

    def _shown_skills(self, turn_input: TurnInput, agent: AgentConfig) -> ShownSkills:
        if self._skills is None:
            return ShownSkills()
        return self._skills.shown(turn_input.author, turn_input.session.channel, agent.agent_id)

    def _told(
        self,
        part: Callable[[ShownSkills, frozenset[str], SkillWords, Language], str],
        skills: ShownSkills,
        loaded: frozenset[str],
        agent: AgentConfig,
    ) -> str:
        """What a part of the prompt says of skills, in the agent's language."""
        return (
            "" if self._skills is None else part(skills, loaded, self._skills.words[agent.lang], agent.lang)
        )

    def _system(
        self, agent: AgentConfig, session: SessionContext, skills: ShownSkills, mode: Mode = "full"
    ) -> Callable[[Toolbox, frozenset[str]], str]:
        """Writes the stable part of the prompt for the tools on offer and the loaded skills. A tool that it has no room for is
        taken off the offer: what the text does not name is not on the wire either."""
        generation = self._texts.generation
        # The stable part is everybody's, so nothing of one turn may count towards its limits.
        nobody = SessionContext(session_id="any", agent_id=agent.agent_id, current_time=session.current_time)

        def system(toolbox: Toolbox, loaded: frozenset[str]) -> str:
            section = self._told(skill_section, skills, loaded, agent)
            names = tuple(tool.spec.name for tool in toolbox)
            # What is only listed can be loaded, as long as the tool for that is there.
            catalogue = self._told(skill_section, replace(skills, preloaded=()), loaded, agent)
            less = (catalogue,) if LOAD_SKILL in names else ()
            options = PromptOptions(
                tool_text="names", mode=mode, skills=section, less_skills=less, tell_goal=False
            )

            def build() -> AgentPrompt:
                briefs = [brief_of(tool.spec, self._texts) for tool in toolbox]
                built = build_agent_system_prompt(agent, briefs, nobody, "anything", options=options)
                if section not in built:
                    _log.warning(
                        "the prompt of %s is over its hard limit, so it tells less of skills; preload fewer of them",
                        agent.agent_id,
                    )
                return built

            which = (generation, agent.agent_id, agent.version, agent.lang, mode, names, section)
            prompt = self._prompts.get(which, build)
            if left_out := [name for name in names if name not in prompt.tools]:
                _log.warning(
                    "the prompt of %s is over its hard limit, so these tools are not on offer: %s; shorten its texts",
                    agent.agent_id, ", ".join(left_out),
                )  # fmt: skip
                toolbox.keep_to(prompt.tools)
            return self._clean(prompt.prefix)

        return system

    def _suffix(
        self,
        agent: AgentConfig,
        session: SessionContext,
        intent: UserIntent,
        people: str,
        personal: str,
        suggested: tuple[str, ...],
    ) -> str:
        """The volatile part, which stays as it is for all steps of the turn."""
        flags = scan_untrusted(intent.text)
        if flags:
            _log.warning("the newest message looks like an attempt to change the rules: %s", ", ".join(flags))
        options = PromptOptions(
            tell_goal=False,
            flags=flags,
            suggested_tools=suggested,
            extra_context=(people, *((personal,) if personal else ())),
        )
        return build_agent_system_prompt(agent, (), session, intent, options=options).suffix

    def _people(self, turn_input: TurnInput, entries: Sequence[Entry]) -> str:
        told = self._clean(people_of(entries, turn_input.author))  # before the fence, whose nonce must stay
        return fence(told, source="people of this conversation", nonce=self._ids.nonce)

    def _only_reads(self, turn_input: TurnInput) -> bool:
        return not any(
            self._may(turn_input, tool.spec) for tool in self._registry if tool.spec.effect is not Effect.READ
        )


def _is_shared(session: SessionKey) -> bool:
    """Whether others than the asker read a session: what has no name as a channel is a conversation with one person."""
    return bool(channels_in(channel_token(session.channel)))


def _bring(skills: Iterable[Skill], toolbox: Toolbox) -> int:
    """Offer the tools of the skills that are at work; how many steps with tools the longest of them takes."""
    at_work = list(skills)
    toolbox.offer(name for skill in at_work for name in offered_by(skill))
    return max((skill.rounds for skill in at_work), default=0)


def _with_past(text: str, past: Callable[[str], Past], telling: Callable[[Past], str]) -> str:
    """The volatile part with what is out of sight. It takes room itself, so what is out of sight then is looked at once more."""
    seen = past(text)
    for _ in range(_LOOKS):
        if seen.is_all_seen:
            break
        text, before = telling(seen), seen
        seen = past(text)
        if (seen.upto, seen.calls) == (before.upto, before.calls):
            break
    return text
