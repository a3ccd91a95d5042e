"""What is true for one turn only, as a prompt's volatile part tells it: who asks, where, when in the asker's own time zone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from chatops_bot.context.prompt_types import AgentConfig, SessionContext
from chatops_bot.domain.transcript import Entry
from chatops_bot.ports import Clock
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.tool_choice import previous_tools


@dataclass(frozen=True, slots=True)
class Home:
    """Where the bot runs: the IANA zone of people whose own nobody tells (None: that of the clock), and what models are told."""

    timezone: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """`clean` takes secrets out, `reads_only` says whether the asker may ask for no change, `tools` are the names that there are."""

    home: Home
    clock: Clock
    clean: Callable[[str], str]
    tools: frozenset[str]
    reads_only: Callable[[TurnInput], bool]

    def of(self, agent: AgentConfig, turn_input: TurnInput, entries: Sequence[Entry]) -> SessionContext:
        """In a thread of several people the asker's zone counts."""
        asker = turn_input.author
        return SessionContext(
            session_id=self.clean(str(turn_input.session)),
            agent_id=agent.agent_id,
            user_id=self.clean(asker.id),
            user_role=asker.role.value,
            current_time=self.clock.now(),
            timezone=asker.timezone or self.home.timezone,
            channel=self.clean(turn_input.session.channel),
            reads_only=self.reads_only(turn_input),
            env=self.home.environment,
            previous_tools=tuple(name for name in previous_tools(entries) if name in self.tools),
        )
