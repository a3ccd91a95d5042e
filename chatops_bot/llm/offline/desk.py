"""How a plan gets at facts: it asks, and either has the answer or says which call is missing.

A plan is written as straight code that runs anew at each model call of a turn. `Desk.ask` returns the result of a call
that this turn already made; otherwise it raises `Pending`, the call goes out, and the next run of the plan gets further.
So no plan keeps state, and what it does next follows from the messages alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.clocks import zone_label
from chatops_bot.domain.language import Language
from chatops_bot.domain.model import ToolDefinition
from chatops_bot.domain.skill import Skill
from chatops_bot.domain.tool import FIND_TOOLS
from chatops_bot.llm.offline import report
from chatops_bot.llm.offline.content import Content
from chatops_bot.llm.offline.conversation import Conversation, Result
from chatops_bot.llm.offline.decisions import WRITE_TOOLS
from chatops_bot.llm.offline.quoting import Reader


@dataclass(frozen=True, slots=True)
class Call:
    """One call to make. `arguments` is JSON text with sorted keys, so that equal calls are equal."""

    tool: str
    arguments: str


def call(tool: str, arguments: Mapping[str, Any]) -> Call:
    return Call(tool, canonical_json(dict(arguments)))


@dataclass(frozen=True, slots=True)
class Answer:
    """What to say, and the changes to propose with it."""

    text: str
    changes: tuple[Call, ...] = ()


class Pending(Exception):
    """The plan needs these calls before it can go on."""

    def __init__(self, calls: Sequence[Call]) -> None:
        super().__init__(", ".join(call.tool for call in calls))
        self.calls = tuple(calls)


class Told(Exception):
    """The plan ends early: there is nothing to do but to say this."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def sayable(conversation: Conversation) -> list[Skill]:
    """The skills whose names may be said here: where others read along, none that not everybody may see."""
    return [
        skill for skill in conversation.skills if not (conversation.is_shared and skill.audience.is_personal)
    ]


class Desk:
    """The facts of one turn and the tools that it may use."""

    def __init__(self, conversation: Conversation) -> None:
        self.language: Language = conversation.language
        now, clocks = conversation.now, conversation.clocks
        schedules = zone_label(clocks.scheduler) if now is not None and clocks.differ(now) else ""
        self.reader = Reader(conversation.language, now.tzinfo if now else None, schedules)
        self.skills = tuple(skill.name for skill in sayable(conversation))
        self._offered = conversation.offered
        self._results = {call(result.tool, result.arguments): result for result in conversation.results}

    def offers(self, tool: str) -> bool:
        return tool in self._offered

    @property
    def offers_anything(self) -> bool:
        """Whether calls may be made at all; without them a turn sums up what it has."""
        return bool(self._offered)

    def gather(self, *wanted: tuple[str, Mapping[str, Any]]) -> list[Result]:
        """The results of several reads, errors included. Raises Pending, or Told when a tool is not offered."""
        calls = [call(tool, self._fitted(tool, arguments)) for tool, arguments in wanted]
        missing = [one for one in calls if one not in self._results]
        for one in missing:
            if self._offered and one.tool not in self._offered:
                self._find(one.tool)
        if missing:
            raise Pending(missing)
        return [self._results[one] for one in calls]

    def ask(self, tool: str, **arguments: Any) -> Content:
        """The result of one read. Raises Pending, or Told when it failed or is not offered."""
        (result,) = self.gather((tool, arguments))
        if result.error:
            raise Told(report.tool_error(result, self.language))
        return result.content

    def propose(self, text: str, tool: str, **arguments: Any) -> Answer:
        """The change as a call to make; when this turn already made it, what came of that."""
        change = call(tool, self._fitted(tool, arguments))
        made = self._results.get(change)
        if made is not None:
            said = (
                report.tool_error(made, self.language)
                if made.error
                else report.proposed(tool, made.content, self.language)
            )
            return Answer(said)
        if not self.offers(tool):
            self._find(tool)
        return Answer(text, (change,))

    def _find(self, tool: str) -> NoReturn:
        """Ask for a tool that is not on offer, once; it is from the next step on, if there is one."""
        find = call(FIND_TOOLS, {"query": tool})
        if self.offers(FIND_TOOLS) and find not in self._results:
            raise Pending([find])
        raise Told(report.not_offered(tool, self.language))

    def _fitted(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """`arguments` with numbers brought inside the bounds that the tool's schema states."""
        definition = self._offered.get(tool)
        if definition is None or tool in WRITE_TOOLS:
            return arguments
        return {name: _bounded(value, definition, name) for name, value in arguments.items()}


def _bounded(value: Any, definition: ToolDefinition, name: str) -> Any:
    if not isinstance(value, int):
        return value
    properties = definition.parameters.get("properties", {})
    schema = properties.get(name, {}) if isinstance(properties, Mapping) else {}
    highest = schema.get("maximum") if isinstance(schema, Mapping) else None
    return min(value, highest) if isinstance(highest, int) else value


def hours_of(result: Result) -> int:
    """The window that a run query covered, as its arguments say."""
    hours = result.arguments.get("hours")
    return hours if isinstance(hours, int) else 24


def parsed(change: Call) -> Mapping[str, Any]:
    """The arguments of a call as values."""
    value: Mapping[str, Any] = json.loads(change.arguments)
    return value
