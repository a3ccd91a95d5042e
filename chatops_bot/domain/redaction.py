"""Secrets never reach model, chat, log or audit: one table of rules, run before all four.

A match keeps its label and loses its value: `[redacted:slack-token]`. Configured secrets are matched in every form in which
programs spell them, whatever they look like. What any rule marks in the text as it came is hidden, so no rule depends on
what another one left.

A text that grows is redacted whole each time it is shown, less its last `held_back` characters.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.secret_forms import SHORTEST_SECRET, forms
from chatops_bot.domain.secret_rules import RULES, Rule

_Span = tuple[int, int, int]
"""Where a secret begins and ends, and the rank of what says so: the place of a rule in its table."""
_CONFIGURED = -1
_VISIBLE_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_REACH = 128
"""How far before a value its label may begin."""


class Redactor:
    """Replaces secrets in text. `secrets` are configured values to hide wherever they appear."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms = forms(secrets)
        self._configured = one_of(self._forms) if self._forms else None
        self._live: tuple[str, ...] = ()

    def also(self, secrets: Iterable[str]) -> "Redactor":
        """A redactor that hides these as well, just as they are spelled: cheap enough for what lives as long as a turn."""
        more = Redactor.__new__(Redactor)
        more._forms, more._configured = self._forms, self._configured
        more._live = (*self._live, *(secret for secret in secrets if len(secret) >= SHORTEST_SECRET))
        return more

    def text(self, text: str) -> str:
        """`text` with every secret replaced by a label; text without one comes back as it is."""
        spans = list(_rule_spans(text))
        if self._configured is not None:
            spans += (
                (found.start(), found.end(found.lastindex or 0), _CONFIGURED)
                for found in self._configured.finditer(text)
            )
        for secret in self._live:
            spans += _spans_of(secret, text)
        return _without(text, spans) if spans else text

    def phrase(self, phrase: Phrase) -> Phrase:
        """A phrase with both languages redacted."""
        return Phrase(self.text(phrase.zh), self.text(phrase.en))

    def value(self, value: Any) -> Any:
        """A JSON value with every string in it redacted, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def held_back(self, text: str) -> int:
        """How many characters at the end of a `text` that still grows may belong to a secret; the rest can be shown.

        A run of visible ASCII may, however long; so may the first characters behind a label, and the beginning of a
        configured secret that is no such run. All other secrets are recognised from their first character on.
        """
        run = len(text) - len(text.rstrip(_VISIBLE_ASCII))
        assigned = _ASSIGNED.search(text, max(0, len(text) - _REACH))
        return max(run, len(assigned.group()) if assigned else 0, self._begun(text))

    def may_end_in_a_secret(self, text: str) -> bool:
        """Whether what is held back of `text`, should nothing follow, is better never shown: it may be half a secret."""
        held = self.held_back(text)
        if not held:
            return False
        near = text[-held - _REACH :]
        return self._begun(text) >= _TELLING_CHARS or _hints().search(_lowered(near)) is not None

    def _begun(self, text: str) -> int:
        """How many characters at the end of `text` a configured secret begins with."""
        most = 0
        for form in (*self._forms, *self._live):
            size = min(len(form) - 1, len(text))
            while size > most and not text.endswith(form[:size]):
                size -= 1
            most = max(most, size)
        return most


_ASSIGNED = re.compile(
    r"[:=：＝>][\"'\\\s]*[^\s\"']{0,5}\Z|[:=：＝>]\s*\\*(?:\"[^\"\r\n]{0,6}|'[^'\r\n]{0,6})\Z"
)
_TELLING_CHARS = 4


def one_of(texts: Iterable[str]) -> re.Pattern[str]:
    """Finds each place where one of `texts` stands, the longest of them, overlapping or not.

    A match is the first character; the last group is the rest. Beginning with a character each is what makes it quick.
    """
    rests: dict[str, set[str]] = {}
    for text in texts:
        rests.setdefault(text[0], set()).add(text[1:])
    return re.compile("|".join(f"{re.escape(first)}(?=({_any(rest)}))" for first, rest in rests.items()))


def _any(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text))))


@cache
def _hints() -> re.Pattern[str]:
    return one_of(hint for rule in RULES for hint in rule.hints)


@cache
def _rules_at(hint: str) -> tuple[tuple[int, Rule], ...]:
    """The rules, with their rank, one of whose hints `hint` begins with."""
    return tuple((rank, rule) for rank, rule in enumerate(RULES) if hint.startswith(rule.hints))


def _lowered(text: str) -> str:
    """In lower case, character for character; U+0130 is the only one that two would take the place of."""
    return (text.replace("\u0130", "I") if "\u0130" in text else text).lower()


def _rule_spans(text: str) -> list[_Span]:
    """What the rules mark in `text`; of one rule no two overlap, so that none looks at a place twice."""
    low = _lowered(text)
    spans: list[_Span] = []
    ends: dict[int, int] = {}
    for found in _hints().finditer(low):
        start = found.start()
        for rank, rule in _rules_at(low[start] + found[found.lastindex or 0]):
            if start < ends.get(rank, 0):
                continue
            if rule.anywhere:
                ends[rank] = len(text)
                spans += ((*match.span(match.lastindex or 0), rank) for match in rule.pattern.finditer(text))
            elif match := rule.pattern.match(text, start):
                ends[rank] = match.end()
                spans.append((*match.span(match.lastindex or 0), rank))
    return spans


def _spans_of(secret: str, text: str) -> Iterator[_Span]:
    start = text.find(secret)
    while start >= 0:
        yield start, start + len(secret), _CONFIGURED
        start = text.find(secret, start + 1)


def _without(text: str, spans: Sequence[_Span]) -> str:
    """`text` with a label in the place of each of `spans`; those that overlap get one, of what begins first."""
    parts: list[str] = []
    end_of_hidden = 0
    for start, end, rank in sorted(spans, key=lambda span: (span[0], span[2])):
        if start >= end_of_hidden:
            parts += (text[end_of_hidden:start], _LABELS[rank])
        end_of_hidden = max(end_of_hidden, end)
    return "".join((*parts, text[end_of_hidden:]))


def _label(kind: str) -> str:
    """An assigned secret has its name in front of it; any other is named by its kind."""
    return "[redacted]" if kind == "assigned-secret" else f"[redacted:{kind}]"


_LABELS = {_CONFIGURED: _label("configured")} | {rank: _label(rule.label) for rank, rule in enumerate(RULES)}
