"""The inverse of an action that was run, as a draft like any other: planned as things are now, for whoever asks for it."""

from collections.abc import Mapping
from typing import Any, cast

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import ToolImpossible
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.tool import Inverse
from chatops_bot.ports import ToolContext, WriteTool
from chatops_bot.tools.apply import called
from chatops_bot.tools.drafting import Drafter
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.validation import stored_arguments

_NO_INVERSE = Phrase("这个变更无法撤销。", "This change cannot be taken back.")
_NOT_KNOWN = Phrase(
    "撤销所需的 {name} 没有出现在执行结果中。",
    "What came of it does not say {name}, which taking it back needs.",
)


class Inverter:
    def __init__(self, registry: Registry, drafter: Drafter) -> None:
        self._registry = registry
        self._drafter = drafter

    async def draft(self, applied: Proposal, person: Person) -> Proposal:
        """A draft of what takes `applied` back, asked for by `person`. Raises ToolError where it makes no sense now, or they may not."""
        inverse = applied.plan.inverse
        if inverse is None:
            raise ToolImpossible(_NO_INVERSE)
        tool = cast("WriteTool", self._registry.find(inverse.tool))
        arguments = stored_arguments(_filled(inverse, applied.outcome or {}), tool.spec.arguments)
        drafting = self._drafter.draft(
            tool, arguments, ToolContext(person, applied.session, applied.turn_id), call_id=applied.call_id,
            language="zh" if applied.language == "zh" else "en", inverse_of=applied.id,
        )  # fmt: skip
        return await called(tool.spec, drafting)


def changed_since(applied: Proposal, inverse: Proposal) -> dict[str, tuple[Any, Any]]:
    """What of the facts that `applied` left behind is no longer so in the plan of its inverse: field to what it was left as, and is."""
    changed = {change.field: change.after for change in applied.plan.changes}
    now = inverse.plan.preconditions
    left = {
        name: changed.get(name, value) for name, value in applied.plan.preconditions.items() if name in now
    }
    return {
        name: (value, now[name])
        for name, value in left.items()
        if canonical_json(value) != canonical_json(now[name])
    }


def _filled(inverse: Inverse, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments, with those that only the outcome tells. Raises ToolImpossible when it does not."""
    found = {name: outcome.get(key) for name, key in inverse.filled.items()}
    for name, value in found.items():
        if value is None:
            raise ToolImpossible(_NOT_KNOWN.filled(name=name))
    return {**inverse.arguments, **found}
