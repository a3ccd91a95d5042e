"""What of a conversation a model does not see: turns that the window left out, and results of which only a note is sent.

The window works on messages, the canonical transcript has entries. A turn begins with a person's message or a filled form, and
the window leaves turns out whole, so counting them leads from one to the other.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from chatops_bot.context.hardening import inline
from chatops_bot.context.prompt_phrases import PastPhrases
from chatops_bot.context.skill_mask import SkillTrail
from chatops_bot.domain.model import Message, ToolMessage, UserMessage
from chatops_bot.domain.regex import regex
from chatops_bot.domain.transcript import Entry, FormFilled, UserSaid

READ_TIMES = 4
"""How much of a text is looked at for each character that is told of it; the rest could only follow a desert of blanks."""

ARROW = " → "
"""Between the parts of a line; no part has one of its own, nor one that looks like it."""
_ARROWS = regex("[→⇒⇨➔-➾⟶⟹⟼⭢￫]")
_WORD = re.compile("[!-~]*")
_QUOTES = str.maketrans(dict.fromkeys('“”„‟"＂〝〞〟「」『』«»', "'"))

Begins = UserSaid | FormFilled
"""What a turn begins with."""


@dataclass(frozen=True, slots=True)
class Past:
    """`entries` is the whole transcript, and `trail` which skills are in it; those before the place `upto` are out of sight, and so
    are the results of `calls`."""

    entries: Sequence[Entry]
    trail: SkillTrail
    upto: int = 0
    calls: frozenset[str] = frozenset()

    @property
    def is_all_seen(self) -> bool:
        return not self.upto and not self.calls

    def gone(self, turns: int | None = None) -> Iterator[tuple[int, Entry]]:
        """The entries that are out of sight, with their places; only those of the newest `turns`, if that is given."""
        begins = [place for place in range(self.upto) if isinstance(self.entries[place], Begins)]
        first = begins[-turns] if turns is not None and len(begins) > turns else 0
        return ((place, self.entries[place]) for place in range(first, self.upto))


def past_of(
    entries: Sequence[Entry], trail: SkillTrail, whole: Sequence[Message], sent: Sequence[Message]
) -> Past:
    """What is in `whole`, the projection of `entries`, and not in `sent`, which the window chose of it."""
    if sent is whole:
        return Past(entries, trail)
    turns = sum(isinstance(each, UserMessage) for each in whole)
    turns -= sum(isinstance(each, UserMessage) for each in sent)
    begins = [place for place, entry in enumerate(entries) if isinstance(entry, Begins)]
    was = {each.call_id: each.text for each in whole if isinstance(each, ToolMessage)}
    calls = (
        each.call_id for each in sent if isinstance(each, ToolMessage) and each.text != was[each.call_id]
    )
    return Past(entries, trail, begins[turns] if 0 < turns < len(begins) else 0, frozenset(calls))


@dataclass(frozen=True, slots=True)
class Teller:
    """Writes lines about the past: in one language, with times in one zone, secrets taken out by `clean` before anything is cut."""

    words: PastPhrases
    zone: tzinfo
    clean: Callable[[str], str] = str

    def said(self, text: str, limit: int) -> str:
        """As it stands between the marks of a line, none of which it can set itself."""
        return inline(_ARROWS.sub(">", self.begun(text, READ_TIMES * limit)), limit)

    def quoted(self, text: str, limit: int) -> str:
        """What people or things outside say, so that it cannot pass for what the bot did or was answered; empty for nothing."""
        said = self.said(text, limit).translate(_QUOTES)
        return f"“{said}”" if said else ""

    def begun(self, text: str, chars: int) -> str:
        """The first `chars` characters without secrets. Twice as much is searched for these, and to the end of a word, so that none is
        cut where it would not be known any more."""
        if len(text) > 2 * chars and (word := _WORD.match(text, 2 * chars)):
            text = text[: word.end()]
        return self.clean(text)[:chars]

    def at(self, moment: datetime) -> str:
        return f"{moment.astimezone(self.zone):%m-%d %H:%M}"


class Skimmer(Teller):
    """Writes the same lines roughly and with secrets in them: to be searched, never to be told."""

    def said(self, text: str, limit: int) -> str:
        return text[: 2 * limit]

    def quoted(self, text: str, limit: int) -> str:
        return text[: 2 * limit]
