"""Plain async functions as tools of ours: their JSON schemas become pydantic models, the functions run behind `ReadTool`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import ToolResult, ToolText
from chatops_bot.ports import ToolContext, ToolSpec

_TYPES = {"string": str, "integer": int}


class FunctionTool:
    """An async function that answers with text, and the JSON schema of its arguments in OpenAI's form."""

    def __init__(self, function: Callable[..., Awaitable[str]], schema: Mapping[str, Any]) -> None:
        self._function = function
        described = schema["function"]
        properties = described["parameters"]["properties"]
        fields: dict[str, Any] = {name: (_TYPES[field["type"]], ...) for name, field in properties.items()}
        said = {name: field["description"] for name, field in properties.items()}
        self.text = ToolText("", described["description"], said)
        arguments = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
        self.spec = ToolSpec(
            described["name"],
            arguments,
            Effect.READ,
            Phrase(described["name"], described["name"]),
        )

    async def run(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        text = await self._function(**arguments.__dict__)
        return ToolResult("ok", {"result": text}, Phrase(text, text))


def adapted(
    functions: Mapping[str, Callable[..., Awaitable[str]]], schemas: Sequence[Mapping[str, Any]]
) -> list[FunctionTool]:
    """One tool for each schema, in their order."""
    return [FunctionTool(functions[schema["function"]["name"]], schema) for schema in schemas]
