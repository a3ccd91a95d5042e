"""What happened in a thread besides messages, as dated lines: changes and what came of them, forms, skills that were loaded.

Only of what is out of the model's sight: the rest stands in the conversation at its place, and is not told twice. What still
waits is no event but open business, which the summary tells.
"""

from collections.abc import Collection, Iterator

from chatops_bot.context.hardening import inline
from chatops_bot.context.past import Past, Teller
from chatops_bot.context.prompt_phrases import filled
from chatops_bot.domain.canonical import object_of
from chatops_bot.domain.skill import LOAD_SKILL
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import (
    Entry,
    FormClosed,
    FormFilled,
    ModelSaid,
    ProposalDecided,
    ToolReturned,
)

TARGET_CHARS = 60
NAME_CHARS, OUTCOME_CHARS = 40, 80


def key_events(past: Past, teller: Teller, limit: int, skills: Collection[str] = ()) -> list[str]:
    """All of them, oldest first, each of at most `limit` characters. `skills` are the names of those that the asker may see."""
    calls = dict[tuple[str, str], ToolCall]()
    events: list[str] = []
    for _, entry in past.gone():
        if isinstance(entry, ModelSaid):
            calls |= {(entry.turn_id, call.id): call for call in entry.calls}
        elif isinstance(entry, ToolReturned):
            call = calls.get((entry.turn_id, entry.call_id))
            if call is not None and not past.trail.hides(entry.turn_id, call, skills):
                events += _loaded(entry, call, teller)
        else:
            events += _told(entry, teller)
    return [inline(teller.clean(each), limit) for each in events]


def _told(entry: Entry, teller: Teller) -> Iterator[str]:
    words = teller.words
    match entry:
        case ProposalDecided():
            yield _decided(entry, teller)
        case FormFilled():
            yield filled(
                words.filled,
                at=teller.at(entry.at),
                who=f"@{entry.author_id}",
                tool=teller.said(entry.tool, 64),
            )
        case FormClosed():
            yield filled(
                words.closed, at=teller.at(entry.at), tool=teller.said(entry.tool, 64), state=entry.state
            )


def _decided(entry: ProposalDecided, teller: Teller) -> str:
    """A change, in what state it came to rest, who decided it, and what came of it."""
    what = f"{entry.code} {entry.tool} {teller.quoted(entry.target, TARGET_CHARS)}"
    who = teller.quoted(entry.person_name, NAME_CHARS) or "-"
    line = filled(teller.words.decided, at=teller.at(entry.at), what=what, state=entry.state, who=who)
    more = (entry.outcome, entry.seen, f"↩ {entry.takes_back}" if entry.takes_back else "")
    parts = (teller.quoted(entry.reason, OUTCOME_CHARS), *(teller.said(each, OUTCOME_CHARS) for each in more))
    return "; ".join((line, *(each for each in parts if each)))


def _loaded(entry: ToolReturned, call: ToolCall, teller: Teller) -> Iterator[str]:
    if call.name != LOAD_SKILL or entry.status != "ok":
        return
    name = object_of(call.arguments).get("name")
    if isinstance(name, str):
        yield filled(teller.words.loaded, at=teller.at(entry.at), name=teller.said(name, 64))
