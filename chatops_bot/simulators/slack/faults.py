"""Faults that a driver asks for: which calls and which events go wrong, how, and how often.

A rule waits until it matches, spends itself `times` times and is gone. Rules live in memory: a restart clears them.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from chatops_bot.simulators.slack.identity import CallerKind

Json = dict[str, Any]

CallFault = Literal["reset_before", "reset_after", "ratelimited", "error", "status", "truncated", "delay"]
EventFault = Literal["drop", "duplicate", "twice", "delay"]
Who = Literal["bot", "people", "all"]
MAX_RULES = 200


@dataclass(slots=True)
class CallRule:
    """`method` may hold wildcards; `arguments` must be among the call's; the first `after` matching calls pass."""

    method: str
    fault: CallFault
    times: int = 1
    after: int = 0
    who: Who = "bot"
    arguments: Mapping[str, str] = field(default_factory=dict)
    error: str = "internal_error"
    status: int = 503
    seconds: float = 1.0
    id: int = 0

    def concerns(self, method: str, kind: CallerKind, arguments: Mapping[str, Any]) -> bool:
        mine = self.who == "all" or (kind == "person") == (self.who == "people")
        return (
            mine
            and fnmatchcase(method, self.method)
            and all(str(arguments.get(name)) == value for name, value in self.arguments.items())
        )


@dataclass(slots=True)
class EventRule:
    """`event` is a type, or a type and a subtype joined by a dot; it may hold wildcards."""

    event: str
    fault: EventFault
    times: int = 1
    after: int = 0
    seconds: float = 1.0
    id: int = 0

    def concerns(self, event: Json) -> bool:
        kind = str(event.get("type"))
        return fnmatchcase(kind, self.event) or fnmatchcase(f"{kind}.{event.get('subtype')}", self.event)


Rule = CallRule | EventRule


class Faults:
    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self._ids = itertools.count(1)

    def add(self, rule: Rule) -> None:
        rule.id = next(self._ids)
        self._rules = [*self._rules, rule][-MAX_RULES:]

    def rules(self) -> list[Rule]:
        """Those that have not spent themselves, in the order in which they are asked."""
        return list(self._rules)

    def clear(self, rule_id: int | None = None) -> int:
        """Take away one rule, or all; returns how many there were."""
        kept = [rule for rule in self._rules if rule_id is not None and rule.id != rule_id]
        cleared = len(self._rules) - len(kept)
        self._rules = kept
        return cleared

    def for_call(self, method: str, kind: CallerKind, arguments: Mapping[str, Any]) -> CallRule | None:
        """The first rule that hits this call, which uses it up by one."""
        for rule in self._rules:
            if isinstance(rule, CallRule) and rule.concerns(method, kind, arguments) and self._spend(rule):
                return rule
        return None

    def for_event(self, event: Json) -> EventRule | None:
        """As `for_call`, for one delivery of an event."""
        for rule in self._rules:
            if isinstance(rule, EventRule) and rule.concerns(event) and self._spend(rule):
                return rule
        return None

    def _spend(self, rule: Rule) -> bool:
        if rule.after:
            rule.after -= 1
            return False
        rule.times -= 1
        if not rule.times:
            self._rules = [other for other in self._rules if other is not rule]
        return True
