"""Small tools that tests steer: one looks, one switches task 3 on and off, one asks before it looks."""

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from chatops_bot.app.bundled import load_call_words, load_phrases
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import LANGUAGES, configured_texts
from chatops_bot.context.prompt_registry import PromptTexts
from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.followup import Suggestion
from chatops_bot.domain.form import AskedAs, Candidates, Choice
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.tool import Change, Outcome, Plan, ToolResult, ToolText
from chatops_bot.ports import Clock, Ids, Store, Tool, ToolContext, ToolSpec
from chatops_bot.tools.definitions import Definitions
from chatops_bot.tools.drafting import Drafter
from chatops_bot.tools.proposal_moves import ProposalMoves
from chatops_bot.tools.proposing import Proposer
from chatops_bot.tools.registry import schema_of

SESSION = SessionKey("slack", "T1", "C1", "1.1")
OSCAR = Person("U1", "Oscar", Role.OPERATOR)
HOUR = timedelta(hours=1)
PHRASES = load_phrases()["en"]
WORDS = load_call_words()
KEY = b"the key of the tests, 32 bytes.."


def proposer_of(store: Store, clock: Clock, ids: Ids, policy: Policy | None = None) -> Proposer:
    """A proposer whose proposals may be approved for an hour."""
    moves = ProposalMoves(store.proposals, store.audit, clock, Redactor())
    return Proposer(
        store.proposals, moves, Drafter(policy or Policy(), clock, ids, HOUR, KEY, store.proposals), clock
    )


class LookArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = ""
    limit: int = Field(default=20, ge=1)


class SwitchArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")
    task_id: int
    action: Literal["pause", "resume"]


class SearchArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")
    groups: list[Literal["web", "db", "cache"]] = Field(min_length=1)
    hosts: list[str] = Field(title="Hosts", examples=["web-1, web-2"])
    deep: Annotated[bool, AskedAs(Phrase("深入", "Deep"))]
    lines: int = Field(default=20, ge=1, le=500)
    since: str | None = None


def words_of(spec: ToolSpec) -> ToolText:
    """Words for a tool of the tests: they name it, and each of its arguments."""
    name = spec.name.replace("_", " ")
    arguments = {
        each: f"The {each.replace('_', ' ')} of it." for each in schema_of(spec.arguments)["properties"]
    }
    return ToolText(f"When it is about {name}.", f"Does the {name}.", arguments)


def definitions_of(tools: Iterable[Tool]) -> Definitions:
    """The tools as a model is told of them here."""
    return Definitions(tools, {tool.spec.name: words_of(tool.spec) for tool in tools}, PHRASES.tools.secret)


def texts_with(*specs: ToolSpec) -> PromptTexts:
    """The shipped texts, and words for these tools."""
    shipped = configured_texts(AgentsConfig())
    own = {spec.name: words_of(spec) for spec in specs}
    return replace(shipped, tools={lang: {**told, **own} for lang, told in shipped.tools.items()})


def put_words(folder: Path, specs: Iterable[ToolSpec]) -> Path:
    """An operator's folder of texts with words for these tools."""
    told = {spec.name: asdict(words_of(spec)) for spec in specs}
    folder.mkdir(exist_ok=True)
    for lang in LANGUAGES:
        (folder / f"tools.{lang}.yaml").write_text(yaml.safe_dump({"tools": told}), encoding="utf-8")
    return folder


async def known_hosts(tool: Any, context: ToolContext) -> Candidates:
    if tool.fault is not None:
        raise tool.fault
    return Candidates(tuple(Choice(name, Phrase(name, name)) for name in tool.hosts), is_complete=False)


SEARCH = ToolSpec(
    "search",
    SearchArgs,
    Effect.READ,
    Phrase("搜索", "searching"),
    candidates={"hosts": known_hosts},
    asks=True,
)
LOOK = ToolSpec("look", LookArgs, Effect.READ, Phrase("查找", "looking"))
SWITCH = ToolSpec("switch", SwitchArgs, Effect.WRITE, Phrase("切换", "switching"))


@dataclass
class Look:
    """Reads; `answer` is what it finds, `gate` holds it up, `fault` is raised in place of an answer."""

    answer: dict[str, Any] = field(default_factory=lambda: {"count": 1})
    fault: Exception | None = None
    gate: asyncio.Event | None = None
    runs: list[LookArgs] = field(default_factory=list)
    entered: asyncio.Queue[None] = field(default_factory=asyncio.Queue)
    spec: ToolSpec = LOOK

    async def run(self, arguments: LookArgs, context: ToolContext) -> ToolResult:
        self.runs.append(arguments)
        self.entered.put_nowait(None)
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return ToolResult(
            "ok", self.answer, Phrase("找到 1", "1 found"), (Suggestion("为什么？", "Why?", "look"),)
        )


@dataclass
class Search:
    """Reads, and asks for what it lacks; `fault` is raised when its hosts are asked for, `refusal` when it runs."""

    hosts: tuple[str, ...] = ("web-1", "web-2", "db-1")
    fault: Exception | None = None
    refusal: ToolFailed | None = None
    runs: list[SearchArgs] = field(default_factory=list)
    spec: ToolSpec = SEARCH

    async def run(self, arguments: SearchArgs, context: ToolContext) -> ToolResult:
        if self.refusal is not None:
            raise self.refusal
        self.runs.append(arguments)
        return ToolResult("ok", {"lines": []}, Phrase("没有", "none"))


@dataclass
class Switch:
    """Writes: task 3 is on or off. `fault` is raised when it is applied."""

    on: bool = True
    fault: Exception | None = None
    applied: list[str] = field(default_factory=list)
    details: tuple[tuple[Phrase, str], ...] = ()
    spec: ToolSpec = SWITCH

    async def plan(self, arguments: SwitchArgs, context: ToolContext) -> Plan:
        if arguments.task_id != 3:
            raise ToolFailed(Phrase("没有这个任务", f"There is no task {arguments.task_id}."))
        state = "enabled" if self.on else "disabled"
        change = Change("status", state, "disabled" if arguments.action == "pause" else "enabled")
        return Plan("task #3", Phrase("切换", "switch"), (change,), "low", {"status": state}, self.details)

    async def apply(self, arguments: SwitchArgs, context: ToolContext) -> Outcome:
        self.applied.append(context.idempotency_key)
        if self.fault is not None:
            raise self.fault
        self.on = arguments.action == "resume"
        return Outcome(
            True, True, Phrase("已切换", "switched"), {"status": "enabled" if self.on else "disabled"}
        )

    async def probe(self, arguments: SwitchArgs, plan: Plan, context: ToolContext) -> Outcome | None:
        wanted = arguments.action == "resume"
        return Outcome(True, True, Phrase("已切换", "switched"), {}) if self.on is wanted else None
