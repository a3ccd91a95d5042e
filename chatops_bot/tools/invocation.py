"""The one shape that all wrappers share: an invocation goes in, what was dispatched comes out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from chatops_bot.domain.form import Form
from chatops_bot.domain.language import Language
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.tool import ToolCall, ToolResult
from chatops_bot.ports import Tool, ToolContext
from chatops_bot.tools.toolbox import Toolbox


@dataclass(slots=True)
class TurnMemory:
    """What one turn remembers of its writes and of its forms: canonical call → what it came to the first time.

    `toolbox` has the tools that it may call; None leaves that to the dispatcher's registry.
    """

    toolbox: Toolbox | None = None

    writes: dict[str, "Dispatched"] = field(default_factory=dict)
    forms: dict[str, "Dispatched"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call on its way in. `found` and `arguments` are filled by the wrappers that find and validate them."""

    call: ToolCall
    context: ToolContext
    memory: TurnMemory
    language: Language
    found: Tool | None = None
    arguments: Any = None

    def of(self, tool: Tool, arguments: Any = None) -> "Invocation":
        """The same call, of a tool that was found, and with arguments that were checked."""
        return Invocation(self.call, self.context, self.memory, self.language, tool, arguments)

    @property
    def tool(self) -> Tool:
        """The tool that was found. Asking before it was looked up is a mistake in the order of wrappers."""
        if self.found is None:
            raise RuntimeError("this wrapper stands outside of the one that finds the tool")
        return self.found


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A call on its way out. `decision` is the audit's word for it; `proposal` or `form` is set when the call became one."""

    result: ToolResult
    decision: str
    proposal: Proposal | None = None
    form: Form | None = None


Handler = Callable[[Invocation], Awaitable[Dispatched]]
