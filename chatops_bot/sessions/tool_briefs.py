"""A tool as prompts and routing know it."""

from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.prompt_types import Permission, ToolBrief
from chatops_bot.domain.people import Effect
from chatops_bot.ports import ToolSpec

_PERMISSIONS: dict[Effect, Permission] = {
    Effect.READ: "read",
    Effect.WRITE: "write",
    Effect.DESTRUCTIVE: "destructive",
}


def brief_of(spec: ToolSpec, prompts: PromptRegistry) -> ToolBrief:
    """In the words that `prompts` has for it now; its description says in both languages what it does, since it is found by
    either. What its back end calls it is no part of any prompt."""
    return ToolBrief(
        name=spec.name,
        description=" ".join(prompts.tools(lang)[spec.name].what for lang in ("en", "zh")),
        permission_level=_PERMISSIONS[spec.effect],
        scenarios=prompts.scenarios(spec.name),
        sort_hint=prompts.rank(spec.name),
        aliases=spec.aliases,
        backend_name=spec.backend_name or None,
    )
