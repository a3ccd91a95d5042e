"""find_tools: a model that misses a tool says what it is for, and has it from the next step on.

It sees its own agent's tools only: those of another are not found, not even by name.
"""

from collections.abc import Callable, Collection, Sequence

from pydantic import BaseModel, ConfigDict, Field

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import FIND_TOOLS, ToolResult
from chatops_bot.ports import ToolContext, ToolSpec

Search = Callable[[str, Collection[str] | None, Language], Sequence[tuple[str, str]]]
"""Takes a query, the names to search, None for all, and a language; returns names with a line on each in that, best first."""


class FindToolsArguments(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    query: str = Field(min_length=1, max_length=300)


class FindTools:
    spec = ToolSpec(
        FIND_TOOLS,
        FindToolsArguments,
        Effect.READ,
        Phrase("查找工具", "looking for tools"),
        of_agent=True,
    )

    def __init__(self, search: Search) -> None:
        self._search = search

    async def run(self, arguments: FindToolsArguments, context: ToolContext) -> ToolResult:
        found = self._search(arguments.query, context.allowed, context.consultations.language)
        return ToolResult(
            "ok",
            {"tools": [{"name": name, "description": line} for name, line in found]},
            Phrase(f"找到 {len(found)} 个工具", f"{len(found)} tools found"),
            offers=tuple(name for name, _ in found),
        )
