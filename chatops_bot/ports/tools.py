"""What a tool is, and what it is told of its caller."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from chatops_bot.domain.form import Candidates
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.model import Usage
from chatops_bot.domain.people import Effect, Person
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.tool import Observation, Outcome, Plan, ToolResult
from chatops_bot.ports.store import Transcripts


@dataclass(slots=True, eq=False)
class Consultations:
    """What a turn and all consultations in it share: the language, who was consulted so far, and what that cost."""

    language: Language = "en"
    made: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    def take_usage(self) -> Usage:
        """What was spent since this was asked last."""
        spent, self.usage = self.usage, Usage()
        return spent


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who calls a tool, and from where. `idempotency_key` names the effect of an approved action, else it is empty. `allowed` are
    the names of the tools that the turn's agent may use, None for all.

    `agents` is the chain of agents that ask each other, the calling one last; in a consultation it `reads_only`, and `aside` is
    what was said in that.
    """

    person: Person
    session: SessionKey
    turn_id: str
    idempotency_key: str = ""
    allowed: frozenset[str] | None = None
    agents: tuple[str, ...] = ()
    reads_only: bool = False
    aside: "Transcripts | None" = field(default=None, compare=False)
    consultations: Consultations = field(default_factory=Consultations, compare=False)


CandidateProvider = Callable[[Any, ToolContext], Awaitable[Candidates]]
"""Takes the tool that asks and the context of the call; returns what an argument can be. Raises only `ToolError`s."""


ArgumentCheck = Callable[[Any, Mapping[str, Any], ToolContext], Awaitable[Mapping[str, Phrase]]]
"""Takes the tool, values that fit its schema one by one (some may be missing) and the context of the call; returns all that
is wrong with them beyond the schema, by argument. Only reads; raises only `ToolError`s."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool's contract: the model sees its name and the arguments' schema, people `label` while it runs. What a model reads of
    it stands in `prompts/tools.<lang>.yaml` (`domain.tool.ToolText`), so no description stands here or at an argument.

    A call that lacks facts is asked for in a form: of a tool that changes something always, of one that looks when `asks`
    is set. `title` heads the form; `candidates` says, by argument, where the values to choose from are found; `check` looks
    at values before the call is complete, so that whoever fills in a form hears of all that is wrong at once. `undoable`: its
    plans have an inverse. `of_agent`: it acts on the conversation itself, not on a back end, and is on offer whatever the request
    is about. `label_argument` is an argument, an id, that people see behind the label. `name` is for good: models, transcripts
    and policies know it. `aliases` are names that it had, and `backend_name` is what its back end calls it now; a call by one of
    these reaches the tool, and nothing shows them."""

    name: str
    arguments: type[BaseModel]
    effect: Effect
    label: Phrase
    timeout: float = 30.0
    title: Phrase | None = None
    candidates: Mapping[str, CandidateProvider] = field(default_factory=dict)
    check: ArgumentCheck | None = None
    asks: bool = False
    undoable: bool = False
    of_agent: bool = False
    label_argument: str = ""
    aliases: tuple[str, ...] = ()
    backend_name: str = ""


class ReadTool(Protocol):
    """A tool that only looks. Raises only `ToolError`s."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """`arguments` is an instance of `spec.arguments`."""


class WriteTool(Protocol):
    """A tool that changes something, split so that nothing happens before a person says so. Raises only `ToolError`s."""

    @property
    def spec(self) -> ToolSpec: ...

    async def plan(self, arguments: Any, context: ToolContext) -> Plan:
        """Work out by reading alone what `apply` would do. An impossible wish is a ToolFailed here, not at apply."""

    async def apply(self, arguments: Any, context: ToolContext) -> Outcome:
        """Do it, once, and read back what came of it. `ToolFailed.outcome_unknown` when it may have happened."""

    async def probe(self, arguments: Any, plan: Plan, context: ToolContext) -> Outcome | None:
        """After a crash: the outcome if reading back proves that the action happened, else None. Changes nothing."""


@runtime_checkable
class ObservingTool(WriteTool, Protocol):
    """A write tool that names its evidence: what to look at some minutes after its action."""

    async def observe(
        self, arguments: Any, plan: Plan, outcome: Mapping[str, Any], since: datetime, context: ToolContext
    ) -> Observation:
        """What is seen now of the action that was over at `since` and came to `outcome` (`Outcome.content`). Changes nothing."""


Tool = ReadTool | WriteTool
