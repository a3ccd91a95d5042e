"""The tools of one turn: which of all there are its agent may use, and which of those the model is offered now.

What is offered is what the prompt names, what the wire carries and what the dispatcher accepts. It grows during a turn: a
loaded skill brings its tools, and a model that missed one finds it. Only what the prompt has no room for is taken back.
"""

from collections.abc import Collection, Iterable, Iterator

from chatops_bot.ports import Tool
from chatops_bot.tools.registry import Registry


class Toolbox:
    def __init__(
        self,
        registry: Registry,
        *,
        allowed: Collection[str] | None = None,
        offered: Collection[str] | None = None,
        brought: Collection[str] = (),
    ) -> None:
        """`allowed` are the names that this turn's agent may ever use, None for all; `offered` those to begin with, None for
        all that are allowed. Names that the registry has not, and offers that are not allowed, are left out. `brought` are
        those that only something else can bring, as a skill brings the tool for its scripts: a call alone does not."""
        known = [tool.spec.name for tool in registry]
        self._allowed = frozenset(known if allowed is None else allowed)
        self._brought = frozenset(brought)
        self._registry = registry
        self._offered: frozenset[str] = frozenset()
        self._tools: Registry = registry
        self.offer(known if offered is None else offered)

    def offer(self, names: Iterable[str]) -> None:
        """Offer these from the next step on, as far as they are allowed."""
        more = self._offered | (self._allowed & frozenset(names))
        if more == self._offered and self._offered:
            return
        self._offered = more
        self._tools = self._registry.narrowed(more)

    def keep_to(self, names: Collection[str]) -> None:
        """Take back the offer of all others, for good: a turn that was told to call them again would never end."""
        self._allowed -= self._offered - frozenset(names)
        self._offered &= frozenset(names)
        self._tools = self._registry.narrowed(self._offered)

    def __iter__(self) -> Iterator[Tool]:
        """What is offered, in the registry's order."""
        return iter(self._tools)

    @property
    def allowed(self) -> frozenset[str]:
        return self._allowed

    @property
    def offered(self) -> frozenset[str]:
        return self._offered

    def is_missed(self, name: str) -> bool:
        """Whether a call by this permanent name is of a tool that is not on offer yet, and can be."""
        if name in self._offered or name in self._brought:
            return False
        return name in self._allowed and name in self._registry.names

    def find(self, name: str) -> Tool:
        """The offered tool of exactly this name, else ToolUnknown with every name that is offered."""
        return self._tools.find(name)
