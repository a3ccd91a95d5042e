"""Routing of a bot: the tools prepared for it, and the tool that finds those which it missed."""

from collections.abc import Callable, Collection, Iterable, Sequence

from chatops_bot.app.bundled import load_description, load_routing
from chatops_bot.app.config import Config, Secrets
from chatops_bot.context.hardening import inline
from chatops_bot.context.prompt_types import Scenarios
from chatops_bot.context.tool_routing import RoutableTools, found_by
from chatops_bot.domain.tool import FIND_TOOLS
from chatops_bot.llm.offline import changes_asked
from chatops_bot.ports import Tool
from chatops_bot.sessions.tool_briefs import brief_of
from chatops_bot.sessions.tool_choice import ToolChoice
from chatops_bot.tools.find_tools import FindTools
from chatops_bot.tools.registry import Registry

_LINE_CHARS = 160


def routes(config: Config, secrets: Secrets) -> bool:
    """Whether tools are routed: for a language model, not for the rules, which choose by themselves."""
    return secrets.model is not None and config.model.routing == "auto"


def with_finder(tools: Sequence[Tool], scenarios: Callable[[str], Scenarios]) -> list[Tool]:
    """The tools, and the one that finds those of them that are not on offer. `scenarios` says by name when to use one."""
    routable = _routable(tools, scenarios)

    def search(query: str, allowed: Collection[str] | None) -> list[tuple[str, str]]:
        names = routable.briefs if allowed is None else allowed
        return [
            (brief.name, inline(brief.description, _LINE_CHARS)) for brief in found_by(query, routable, names)
        ]

    return [*tools, FindTools(search, load_description(FIND_TOOLS))]


def tool_choice(
    registry: Registry, scenarios: Callable[[str], Scenarios], rerouted: Callable[[], None]
) -> ToolChoice:
    """What chooses among the tools of a bot; `scenarios` says by name when to use one, and `rerouted` is told of each turn that gets others than the one before."""
    return ToolChoice(_routable(registry, scenarios), changes_asked, rerouted)


def _routable(tools: Iterable[Tool], scenarios: Callable[[str], Scenarios]) -> RoutableTools:
    briefs = (brief_of(tool.spec, scenarios(tool.spec.name)) for tool in tools if not tool.spec.of_agent)
    return RoutableTools(briefs, load_routing())
