"""What a turn's request is about, and which tools it begins with, where a language model answers that has many."""

from collections.abc import Callable, Collection, Iterator, Sequence

from chatops_bot.context.entities import WORD, entities_in
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

    def kind_of(self, text: str) -> str | None:
        """What a request is about, several kinds joined by `+`; None for a request of no kind that is known."""
        return "+".join(self._tools().kinds_of(text, frozenset(self._changes_asked(text)))) or None

    def choose(
        self,
        intent: UserIntent,
        previous: Sequence[str],
        *,
        agent_id: str,
        allowed: Collection[str],
        few: int,
    ) -> tuple[str, ...] | None:
        """The names for a request, in the order that is suggested; None for an agent that has no more than `few` tools, which
        all go along. `previous` are the tools of the turn before."""
        tools = self._tools()
        mine = tools.only(allowed, agent_id)
        if len(mine) <= few:
            return None
        before = [name for name in previous if name in mine]
        routed = route_tools(
            intent, tools, allowed=mine, agent_id=agent_id, wished=self._changes_asked(intent.text),
            previous=before,
        )  # fmt: skip
        if before and not routed.kept:
            self._rerouted()
        return routed.tools


def intent_of(text: str, choice: ToolChoice | None) -> UserIntent:
    """What the newest message wants; its kind only where there is somebody to say it. Told is what is a name for certain."""
    found = {kind: ", ".join(values) for kind, values in entities_in(text).items() if kind != WORD}
    return UserIntent(text=text, kind=choice.kind_of(text) if choice else None, entities=found)


def previous_tools(entries: Sequence[Entry]) -> Iterator[str]:
    """The tools of the newest prompt that was sent; where none is noted, those that were called in the newest turn with calls."""
    for entry in reversed(entries):
        if isinstance(entry, Prompted):
            yield from entry.tools
            return
    called = [entry for entry in entries if isinstance(entry, ToolReturned)]
    yield from (entry.tool for entry in called if entry.turn_id == called[-1].turn_id)
