"""What a transcript tells of skills to somebody who may not see them: nothing that people have not read in the thread anyway.

One thread has several people, and what a skill said to one of them stands in its transcript for good, not only where it was
loaded: in the reasoning and the calls of a model that had read it, in the answer of an agent that was consulted, in what
`read_result` gave back. So each turn sees what its own asker may see, by a closure over the whole transcript:

- a model message knows the skills that its turn was told of, and has read those that its turn had read by then;
- a call has in it what its message had read, the skill that it names, and what its result brought; one of `read_result` has
  what the result has that it reads.

What a hidden skill is in, is taken out. Of a message whose model knew of one, that is its reasoning and whatever else was
not shown. Its text, as people saw it, stays. The transcript itself is never changed.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from chatops_bot.domain.canonical import canonical_json, object_of
from chatops_bot.domain.model import Reasoning
from chatops_bot.domain.skill import LOAD_SKILL, RUN_SKILL_SCRIPT
from chatops_bot.domain.tool import CONSULT_AGENT, READ_RESULT, ToolCall
from chatops_bot.domain.transcript import Entry, ModelSaid, ToolReturned

_NAMED_BY = {LOAD_SKILL: "name", RUN_SKILL_SCRIPT: "skill"}
"""The argument that names the skill, by tool."""
_UNREADABLE = "?"
"""Stands for the skill of a call that names none that could be read: no skill has this name, so nobody sees it."""
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Trace:
    """Of one call: `read` are the skills whose words are in it or its result, `told` those that its model knew of."""

    read: frozenset[str]
    told: frozenset[str]


class SkillTrail:
    """Which skills are in which calls of a transcript."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._messages: dict[int, frozenset[str]] = {}
        self._calls: dict[tuple[str, str], _Trace] = {}
        turns: dict[str, frozenset[str]] = {}
        results = {(e.turn_id, e.call_id): e for e in entries if isinstance(e, ToolReturned)}
        newest: dict[str, frozenset[str]] = {}
        for number, entry in enumerate(entries):
            if not isinstance(entry, ModelSaid):
                continue
            before = turns.get(entry.turn_id, _NOTHING).union(entry.skills_read)
            self._messages[number] = before.union(entry.skills_told)
            brought = before
            for call in entry.calls:
                place = (entry.turn_id, call.id)
                result = results.get(place)
                read = before.union(_named(call), () if result is None else result.skills_read)
                if call.name == READ_RESULT:
                    read |= newest.get(_argument(call, "handle") or "", _NOTHING)
                self._calls[place] = _Trace(read, frozenset(entry.skills_told))
                newest[call.id] = read
                if result is not None and result.status == "ok":
                    brought |= read
                elif result is not None:
                    # an error of a skill that the model knew of tells of it as well, such as the names of its scripts
                    brought |= _named(call).intersection(entry.skills_told)
            turns[entry.turn_id] = brought
        self._read = _NOTHING.union(*turns.values())

    def read_of(self, skills: Collection[str]) -> frozenset[str]:
        """Those of `skills` whose words are anywhere in the transcript."""
        return self._read.intersection(skills)

    def masked(self, number: int, entry: ModelSaid, skills: Collection[str]) -> ModelSaid:
        """What somebody who may see `skills` alone sees of the entry of this number; `entry` itself if that is all of it."""
        knew_of = self._messages[number].difference(skills)
        hidden = {call.id for call in entry.calls if self.hides(entry.turn_id, call, skills)}
        if not knew_of and not hidden:
            return entry
        calls = tuple(
            ToolCall(call.id, call.name, _masked_arguments(call) if call.id in hidden else call.arguments)
            for call in entry.calls
        )
        text = entry.shown if knew_of and entry.shown is not None else entry.text
        return replace(entry, text=text, reasoning=Reasoning(), calls=calls)

    def hides(self, turn_id: str, call: ToolCall, skills: Collection[str]) -> bool:
        """Whether a call and its result are out of sight of somebody who may see `skills` alone."""
        trace = self._calls.get((turn_id, call.id))
        if trace is None or trace.read.difference(skills):
            return True
        hidden = trace.told.difference(skills)
        return bool(hidden) and (call.name == CONSULT_AGENT or _mentions(call.arguments, hidden))


def is_about(call: ToolCall, skills: Collection[str]) -> bool:
    """Whether a call asks for a skill that is not among `skills`, so that it reads as one for a skill that does not exist."""
    return bool(_named(call).difference(skills))


def _masked_arguments(call: ToolCall) -> str:
    argument = _NAMED_BY.get(call.name)
    return canonical_json({argument: _UNREADABLE} if argument else {})


def _named(call: ToolCall) -> frozenset[str]:
    """The skill that a call is about."""
    argument = _NAMED_BY.get(call.name)
    return _NOTHING if argument is None else frozenset({_argument(call, argument) or _UNREADABLE})


def _argument(call: ToolCall, name: str) -> str | None:
    value = object_of(call.arguments).get(name)
    return value if isinstance(value, str) else None


def _mentions(arguments: str, names: Iterable[str]) -> bool:
    folded = arguments.casefold()
    return any(name.casefold() in folded for name in names)
