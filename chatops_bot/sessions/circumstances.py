"""What is true for one turn only, as a prompt's volatile part tells it: who asks, where, when in the asker's own time zone, and
what matters of that part of the conversation which the model does not see."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from zoneinfo import ZoneInfo

from chatops_bot.context.key_events import key_events
from chatops_bot.context.past import Past, Teller
from chatops_bot.context.prompt_types import AgentConfig, SessionContext, UserIntent
from chatops_bot.context.summary import summarise
from chatops_bot.domain.clocks import Clocks
from chatops_bot.domain.people import Person
from chatops_bot.domain.transcript import Entry
from chatops_bot.ports import Clock
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.tool_choice import previous_tools


@dataclass(frozen=True, slots=True)
class Home:
    """Where the bot runs: the IANA zone that schedules are read in, and what models are told."""

    schedules: str = "UTC"
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """`clean` takes secrets out, `reads_only` says whether the asker may ask for no change, `tools` are the names that there are."""

    home: Home
    clock: Clock
    clean: Callable[[str], str]
    tools: frozenset[str]
    reads_only: Callable[[TurnInput], bool]

    def clocks(self, asker: Person) -> Clocks:
        """Of the asker, and of the scheduler."""
        return Clocks.named(asker.timezone, self.home.schedules)

    def of(self, agent: AgentConfig, turn_input: TurnInput, entries: Sequence[Entry]) -> SessionContext:
        """In a thread of several people the asker's zone counts."""
        asker = turn_input.author
        return SessionContext(
            session_id=self.clean(str(turn_input.session)),
            agent_id=agent.agent_id,
            user_id=self.clean(asker.id),
            user_role=asker.role.value,
            current_time=self.clock.now(),
            timezone=asker.timezone or None,
            schedule_zone=self.home.schedules,
            channel=self.clean(turn_input.session.channel),
            reads_only=self.reads_only(turn_input),
            env=self.home.environment,
            previous_tools=tuple(name for name in previous_tools(entries) if name in self.tools),
        )

    def remembering(
        self,
        session: SessionContext,
        past: Past,
        agent: AgentConfig,
        intent: UserIntent,
        skills: Collection[str],
    ) -> SessionContext:
        """`session` with what matters of the past to somebody who may see `skills`. The newest events are told with their dates,
        older ones as far as the summary has room for them."""
        now, limits = session.current_time, agent.limits
        zone = ZoneInfo(session.timezone) if session.timezone else now.tzinfo or UTC
        teller = Teller(agent.phrases.past, zone, self.clean)
        events = key_events(past, teller, limits.event_chars, skills)
        older = max(0, len(events) - limits.events)
        further, newest = events[:older], events[older:]
        summary = summarise(
            past, intent, limits.summary_chars, teller=teller, now=now, skills=skills, further=further
        )
        return session.model_copy(update={"summary": summary or None, "key_events": tuple(newest)})
