"""A tool as prompts and routing know it."""

from chatops_bot.context.prompt_types import Permission, Scenarios, ToolBrief
from chatops_bot.domain.people import Effect
from chatops_bot.ports import ToolSpec

_PERMISSIONS: dict[Effect, Permission] = {
    Effect.READ: "read",
    Effect.WRITE: "write",
    Effect.DESTRUCTIVE: "destructive",
}


def brief_of(spec: ToolSpec, scenarios: Scenarios, sort_hint: int = 0) -> ToolBrief:
    """`scenarios` say when to use it; the higher its `sort_hint`, the further to the front it stands. What its back end calls it
    is no part of any prompt."""
    return ToolBrief(
        name=spec.name,
        description=spec.description,
        permission_level=_PERMISSIONS[spec.effect],
        scenarios=scenarios,
        sort_hint=sort_hint,
        aliases=spec.aliases,
        backend_name=spec.backend_name or None,
    )
