"""The roads on which a form is asked for and filled in before there is a proposal, with and without a secret in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from chatops_bot.context.filled_form import filled_form_in
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.form import AskedAs
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.secret_argument import SecretArgument
from chatops_bot.domain.tool import Outcome, Plan
from chatops_bot.ports import ToolContext, ToolSpec, WriteTool
from chatops_bot.toolsets.scheduler.arguments import PauseTaskArguments
from chatops_bot.toolsets.scheduler.pause import PauseTask
from tests.kills.roads import ANA, RUN, Road
from tests.rotating import CANARY

NOTE = "it runs hot"


class NotedPause(PauseTaskArguments):
    given: Annotated[str, AskedAs(Phrase("原因", "Reason"))]


class KeyedPause(PauseTaskArguments):
    given: Annotated[str, AskedAs(Phrase("密钥", "Key")), SecretArgument(min_chars=8)]


@dataclass
class GivingPause:
    """Pauses as `inner` does, and first puts what it was given into a file."""

    inner: PauseTask
    file: Path
    spec: ToolSpec

    async def plan(self, arguments: Any, context: ToolContext) -> Plan:
        return await self.inner.plan(_pause(arguments), context)

    async def apply(self, arguments: Any, context: ToolContext) -> Outcome:
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"{arguments.given}\n")
        return await self.inner.apply(_pause(arguments), context)

    async def probe(self, arguments: Any, plan: Plan, context: ToolContext) -> Outcome | None:
        return await self.inner.probe(_pause(arguments), plan, context)


def giving_tools(inner: PauseTask, file: Path) -> Sequence[WriteTool]:
    """`pause_with_note` and `pause_with_key`, each of which asks for what it is to give."""
    kinds = {"pause_with_note": NotedPause, "pause_with_key": KeyedPause}
    return [
        GivingPause(inner, file, replace(inner.spec, name=name, arguments=model, candidates={}))
        for name, model in kinds.items()
    ]


def wanted(question: str) -> tuple[str, str]:
    """The call that a question asks for: what its form says, the tool that it ends with, or a pause of the task at its end."""
    filled = filled_form_in(question)
    if filled is not None:
        return filled.tool, canonical_json(dict(filled.arguments))
    last = question.split()[-1]
    if last.isdigit():
        return "pause_task", canonical_json({"task_id": int(last), "action": "pause"})
    return last, canonical_json({"task_id": 1, "action": "pause"})


@dataclass(frozen=True)
class FormRoad(Road):
    """`given` is what somebody fills in; the road is another's once the card stands."""

    tool: str = ""
    given: str = ""
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def struck(self) -> Sequence[str]:
        return self.phases[:1]


def _road(name: str, tool: str, given: str) -> FormRoad:
    phases = ("propose", "decide", "claim", "apply", "report")
    return FormRoad(
        name, [(ANA, "approve")], phases, RUN, tool=tool, given=given, answers={"given": (given,)}
    )


FORM_ROADS = (_road("form", "pause_with_note", NOTE), _road("secret form", "pause_with_key", CANARY))


def _pause(arguments: Any) -> PauseTaskArguments:
    return PauseTaskArguments(task_id=arguments.task_id, action=arguments.action)
