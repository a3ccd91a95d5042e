"""consult_agent: one agent asks another, which answers with its own prompt and its own tools, for the same person.

What crosses the border is a question and an answer, both text: neither sees the other's prompt, tools or results. The one
that is asked only looks: a change would put a card before people that nobody saw being asked for (docs/decisions/0018).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from chatops_bot.agent.briefing import Briefing
from chatops_bot.agent.loop import Loop, Turn
from chatops_bot.domain.errors import ModelError, Told, ToolFailed
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.tool import CONSULT_AGENT, ToolResult
from chatops_bot.domain.transcript import Entry
from chatops_bot.domain.turn_event import CallStarted, Noted, Rested, TurnEvent
from chatops_bot.ports import ToolContext, ToolSpec, Transcripts

MAX_CONSULTATIONS = 2
"""Consultations of one turn. Each costs several model calls; who needs a third opinion should hand over."""

CONSULT_SECONDS = 90.0
"""Half a turn's steps at the pace of a slow model; people wait for it."""

ANSWER_CHARS = 8_000
"""About 2,000 tokens: a long answer, and not a dump of what the other agent read."""


class ConsultArguments(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    agent_id: str = Field(max_length=64)
    question: str = Field(min_length=1, max_length=4_000)


class Aside:
    """The transcript of a consultation, as long as it lasts: the conversation remembers its answer, the audit its calls."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    async def append(self, session: SessionKey, entries: Sequence[Entry]) -> None:
        self._entries += entries

    async def load(self, session: SessionKey) -> list[Entry]:
        return list(self._entries)

    async def known(self, session: SessionKey) -> bool:
        return False


class Briefs(Protocol):
    def handoffs(self, context: ToolContext) -> Sequence[str]:
        """Whom the asking agent, the last of the chain, may consult."""

    def brief_consulted(self, agent_id: str, question: str, context: ToolContext, depth: int) -> Briefing:
        """What the consulted agent is given, which is the last of the chain in `context`."""


@dataclass(frozen=True, slots=True)
class Consultant:
    loop_over: Callable[[Transcripts], Loop]
    briefs: Briefs


CONSULT_SPEC = ToolSpec(
    CONSULT_AGENT, ConsultArguments, Effect.READ, Phrase("咨询另一个智能体", "asking another agent"),
    timeout=CONSULT_SECONDS, of_agent=True, label_argument="agent_id",
)  # fmt: skip


class ConsultAgent:
    def __init__(self, depth: int = 1, spec: ToolSpec = CONSULT_SPEC) -> None:
        """`depth` is how many consultations may stand inside each other."""
        self._depth = depth
        self._desk: Consultant | None = None
        self.spec = spec

    def answer_with(self, loop_over: Callable[[Transcripts], Loop], briefs: Briefs) -> None:
        """To be called once before the first turn: `loop_over` makes the loop of a consultation, with half of a turn's steps, over
        a transcript of its own. Apart from the constructor, since both are made of a registry that has this tool."""
        self._desk = Consultant(loop_over, briefs)

    async def run(self, arguments: ConsultArguments, context: ToolContext) -> ToolResult:
        if (desk := self._desk) is None:
            raise RuntimeError("consult_agent was registered without a loop to answer with")
        agent_id = arguments.agent_id
        self._admit(agent_id, context, desk.briefs.handoffs(context))
        asking = context.consultations
        asking.made.append(agent_id)
        aside = Aside()
        within = replace(context, agents=(*context.agents, agent_id), reads_only=True, aside=aside)
        briefing = desk.briefs.brief_consulted(agent_id, arguments.question, within, self._depth)
        turn = Turn(within, asking.language, briefing, has_own_ids=True)
        heard = _Heard(asking.language)
        try:
            await desk.loop_over(aside).run_turn(turn, heard.hear)
        except ModelError as error:
            raise ToolFailed(error.phrase) from error
        finally:
            asking.usage += turn.usage
        # Told of counts as read: the library may have been read again since the asking agent was told what there is.
        return heard.result(agent_id, turn.skills_read | briefing.told)

    def _admit(self, agent_id: str, context: ToolContext, handoffs: Sequence[str]) -> None:
        """Raises ToolFailed for an agent that may not be asked here."""
        valid = [each for each in handoffs if each not in context.agents]
        if agent_id in context.agents:
            raise ToolFailed(
                _CYCLE.filled(agent=agent_id), told=Told("consulted_already", {"agent": agent_id})
            )
        if agent_id not in valid:
            raise ToolFailed(
                _UNKNOWN.filled(agent=agent_id),
                told=Told("not_consulted", {"agent": agent_id, "valid": ", ".join(valid) or "-"}),
            )
        if len(context.agents) > self._depth:
            raise ToolFailed(_TOO_DEEP, told=Told("too_deep"))
        if len(context.consultations.made) >= MAX_CONSULTATIONS:
            raise ToolFailed(_TOO_MANY, told=Told("too_often", {"most": MAX_CONSULTATIONS}))


class _Heard:
    """What comes out of a consultation."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._called: list[str] = []
        self._notes: list[str] = []
        self._rest = Rested(TurnOutcome.FAILED, "")

    async def hear(self, event: TurnEvent) -> None:
        if isinstance(event, CallStarted):
            self._called.append(event.tool)
        elif isinstance(event, Noted):
            self._notes.append(event.phrase.said_in(self._language))
        elif isinstance(event, Rested):
            self._rest = event

    def result(self, agent_id: str, skills: Collection[str]) -> ToolResult:
        """`skills` are those whose words may be in the answer. Raises ToolFailed when no answer came."""
        body = self._rest.body
        if not body:
            raise ToolFailed(_SILENT.filled(agent=agent_id))
        content: dict[str, Any] = {
            "agent": agent_id,
            "answer": body[:ANSWER_CHARS],
            "tools_called": list(dict.fromkeys(self._called)),
        }
        if len(body) > ANSWER_CHARS:
            content["characters_left_out"] = len(body) - ANSWER_CHARS
        if self._rest.outcome is not TurnOutcome.ANSWERED:
            content["incomplete"] = self._notes
        summary = Phrase(f"{agent_id} 已回答", f"{agent_id} answered")
        return ToolResult("ok", content, summary, skills_read=tuple(sorted(skills)))


_CYCLE = Phrase("{agent} 已在这次咨询之中", "{agent} takes part in this consultation already")
_UNKNOWN = Phrase("不能咨询 {agent}", "{agent} cannot be consulted here")
_TOO_DEEP = Phrase("咨询中不再咨询别人", "no consultation inside a consultation")
_TOO_MANY = Phrase("本轮咨询次数已达上限", "no more consultations in this turn")
_SILENT = Phrase("{agent} 没有给出回答。", "{agent} gave no answer.")
