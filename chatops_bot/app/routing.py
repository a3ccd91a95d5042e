"""Routing of a bot: the tools prepared for it, and the tool that finds those which it missed."""

from collections.abc import Callable, Collection, Iterable, Sequence

from chatops_bot.app.bundled import load_routing
from chatops_bot.app.config import Config, Secrets
from chatops_bot.context.hardening import inline
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.tool_routing import RoutableTools, found_by
from chatops_bot.domain.language import Language
from chatops_bot.ports import Tool
from chatops_bot.sessions.tool_briefs import brief_of
from chatops_bot.sessions.tool_choice import ToolChoice
from chatops_bot.tools.find_tools import FindTools
from chatops_bot.tools.registry import Registry

_LINE_CHARS = 160


def routes(config: Config, secrets: Secrets) -> bool:
    """Whether tools are routed: for a language model, not for the rules, which choose by themselves."""
    return secrets.model is not None and config.model.routing == "auto"


def with_finder(tools: Sequence[Tool], prompts: PromptRegistry) -> list[Tool]:
    """The tools, and the one that finds those of them that are not on offer, by the words of `prompts`."""
    routable = _routable(tools, prompts)

    def search(query: str, allowed: Collection[str] | None, language: Language) -> list[tuple[str, str]]:
        known, texts = routable(), prompts.tools(language)
        found = found_by(query, known, known.briefs if allowed is None else allowed)
        return [(brief.name, inline(texts[brief.name].what, _LINE_CHARS)) for brief in found]

    return [*tools, FindTools(search)]


def tool_choice(registry: Registry, prompts: PromptRegistry, rerouted: Callable[[], None]) -> ToolChoice:
    """What chooses among the tools of a bot; `rerouted` is told of each turn that gets others than the one before."""

    def changes_asked(text: str) -> Collection[str]:
        from chatops_bot.llm.offline import changes_asked as by_the_rules

        return by_the_rules(text)

    return ToolChoice(_routable(registry, prompts), changes_asked, rerouted)


def _routable(tools: Iterable[Tool], prompts: PromptRegistry) -> Callable[[], RoutableTools]:
    """The tools of back ends, prepared anew when the texts were replaced."""
    specs = [tool.spec for tool in tools if not tool.spec.of_agent]

    def prepared() -> RoutableTools:
        return RoutableTools((brief_of(spec, prompts) for spec in specs), load_routing())

    newest = prompts.generation, prepared()

    def routable() -> RoutableTools:
        nonlocal newest
        if newest[0] != prompts.generation:
            newest = prompts.generation, prepared()
        return newest[1]

    return routable
