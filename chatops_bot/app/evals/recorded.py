"""Tools that answer from what was recorded: by name, and by the arguments that a recording must hold.

A tool of ours keeps its contract, so the model sees the same schema and wrong arguments are refused as ever; a tool that
this program does not have takes any arguments, and names those that its recordings are told apart by. What was not recorded is an error that says so, never an empty result.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from chatops_bot.app.bundled import load_phrases
from chatops_bot.app.evals.case import Recording
from chatops_bot.context.prompt_registry import PromptTexts
from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import (
    OF_THE_AGENT,
    Change,
    Outcome,
    Plan,
    ToolResult,
    ToolText,
)
from chatops_bot.ports import Tool, ToolContext, ToolSpec
from chatops_bot.tools.registry import Registry


class _AnyArguments(BaseModel):
    model_config = ConfigDict(extra="allow")


@cache
def _arguments(names: tuple[str, ...]) -> type[BaseModel]:
    """Of these names, none of them required: a model that is not told which arguments the recordings look at could give none."""
    fields: dict[str, Any] = {
        f"argument_{at}": (Any, Field(None, alias=name)) for at, name in enumerate(names)
    }
    return create_model("RecordedArguments", __base__=_AnyArguments, **fields)


@dataclass(frozen=True, slots=True)
class RecordedRead:
    spec: ToolSpec
    recordings: tuple[Recording, ...]

    async def run(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        """As the port says; raises ToolFailed for a recorded error, and for what was not recorded."""
        found = _found(self.recordings, self.spec.name, arguments)
        content = found.content if isinstance(found.content, Mapping) else {"text": found.content}
        return ToolResult("ok", content, Phrase("来自录制", "from the recording"))


@dataclass(frozen=True, slots=True)
class RecordedWrite:
    spec: ToolSpec
    recordings: tuple[Recording, ...]

    async def plan(self, arguments: BaseModel, context: ToolContext) -> Plan:
        """As the port says; raises ToolFailed as `RecordedRead.run` does."""
        plan = _found(self.recordings, self.spec.name, arguments).plan
        if plan is None:
            raise ToolFailed(_nothing(self.spec.name))
        changes = tuple(Change(*change) for change in plan.changes)
        return Plan(plan.target, Phrase(plan.summary_zh, plan.summary_en), changes, plan.risk, {})

    async def apply(self, arguments: BaseModel, context: ToolContext) -> Outcome:
        """Raises ToolFailed: a recording cannot be changed."""
        raise ToolFailed(Phrase("录制的环境不能被更改。", "A recorded world cannot be changed."))

    async def probe(self, arguments: BaseModel, plan: Plan, context: ToolContext) -> Outcome | None:
        """Nothing ever happened."""
        return None


def recorded_tools(recordings: Sequence[Recording], known: Iterable[Tool]) -> list[Tool]:
    """Every tool of `known`, and those that only `recordings` name, answering from `recordings`."""
    tools: list[Tool] = []
    names = set()
    for tool in known:
        spec = replace(tool.spec, candidates={}, check=None)
        names.add(spec.name)
        tools.append(_recorded(spec, recordings))
    names |= frozenset(OF_THE_AGENT)
    others = dict.fromkeys(one.tool for one in recordings if one.tool not in names)
    return [*tools, *(_recorded(_unknown(name, recordings), recordings) for name in others)]


def with_recorded(registry: Registry, recordings: Sequence[Recording]) -> Registry:
    """`registry`, in which the agent's own tools answer from what was recorded of them, if anything was: the skill or the result
    that they once read is not here."""
    named = frozenset(OF_THE_AGENT) & {one.tool for one in recordings}
    tools = [_recorded(tool.spec, recordings) if tool.spec.name in named else tool for tool in registry]
    return Registry(
        [
            *tools,
            *(_recorded(_unknown(name, ()), recordings) for name in sorted(named - registry.names)),
        ]
    )


def with_words(texts: PromptTexts, recordings: Sequence[Recording]) -> PromptTexts:
    """`texts`, with words for the tools that only `recordings` name."""
    return replace(
        texts,
        tools={
            lang: {
                tool: ToolText(said, said, {name: name for name in _looked_at(tool, recordings)})
                for tool in dict.fromkeys(one.tool for one in recordings)
                if (said := load_phrases()[lang].tools.recorded.format(tool=tool))
            }
            | dict(told)
            for lang, told in texts.tools.items()
        },
    )


def _unknown(name: str, recordings: Iterable[Recording]) -> ToolSpec:
    """Of a tool that this program, or this bot, does not have."""
    label = Phrase(f"正在调用 {name}…", f"calling {name}…")
    return ToolSpec(name, _arguments(_looked_at(name, recordings)), Effect.READ, label)


def _looked_at(tool: str, recordings: Iterable[Recording]) -> tuple[str, ...]:
    """The arguments by which the recordings of a tool are told apart."""
    return tuple(dict.fromkeys(name for one in recordings if one.tool == tool for name in one.match))


def _recorded(spec: ToolSpec, recordings: Sequence[Recording]) -> Tool:
    own = tuple(one for one in recordings if one.tool == spec.name)
    return RecordedRead(spec, own) if spec.effect is Effect.READ else RecordedWrite(spec, own)


def holds(arguments: Any, wanted: Any) -> bool:
    """Whether `arguments` has all of `wanted`: objects by key, at any depth; None stands for any value."""
    if wanted is None:
        return True
    if isinstance(wanted, Mapping):
        return isinstance(arguments, Mapping) and all(
            (key in arguments or value is None) and holds(arguments.get(key), value)
            for key, value in wanted.items()
        )
    if isinstance(wanted, list) and isinstance(arguments, list):
        return len(wanted) == len(arguments) and all(map(holds, arguments, wanted))
    return bool(arguments == wanted)


def _found(recordings: Sequence[Recording], tool: str, arguments: BaseModel) -> Recording:
    """The recording that says most about these arguments. Raises ToolFailed when none fits, and for a recorded error."""
    given = arguments.model_dump(mode="json", by_alias=True)
    fitting = [one for one in recordings if holds(given, one.match)]
    if not fitting:
        raise ToolFailed(_nothing(tool))
    best = max(fitting, key=lambda one: len(one.match))
    if best.status == "error":
        said = best.content if isinstance(best.content, str) else str(best.content.get("error", best.content))
        raise ToolFailed(Phrase(said, said))
    return best


def _nothing(tool: str) -> Phrase:
    return Phrase(
        f"没有 {tool} 对这些参数的录制结果。", f"No result of {tool} was recorded for these arguments."
    )
