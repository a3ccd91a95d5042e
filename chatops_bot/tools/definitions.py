"""Tools as a model reads them: the contract of each, in the words that `prompts/` has for it.

A turn has its words from its beginning, so texts that are edited meanwhile count from the next turn on.
"""

from collections.abc import Iterable, Iterator, Mapping

from chatops_bot.domain.model import ToolDefinition
from chatops_bot.domain.tool import ToolText
from chatops_bot.ports import Tool, ToolSpec
from chatops_bot.tools.argument_model import secret_arguments
from chatops_bot.tools.registry import schema_of

MOST_KEPT = 64
"""Sets of tools whose definitions are kept; routing makes fewer."""


class Definitions:
    """Those of all tools, in one language, written once. Each set of names is one tuple, whichever turn asks for it, so that
    what was spelled or counted of it is found again."""

    def __init__(self, tools: Iterable[Tool], texts: Mapping[str, ToolText], secret: str) -> None:
        """`texts` has one for each tool, by name; `secret` is what is said of an argument that only a person may give."""
        self._all = tuple(definition_of(tool.spec, texts[tool.spec.name], secret) for tool in tools)
        self._kept: dict[frozenset[str], tuple[ToolDefinition, ...]] = {}

    def of(self, names: frozenset[str]) -> tuple[ToolDefinition, ...]:
        """Those of `names`, in the order of the tools."""
        found = self._kept.get(names)
        if found is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            found = self._kept[names] = tuple(each for each in self._all if each.name in names)
        return found


def definition_of(spec: ToolSpec, text: ToolText, secret: str) -> ToolDefinition:
    """One tool in the words of `text`."""
    schema = schema_of(spec.arguments)
    secrets = secret_arguments(spec.arguments)
    properties = {
        name: {**shape, "description": f"{text.arguments[name]} {secret}" if name in secrets else text.arguments[name]}
        for name, shape in schema["properties"].items()
    }  # fmt: skip
    return ToolDefinition(spec.name, text.what, {**schema, "properties": properties})


def unsaid(specs: Iterable[ToolSpec], texts: Mapping[str, ToolText]) -> Iterator[str]:
    """What `texts` do not say of these tools, as `tool` or `tool.arguments.argument`."""
    for spec in specs:
        text = texts.get(spec.name)
        if text is None:
            yield spec.name
        else:
            yield from (
                f"{spec.name}.arguments.{name}" for name in _arguments(spec) if name not in text.arguments
            )


def unmeant(specs: Iterable[ToolSpec], texts: Mapping[str, ToolText]) -> Iterator[str]:
    """What `texts` say of tools and arguments that there are not, likewise."""
    known = {spec.name: _arguments(spec) for spec in specs}
    for name, text in texts.items():
        if name not in known:
            yield name
        else:
            yield from (f"{name}.arguments.{each}" for each in text.arguments if each not in known[name])


def _arguments(spec: ToolSpec) -> tuple[str, ...]:
    return tuple(schema_of(spec.arguments)["properties"])
