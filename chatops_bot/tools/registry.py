"""The tools there are, in a fixed order, by exact name."""

import difflib
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import Told, ToolUnknown
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.ports import Tool, ToolSpec
from chatops_bot.tools.argument_model import secret_arguments


class Registry:
    """Names → tools. Two tools of one name, or with one alias, are a mistake in the wiring: ValueError."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.spec.effect is Effect.READ and secret_arguments(tool.spec.arguments):
                raise ValueError(f"{tool.spec.name} only looks, and so can take no secret argument")
            if tool.spec.name in self._tools:
                raise ValueError(f"two tools are named {tool.spec.name}")
            self._tools[tool.spec.name] = tool
        self._canonical = _other_names(self._tools)

    def narrowed(self, names: Collection[str]) -> "Registry":
        """Only the tools of these names, in the same order."""
        if all(name in names for name in self._tools):
            return self
        fewer = Registry(())
        fewer._tools = {name: tool for name, tool in self._tools.items() if name in names}
        fewer._canonical = {other: name for other, name in self._canonical.items() if name in names}
        return fewer

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def canonical(self, name: str) -> str:
        """The permanent name of the tool that is called by `name`, an old one or its back end's; any other as it is."""
        return self._canonical.get(name, name)

    def find(self, name: str) -> Tool:
        """The tool that is called by exactly this name, else ToolUnknown with every valid name, the nearest first."""
        tool = self._tools.get(self.canonical(name))
        if tool is not None:
            return tool
        near = difflib.get_close_matches(name, self._tools, n=3)
        valid = [*near, *(known for known in self._tools if known not in near)]
        listed = ", ".join(valid)
        raise ToolUnknown(
            Phrase(f"没有名为 {name!r} 的工具。", f"There is no tool {name!r}."),
            told=Told("unknown_tool", {"name": repr(name), "valid": listed}),
        )


def _other_names(tools: Mapping[str, Tool]) -> dict[str, str]:
    """Alias or back-end name → permanent name. Raises ValueError where a name would stand for two tools."""
    others: dict[str, str] = {}
    for name, tool in tools.items():
        for other in filter(None, (*tool.spec.aliases, tool.spec.backend_name)):
            owner = other if other in tools else others.get(other, name)
            if owner != name:
                raise ValueError(f"{other} is a name of {owner} and of {name}; give one of them another")
            if other != name:
                others[other] = name
    return others


def contract_hash(spec: ToolSpec) -> str:
    """SHA-256 of what a tool promises: name, effect and arguments. Another one may mean something else by a call; other words of
    it in `prompts/` do not, and people approve what the card shows."""
    contract = [spec.name, spec.effect, schema_of(spec.arguments)]
    return hashlib.sha256(canonical_json(contract).encode()).hexdigest()


@cache
def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: always an object with `properties`, without pydantic's titles and without words.

    Made once for each model, which takes milliseconds; nobody changes it."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)  # the class docstring is for us
    schema.setdefault("properties", {})
    for field in schema["properties"].values():
        field.pop("title", None)
    for name in secret_arguments(arguments):
        schema["properties"][name] = {"type": "string"}
        schema["required"] = [each for each in schema.get("required", ()) if each != name]
    return schema
