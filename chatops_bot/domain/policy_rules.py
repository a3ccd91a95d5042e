"""What one rule of a policy says, and which calls it is about.

A rule only takes away: nobody gets from a rule what their role does not give them. All rules that cover a call hold
together, so their order means nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from chatops_bot.domain.people import Effect, Person, Risk, Role


@dataclass(frozen=True, slots=True)
class Who:
    """People by id, by user group, by role; whoever is in one of them is meant. All empty means nobody."""

    people: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()

    def includes(self, person: Person) -> bool:
        return (
            person.id in self.people or person.role in self.roles or not person.groups.isdisjoint(self.groups)
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """Which calls something is about; what is empty leaves nothing out. `channels` are those where the call was asked for."""

    tools: frozenset[str] = frozenset()
    effects: frozenset[Effect] = frozenset()
    risks: frozenset[Risk] = frozenset()
    channels: frozenset[str] = frozenset()

    def covers(self, tool: str, effect: Effect, risk: Risk | None, channel: str) -> bool:
        """`risk` is None while a call is not planned yet: what depends on it is not about such a call."""
        return (
            (not self.tools or tool in self.tools)
            and (not self.effects or effect in self.effects)
            and (not self.risks or risk in self.risks)
            and (not self.channels or channel in self.channels)
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for the calls in `scope`. What is None leaves it at the roles.

    `ask` and `approve`: only these may. `deny`: these neither ask nor approve. `count`: so many must approve. `own`: whether
    whoever asked may be among them. `only_in`: asked for and decided in these channels alone. `remind_after` and `keep_for`
    as `Policy.reminder_after` and `keep_for`; `escalate` as `Policy.escalation`. `answer`: who else may fill in a form.
    `name` is where the rule stands, for sentences about it.
    """

    name: str = ""
    scope: Scope = field(default_factory=Scope)
    ask: Who | None = None
    approve: Who | None = None
    deny: Who = field(default_factory=Who)
    count: int = 1
    own: bool | None = None
    only_in: frozenset[str] | None = None
    answer: Who | None = None
    remind_after: timedelta | None = None
    escalate: Who = field(default_factory=Who)
    keep_for: timedelta | None = None


def canonical(value: Any) -> Any:
    """A frozen value as JSON values, the same whatever the order of what has none."""
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, tuple):
        return [canonical(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): canonical(item) for key, item in value.items()}
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None:
        return {name: canonical(getattr(value, name)) for name in fields if name != "name"}
    return value if value is None or isinstance(value, bool | int | str) else str(value)
