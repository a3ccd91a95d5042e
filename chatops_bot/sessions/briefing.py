"""What a turn's model is given: which agent answers, what it may call, what it is told, and what it sees of the conversation."""

from collections.abc import Callable, Mapping, Sequence

from chatops_bot.agent.briefing import Briefing
from chatops_bot.context.agent_config import AgentConfig
from chatops_bot.context.fence import fence
from chatops_bot.context.history import project
from chatops_bot.context.prompt_factory import ToolBrief, TurnContext, build_agent_system_prompt
from chatops_bot.context.speakers import people_of
from chatops_bot.domain.language import Language
from chatops_bot.domain.model import ContextMessage
from chatops_bot.domain.people import Effect
from chatops_bot.domain.transcript import Entry
from chatops_bot.ports import Clock, Ids
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox


class Briefer:
    def __init__(
        self, *, registry: Registry, agents: Mapping[Language, AgentConfig], clock: Clock, ids: Ids
    ) -> None:
        self._registry = registry
        self._agents = agents
        self._clock = clock
        self._ids = ids

    def brief(self, turn_input: TurnInput, entries: Sequence[Entry], language: Language) -> Briefing:
        """For a turn whose first entry is the newest of `entries`: stable prefix, history up to the newest message, volatile
        context last."""
        agent = self._agents[language]
        context = self._turn_context(turn_input, entries)
        return Briefing(
            self._toolbox(),
            self._system(agent, context, turn_input.text),
            (
                *project(entries, nonce=self._ids.nonce),
                ContextMessage(build_agent_system_prompt(agent, (), context, turn_input.text).suffix),
            ),
        )

    def _toolbox(self) -> Toolbox:
        return Toolbox(self._registry)

    def _system(self, agent: AgentConfig, context: TurnContext, intent: str) -> Callable[[Toolbox], str]:
        """Writes the stable part of the prompt for the tools on offer."""

        def system(toolbox: Toolbox) -> str:
            return build_agent_system_prompt(agent, _briefs(toolbox), context, intent).prefix

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
