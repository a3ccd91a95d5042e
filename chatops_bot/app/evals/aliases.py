"""People of a thread become `person1`, `person2`, … wherever something was said, and nowhere else.

Who they are is known from every entry of the thread, from its proposals, from whoever people or the model speak to with an
@, and from addresses of mail, also those that only a tool told. Replaced is prose: what people, the model and tools said. The
names of tools and of keys, states, and arguments that their tool takes from a list of words stay, also where somebody is
called like one.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from pydantic import ValidationError

from chatops_bot.domain.errors import ToolArgumentsInvalid
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.skill import LOAD_SKILL, RUN_SKILL_SCRIPT
from chatops_bot.domain.tool import CONSULT_AGENT, READ_RESULT
from chatops_bot.domain.transcript import (
    EarlierRead,
    Entry,
    FormClosed,
    FormFilled,
    ModelSaid,
    ProposalDecided,
    ToolReturned,
    TurnRested,
    UserSaid,
)
from chatops_bot.tools.validation import parse_object
from chatops_bot.toolsets.scheduler.toolset import SCHEDULER_SPECS

Known = tuple[str, str]
"""Somebody's id and name; either may be empty."""

_LETTER = "[0-9A-Z_a-z\u00aa\u00b5\u00ba\u00c0-\u0dff\u10a0-\u177f\u1800-\u1fff\u2c00-\u2dff]"
"""Letters and digits of scripts that put blanks between words."""
_CALLED = re.compile(r"(?<![\w@.])@(?P<name>[^\W\d_][\w.'’-]*(?: [A-ZÀ-Þ][\w.'’-]*){0,3})")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_NOBODY = frozenset(
    [
        "here",
        "channel",
        "everyone",
        "all",
        "hourly",
        "daily",
        "midnight",
        "weekly",
        "monthly",
        "yearly",
        "annually",
        "reboot",
    ]
)
"""What an @ stands before that calls no single person: groups, and the words of schedules."""
_LEAST_PART, _LEAST_DIGITS = 3, 6
_PARTICLES = frozenset(["and", "bin", "del", "den", "der", "des", "dos", "ibn", "ter", "the", "van", "von"])
_KEY = re.compile(r"[a-z_][a-z0-9_]*")
_ARGUMENTS = {spec.name: spec.arguments for spec in SCHEDULER_SPECS}
_NAMING = {
    LOAD_SKILL: ("name",), RUN_SKILL_SCRIPT: ("skill", "script"), READ_RESULT: ("handle",), CONSULT_AGENT: ("agent_id",)
}  # fmt: skip
"""Arguments that name a part of the program."""


@dataclass(frozen=True, slots=True)
class Aliases:
    """`by_name` is what each name became, as it is spelled and, for those of several words, in any case (folded)."""

    by_name: Mapping[str, str]
    pattern: re.Pattern[str] | None

    def text(self, text: str) -> str:
        """`text` without its people."""
        if self.pattern is None:
            return text
        return self.pattern.sub(lambda found: self._alias(found[0]), text)

    def _alias(self, found: str) -> str:
        folded = found.casefold()  # a few letters match without regard to case and yet fold to another one
        return self.by_name.get(found) or self.by_name.get(folded) or "somebody"

    def value(self, value: Any) -> Any:
        """A JSON value without its people. Keys that are words of a program stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            found: dict[str, Any] = {}
            for key, inner in value.items():
                name = key if _KEY.fullmatch(key) else self.text(key)
                while name in found:  # somebody's id and name may both be keys
                    name += "_"
                found[name] = self.value(inner)
            return found
        return [self.value(inner) for inner in value] if isinstance(value, list | tuple) else value

    def arguments(self, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call without people, as far as the tool takes an alias in their place."""
        kept = dict(given)
        fits = _accepted(tool, kept)
        for key, value in given.items():
            alias = self.value(value)
            if key not in _NAMING.get(tool, ()) and (not fits or _accepted(tool, kept | {key: alias})):
                kept[key] = alias
        return kept

    def entry(self, entry: Entry) -> Entry:
        """An entry as the same thing between other people."""
        match entry:
            case UserSaid():
                return replace(entry, text=self.text(entry.text))
            case EarlierRead():
                messages = (replace(each, text=self.text(each.text)) for each in entry.messages)
                return replace(entry, messages=tuple(messages))
            case ModelSaid():
                calls = (
                    replace(call, arguments=self._written_arguments(call.name, call.arguments))
                    for call in entry.calls
                )
                return replace(entry, text=self.text(entry.text), calls=tuple(calls))
            case ToolReturned():
                return replace(entry, content=self._content(entry.content))
            case TurnRested():
                return replace(entry, body=self.text(entry.body))
            case _:
                return entry

    def _written_arguments(self, tool: str, text: str) -> str:
        try:
            return json.dumps(self.arguments(tool, parse_object(text)), ensure_ascii=False)
        except ToolArgumentsInvalid:
            return self.text(text)

    def _content(self, text: str) -> str:
        try:
            return json.dumps(self.value(json.loads(text)), ensure_ascii=False)
        except ValueError:
            return self.text(text)

    def proposal(self, proposal: Proposal) -> Proposal:
        """A proposal with the same action on the same thing, told without people."""
        plan = proposal.plan
        summary = Phrase(self.text(plan.summary.zh), self.text(plan.summary.en))
        changes = tuple(
            replace(
                each,
                before=each.before and self.text(each.before),
                after=each.after and self.text(each.after),
            )
            for each in plan.changes
        )
        told = replace(plan, target=self.text(plan.target), summary=summary, changes=changes)
        return replace(proposal, arguments=self.arguments(proposal.tool, proposal.arguments), plan=told)


def aliases_of(
    entries: Sequence[Entry], proposals: Sequence[Proposal], elsewhere: Iterable[Known] = ()
) -> Aliases:
    """Aliases for everybody of a thread, in the order in which they come up, and for those known from `elsewhere`. One person has
    one alias, by id and by name; of names with several words each counts, but for those from elsewhere."""
    said = list(_prose(entries, proposals))
    prose = "\n".join(said).casefold()
    here = [
        *(known for entry in entries for known in _people(entry)),
        *_deciders(proposals),
        *_called(entries, said),
    ]
    strangers = [known for known in elsewhere if any(name and name.casefold() in prose for name in known)]
    numbers = _free_numbers(name for known in (*here, *strangers) for name in known)
    by_name: dict[str, str] = {}
    for at, known in enumerate((*here, *strangers)):
        names = [name for name in map(str.strip, known) if _tells(name)]
        if not names:
            continue
        alias = next((by_name[name] for name in names if name in by_name), "") or f"person{next(numbers)}"
        parts = [part for name in names for part in _parts(name)] if at < len(here) else []
        for name in (*names, *parts):
            for spelled in (name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))):
                by_name.setdefault(spelled, alias)
                if " " in spelled:
                    by_name.setdefault(spelled.casefold(), alias)
    ordered = sorted((name for name in by_name if name.casefold() in prose), key=len, reverse=True)
    return Aliases(by_name, re.compile("|".join(map(_at_borders, ordered))) if ordered else None)


def _free_numbers(names: Iterable[str]) -> Iterator[int]:
    """Numbers of aliases that no name holds, so that no alias is somebody's name."""
    digits = (found for name in names for found in re.findall(r"person(\d+)", name.casefold()))
    taken = {each[:length] for each in digits for length in range(1, len(each) + 1)}
    return (number for number in count(1) if str(number) not in taken)


def _people(entry: Entry) -> Iterator[Known]:
    match entry:
        case UserSaid():
            yield entry.author_id, entry.author_name
            yield from entry.mentioned.items()
        case EarlierRead():
            yield from (("", message.author) for message in entry.messages)
        case FormFilled():
            yield entry.author_id, entry.author_name
        case ProposalDecided() | FormClosed():
            yield "", entry.person_name
        case _:
            return


def _deciders(proposals: Sequence[Proposal]) -> Iterator[Known]:
    for each in proposals:
        yield each.requester_id, each.requester_name
        yield from ((vote.person_id, vote.person_name) for vote in each.votes)
        yield from ((reader.person_id, "") for reader in each.read_by)
        yield each.decided_by_id, each.decided_by_name
        yield each.kept_by_id, each.kept_by_name


def _called(entries: Sequence[Entry], prose: Iterable[str]) -> Iterator[Known]:
    """Whoever people or the model call with an @, and addresses of mail, which are names as well, whoever said them."""
    for text in (*_typed(entries), *_answered(entries)):
        called = (found["name"].rstrip(".'’-") for found in _CALLED.finditer(text))
        yield from (("", name) for name in called if name.lower() not in _NOBODY)
    for text in prose:
        yield from ((found[0], "") for found in _EMAIL.finditer(text))


def _prose(entries: Sequence[Entry], proposals: Sequence[Proposal]) -> Iterator[str]:
    """Everything in which a name may stand."""
    yield from (*_typed(entries), *_answered(entries))
    for entry in entries:
        match entry:
            case ModelSaid():
                yield from (_plainly(call.arguments) for call in entry.calls)
            case ToolReturned():
                yield _plainly(entry.content)
            case _:
                continue
    for plan in (each.plan for each in proposals):
        yield from (plan.target, plan.summary.zh, plan.summary.en)
        yield from (side or "" for change in plan.changes for side in (change.before, change.after))
    yield from (text for each in proposals for text in _strings(each.arguments))


def _typed(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        match entry:
            case UserSaid():
                yield entry.text
            case EarlierRead():
                yield from (message.text for message in entry.messages)
            case _:
                continue


def _answered(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        match entry:
            case ModelSaid():
                yield entry.text
            case TurnRested():
                yield entry.body
            case _:
                continue


def _plainly(text: str) -> str:
    """JSON without escapes in it, which would hide a name; other text as it is."""
    try:
        return "\n".join(_strings(json.loads(text)))
    except ValueError:
        return text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for each in pair for text in _strings(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in _strings(each))


def _tells(name: str) -> bool:
    """Whether a name stands for somebody: a short number may be any number."""
    letters = any(each.isalpha() for each in name)
    return letters or (name.isdecimal() and len(name) >= _LEAST_DIGITS)


def _parts(name: str) -> Iterator[str]:
    words = [re.sub(r"^\W+|\W+$", "", word) for word in name.split()]
    if len(words) > 1:
        yield from (
            word for word in words if len(word) >= _LEAST_PART and word.lower() not in _PARTICLES and _tells(word)
        )  # fmt: skip


def _at_borders(name: str) -> str:
    """A pattern for a name as a word. In scripts without blanks a name of several letters has no border to be found at."""
    if len(name) == 1 and not re.match(_LETTER, name):
        return rf"(?<!\w){re.escape(name)}(?!\w)"
    before = f"(?<!{_LETTER})" if re.match(_LETTER, name) else ""
    after = f"(?!{_LETTER})" if re.match(_LETTER, name[-1]) else ""
    spelled = re.escape(name)
    return f"{before}{f'(?i:{spelled})' if ' ' in name else spelled}{after}"


def _accepted(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a tool takes these arguments; one that this program does not have takes any."""
    model = _ARGUMENTS.get(tool)
    try:
        return model is None or bool(model.model_validate(arguments))
    except ValidationError:
        return False
