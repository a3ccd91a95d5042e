"""What matters for the present request of the turns that a model does not see any more. Pure: the same past gives the same text.

First what still waits for somebody, then one line a turn: who asked what, what was looked up by which ids, what failed, what was
answered; last the numbers and names that no line holds. A line is told whole or not at all, the newest first, and those before
others that speak of what the request speaks of. Nothing is told that the asker may not see (`skill_mask`), and where nothing is
out of sight nothing is told, since the conversation itself says it better.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime

from chatops_bot.context.clearing import summary as gist
from chatops_bot.context.entities import WORD, entities_in
from chatops_bot.context.hardening import inline
from chatops_bot.context.past import ARROW, Begins, Past, Skimmer, Teller
from chatops_bot.context.prompt_phrases import filled
from chatops_bot.context.prompt_types import UserIntent
from chatops_bot.context.tool_routing import terms_of
from chatops_bot.context.waiting import waiting
from chatops_bot.domain.canonical import object_of
from chatops_bot.domain.regex import regex
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import (
    Entry,
    FormFilled,
    ModelSaid,
    ProposalDecided,
    ToolReturned,
    TurnRested,
    UserSaid,
)

ASKED_CHARS, ANSWER_CHARS, ERROR_CHARS, ID_CHARS = 120, 120, 60, 40
LINE_CHARS = 320
NAMED_CHARS = 200
"""What the last line may take, and what is kept free for it."""
MOST_TURNS = 100
"""Turns that are looked at, the newest; about four find room."""
NAMED_TURNS, SPOKEN_CHARS = 50, 480
"""Turns that are searched for numbers and names, and how far into what was said."""
CALLS, IDS = 4, 3
"""Calls of one turn that its line names, and arguments of one call."""
MISSES = 8
"""Lines that did not fit after which no more are tried."""
MARK_CHARS = 3
"""`| ` in front of a line where it stands in a prompt, and the break behind it."""
_RELATED = 2
"""Words that a line shares with the request to be preferred; one may be `task`."""
_ID_KEY, _PLAIN_ID = regex(r"[a-z_]{1,40}_id"), regex(r"[\w.@/-]+")
_USUAL = {TurnOutcome.ANSWERED, TurnOutcome.WAITING}


def summarise(
    history: Past,
    intent: UserIntent,
    max_chars: int = 800,
    *,
    teller: Teller,
    now: datetime,
    skills: Collection[str] = (),
    further: Sequence[str] = (),
) -> str:
    """Lines of together at most `max_chars` characters as they stand in a prompt; empty where nothing is out of sight.

    `skills` are the names of those that the asker may see; `further` are lines, oldest first, of what happened besides and is told
    nowhere else. What waited for an answer until `now` or before is over.
    """
    if history.is_all_seen:
        return ""
    kept: list[str] = []
    left = _take_open(waiting(history, teller, now), kept, max_chars, teller)
    turns = [*_turns(history)]
    skimmer = Skimmer(teller.words, teller.zone)
    searched = [*further, *(" ".join(_parts(history, turn, skimmer, skills)) for turn in turns)]
    is_related = _relation(intent.text)
    newest_first = range(len(searched) - 1, -1, -1)
    ranked = sorted(newest_first, key=lambda place: not is_related(searched[place]))

    def line(place: int) -> str:
        turn = place - len(further)
        return further[place] if turn < 0 else _line(_parts(history, turns[turn], teller, skills))

    chosen: dict[int, str] = {}
    room = _choose(ranked, line, chosen, left - NAMED_CHARS)
    kept += dict.fromkeys(chosen[place] for place in sorted(chosen, reverse=True))
    _take(_named(history, teller, kept), kept, room + NAMED_CHARS)
    return "\n".join(kept)


def _choose(ranked: Sequence[int], line: Callable[[int], str], chosen: dict[int, str], room: int) -> int:
    """Add the lines of those places of `ranked` that fit, and return the room that is left. A line is written only when its turn
    comes, and after `MISSES` that did not fit no more are."""
    missed = 0
    for place in ranked:
        if missed >= MISSES:
            break
        said = line(place)
        if not said or said in chosen.values():
            continue
        if len(said) + MARK_CHARS > room:
            missed += 1
            continue
        chosen[place] = said
        room -= len(said) + MARK_CHARS
    return room


def _take(lines: Sequence[str], kept: list[str], room: int) -> int:
    """Add those of `lines` that fit; returns the room that is left."""
    for line in lines:
        if line and len(line) + MARK_CHARS <= room and line not in kept:
            kept.append(line)
            room -= len(line) + MARK_CHARS
    return room


def _take_open(lines: Sequence[str], kept: list[str], room: int, teller: Teller) -> int:
    """As `_take`, for what waits: more than half of the room only for a single line, and how many found none is told."""
    if not lines:
        return room
    _take(lines, kept, min(room, max(room // 2, len(lines[0]) + MARK_CHARS)))
    left = room - sum(len(line) + MARK_CHARS for line in kept)
    if more := len(lines) - len(kept):
        left = _take([filled(teller.words.more_wait, count=str(more))], kept, left)
    return left


def _relation(text: str) -> Callable[[str], bool]:
    """Says of a line whether it speaks of what `text` speaks of: of a number or name in it, or of enough of its words."""
    words = terms_of(text)
    named = {value for values in entities_in(text).values() for value in values}
    spelled = "|".join(re.escape(value) for value in sorted(named))
    pattern = re.compile(rf"(?<![A-Za-z0-9_:.-])(?:{spelled})(?![A-Za-z0-9_:-])" if spelled else r"(?!)")

    def is_related(line: str) -> bool:
        folded = line.casefold()
        return pattern.search(line) is not None or sum(word in folded for word in words) >= _RELATED

    return is_related


def _turns(history: Past) -> Iterator[list[tuple[int, Entry]]]:
    """The entries of each turn that is out of sight, with their places, oldest first; the beginning comes first."""
    turns: dict[str, list[tuple[int, Entry]]] = {}
    for place, entry in history.gone(MOST_TURNS):
        if isinstance(entry, Begins):
            turns[entry.turn_id] = []
        if entry.turn_id in turns:
            turns[entry.turn_id].append((place, entry))
    yield from turns.values()


def _parts(
    history: Past, turn: Sequence[tuple[int, Entry]], teller: Teller, skills: Collection[str]
) -> list[str]:
    """What is told of a turn: who asked what, calls, what failed, the answer, and how it ended if not as usual."""
    trail = history.trail
    asked = answer = outcome = ""
    calls: dict[str, str] = {}
    failed: list[str] = []
    for place, entry in turn:
        match entry:
            case UserSaid() | FormFilled():
                asked = _asked(entry, teller)
            case ModelSaid():
                visible = (call for call in entry.calls if not trail.hides(entry.turn_id, call, skills))
                calls |= {call.id: _called(call, teller) for call in visible}
                answer = teller.said(trail.masked(place, entry, skills).text, ANSWER_CHARS) or answer
            case ToolReturned() if entry.status == "error" and entry.call_id in calls:
                failed.append(
                    f"{teller.said(entry.tool, 64)}: {teller.quoted(gist(entry.content), ERROR_CHARS)}"
                )
            case TurnRested() if entry.outcome not in _USUAL:
                outcome = filled(teller.words.ended, outcome=entry.outcome.value)
    made = list(dict.fromkeys(calls.values()))[:CALLS]
    return [asked, "; ".join(made), "; ".join(failed[:2]), answer, outcome]


def _asked(entry: Begins, teller: Teller) -> str:
    """Of a filled form only what it was for: that it was filled in is an event (`key_events`)."""
    if isinstance(entry, FormFilled):
        said = teller.said(entry.tool, 64)
    else:
        said = teller.quoted(entry.text, ASKED_CHARS)
    return filled(teller.words.asked, at=teller.at(entry.at), who=f"@{entry.author_id}", text=said)


def _called(call: ToolCall, teller: Teller) -> str:
    """The tool with the arguments that name what it was about; no other argument is repeated."""
    ids = [
        (key, str(value))
        for key, value in sorted(object_of(call.arguments).items())
        if (key == "name" or _ID_KEY.fullmatch(key)) and isinstance(value, str | int) and value != ""
    ]
    named = (
        f"{key}={(teller.said if _PLAIN_ID.fullmatch(value) else teller.quoted)(value, ID_CHARS)}"
        for key, value in ids[:IDS]
    )
    return " ".join((teller.said(call.name, 64), *named))


def _line(parts: Sequence[str]) -> str:
    return inline(ARROW.join(part for part in parts if part), LINE_CHARS)


def _named(history: Past, teller: Teller, kept: Sequence[str]) -> list[str]:
    """One line with the numbers and names that were spoken of and that no line of `kept` holds, the newest first."""
    seen = {value for line in kept for values in entities_in(line).values() for value in values}
    line = teller.words.named
    taken: list[str] = []
    room = NAMED_CHARS - MARK_CHARS - len(line)
    for _, entry in reversed([*history.gone(NAMED_TURNS)]):
        spoken = _spoken(entry)
        if seen.issuperset(
            value for values in entities_in(spoken[:SPOKEN_CHARS]).values() for value in values
        ):
            continue  # nothing new in it, so it need not be searched for secrets
        for kind, values in entities_in(teller.begun(spoken, SPOKEN_CHARS)).items():
            for value in values:
                more = inline(_spelled(kind, value), 80)
                if value in seen:
                    continue
                if len(more) + 2 > room:
                    return [f"{line}: {', '.join(taken)}"] if taken else []
                seen.add(value)
                taken.append(more)
                room -= len(more) + 2
    return [f"{line}: {', '.join(taken)}"] if taken else []


def _spelled(kind: str, value: str) -> str:
    return value if kind in ("name", WORD, "code") else f"#{value}" if kind == "number" else f"{kind} {value}"


def _spoken(entry: Entry) -> str:
    """What people read of an entry in the thread."""
    match entry:
        case UserSaid():
            return entry.text
        case TurnRested():
            return entry.body
        case ProposalDecided():
            return f"{entry.code} {entry.target} {entry.outcome}"
    return ""
