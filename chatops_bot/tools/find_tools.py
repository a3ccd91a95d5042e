"""find_tools: a model that misses a tool says what it is for, and has it from the next step on.

It sees its own agent's tools only: those of another are not found, not even by name.
"""

from collections.abc import Callable, Collection, Sequence

from pydantic import BaseModel, ConfigDict, Field

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import FIND_TOOLS, ToolResult
from chatops_bot.ports import ToolContext, ToolSpec

Search = Callable[[str, Collection[str] | None], Sequence[tuple[str, str]]]
"""Takes a query and the names to search, None for all; returns names with a line on each, best first."""


class FindToolsArguments(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    query: str = Field(description="What is to be done, in a few words.", min_length=1, max_length=300)


class FindTools:
    def __init__(self, search: Search, description: Phrase) -> None:
        """`description` is what the model reads of the tool."""
        self._search = search
        self.spec = ToolSpec(
            FIND_TOOLS, description.en, FindToolsArguments, Effect.READ, Phrase("查找工具", "looking for tools"), of_agent=True,
            description_zh=description.zh,
        )  # fmt: skip

    async def run(self, arguments: FindToolsArguments, context: ToolContext) -> ToolResult:
        found = self._search(arguments.query, context.allowed)
        return ToolResult(
            "ok",
            {"tools": [{"name": name, "description": line} for name, line in found]},
            Phrase(f"找到 {len(found)} 个工具", f"{len(found)} tools found"),
            offers=tuple(name for name, _ in found),
        )
