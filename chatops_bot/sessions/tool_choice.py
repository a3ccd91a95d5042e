"""Which tools a turn begins with, where a language model answers that has many: those that its request is about."""

from collections.abc import Callable, Collection, Iterator, Sequence

from chatops_bot.context.prompt_types import UserIntent
from chatops_bot.context.tool_routing import RoutableTools, route_tools
from chatops_bot.domain.transcript import Entry, Prompted, ToolReturned


class ToolChoice:
    def __init__(
        self,
        tools: Callable[[], RoutableTools],
        changes_asked: Callable[[str], Collection[str]],
        rerouted: Callable[[], None] = lambda: None,
    ) -> None:
        """`tools` are those that there are, as they are told of now; `changes_asked` says which changes a message asks for; `rerouted` is told of each turn whose tools are others than those
        of the turn before."""
        self._tools = tools
        self._changes_asked = changes_asked
        self._rerouted = rerouted

    def choose(
        self, text: str, entries: Sequence[Entry], *, agent_id: str, allowed: Collection[str], few: int
    ) -> tuple[str, ...] | None:
        """The names for a request, in the order that is suggested; None for an agent that has no more than `few` tools, which
        all go along."""
        tools = self._tools()
        mine = tools.only(allowed, agent_id)
        if len(mine) <= few or not text.strip():
            return None
        previous = [name for name in _previous(entries) if name in mine]
        routed = route_tools(
            UserIntent(text=text), tools, allowed=mine, agent_id=agent_id,
            wished=self._changes_asked(text), previous=previous,
        )  # fmt: skip
        if previous and not routed.kept:
            self._rerouted()
        return routed.tools


def _previous(entries: Sequence[Entry]) -> Iterator[str]:
    """The tools of the newest prompt that was sent; where none is noted, those that were called in the newest turn with calls."""
    for entry in reversed(entries):
        if isinstance(entry, Prompted):
            yield from entry.tools
            return
    called = [entry for entry in entries if isinstance(entry, ToolReturned)]
    yield from (entry.tool for entry in called if entry.turn_id == called[-1].turn_id)
