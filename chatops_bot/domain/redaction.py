"""Secrets never reach model, chat, log or audit: one table of rules, run before all four.

A match keeps its label and loses its value: `[redacted:slack-token]`. Configured secrets are matched in every form in which
programs spell them, whatever they look like. What any rule marks in the text as it came is hidden, so no rule depends on
what another one left.

A text that grows is redacted whole each time it is shown, less its last `held_back` characters.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from operator import is_
from typing import Any, TypeVar

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.literals import beginnings
from chatops_bot.domain.secret_forms import forms
from chatops_bot.domain.secret_rules import RULES

P = TypeVar("P", bound=Phrase)

Span = tuple[int, int, int]
"""Where a secret begins and ends, and the rank of what says so: the place of a rule in its table."""
_CONFIGURED = -1
_VISIBLE_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_REACH = 128
"""How far before a value its label may begin."""
_SHORT = 64
"""Characters of the longest text that is remembered as clean: keys, names of tools and people, lines that come again and again."""
_REMEMBERED = 4096


class Redactor:
    """Replaces secrets in text. `secrets` are configured values to hide wherever they appear."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._know(secrets)

    def _know(self, secrets: Iterable[str]) -> None:
        self._forms = forms(secrets)
        self._parted = tuple(form for form in self._forms if _PARTED.search(form))
        self._begins = beginnings(dict.fromkeys(self._forms, "")) if self._forms else None
        self._clean: set[str] = set()  # last, so that none is remembered here that was judged before

    def text(self, text: str) -> str:
        """`text` with every secret replaced by a label; text without one comes back as it is."""
        clean = self._clean
        if len(text) <= _SHORT and text in clean:
            return text
        spans = self.spans(text)
        if spans:
            return _without(text, spans)
        if len(text) <= _SHORT:
            if len(clean) >= _REMEMBERED:
                clean.clear()
            clean.add(text)
        return text

    def spans(self, text: str) -> list[Span]:
        """What in `text` is secret, in no order; parts may overlap."""
        spans = _rule_spans(text)
        if self._begins is not None:
            for found in self._begins.finditer(text):
                start = found.start()
                longest = next(form for form in self._forms if text.startswith(form, start))
                spans.append((start, start + len(longest), _CONFIGURED))
        return spans

    def phrase(self, phrase: P) -> P:
        """A phrase with both languages redacted, and whatever else it says as it was."""
        zh, en = self.text(phrase.zh), self.text(phrase.en)
        return phrase if zh == phrase.zh and en == phrase.en else replace(phrase, zh=zh, en=en)

    def value(self, value: Any) -> Any:
        """A JSON value with every string in it redacted, keys included; one without secrets comes back as it is."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            items = {self.text(str(key)): self.value(item) for key, item in value.items()}
            is_clean = len(items) == len(value) and all(map(is_, items.values(), value.values()))
            return value if is_clean and all(map(is_, items, value)) and type(value) is dict else items
        if isinstance(value, list | tuple):
            listed = [self.value(item) for item in value]
            return value if type(value) is list and all(map(is_, listed, value)) else listed
        return value

    def held_back(self, text: str) -> int:
        """How many characters at the end of a `text` that still grows may belong to a secret; the rest can be shown.

        A run of visible ASCII may, however long; so may the first characters behind a label, and the beginning of a
        configured secret that is no such run. All other secrets are recognised from their first character on.
        """
        run = len(text) - len(text.rstrip(_VISIBLE_ASCII))
        assigned = _ASSIGNED.search(text, max(0, len(text) - _REACH))
        held = max(run, len(assigned.group()) if assigned else 0, _begun(text, self._parted))
        while True:
            before = held
            for form in self._parted:
                at = text.find(form, max(0, len(text) - held - len(form) + 1))
                held = max(held, len(text) - at) if at >= 0 else held
            # Not from the middle of a run: a rule may know the run by its end. That may be the middle of a configured secret.
            held = len(text) - len(text[: len(text) - held].rstrip(_VISIBLE_ASCII))
            if held == before:
                return held

    def may_end_in_a_secret(self, text: str) -> bool:
        """Whether what is held back of `text`, should nothing follow, is better never shown: it may be half a secret."""
        held = self.held_back(text)
        if not held:
            return False
        near = text[-held - _REACH :]
        return _begun(text, self._forms) >= _TELLING_CHARS or _hints().search(_lowered(near)) is not None


def _begun(text: str, forms: Iterable[str]) -> int:
    """How many characters at the end of `text` one of `forms` begins with."""
    most = 0
    for form in forms:
        size = min(len(form) - 1, len(text))
        while size > most and not text.endswith(form[:size]):
            size -= 1
        most = max(most, size)
    return most


_PARTED = re.compile(r"[^!-~]")
"""A configured secret with such a character is no run of visible ASCII."""
_ASSIGNED = re.compile(
    r"[:=：＝>][\"'\\\s]*[^\s\"']{0,5}\Z|[:=：＝>]\s*\\*(?:\"[^\"\r\n]{0,6}|'[^'\r\n]{0,6})\Z"
)
_TELLING_CHARS = 4


@cache
def _hints() -> re.Pattern[str]:
    follows: dict[str, set[str]] = {}
    for rule in RULES:
        for hint, guard in rule.guards:
            follows.setdefault(hint, set()).add(guard)
    return beginnings({hint: "" if "" in ways else "|".join(sorted(ways)) for hint, ways in follows.items()})


@lru_cache(maxsize=4096)
def _rules_at(four: str) -> tuple[tuple[int, bool, re.Pattern[str]], ...]:
    """Rank, whether it is looked for anywhere, and pattern of each rule that has a hint where these four characters stand."""
    return tuple(
        (rank, rule.anywhere, rule.pattern)
        for rank, rule in enumerate(RULES)
        if four.startswith(rule.hints) or any(hint.startswith(four) for hint in rule.hints)
    )


def _lowered(text: str) -> str:
    """In lower case, character for character; only U+0130 would become two."""
    return (text.replace("\u0130", "I") if "\u0130" in text else text).lower()


def _rule_spans(text: str) -> list[Span]:
    """What the rules mark in `text`; of one rule no two overlap, so that none looks at a place twice."""
    low = text.lower() if text.isascii() else _lowered(text)
    if _hints().search(low) is None:
        return []
    spans: list[Span] = []
    ends = [0] * len(RULES)
    for found in _hints().finditer(low):
        start = found.start()
        for rank, anywhere, pattern in _rules_at(low[start : start + 4]):
            if start < ends[rank]:
                continue
            if anywhere:
                ends[rank] = len(text)
                spans += ((*match.span(match.lastindex or 0), rank) for match in pattern.finditer(text))
            elif match := pattern.match(text, start):
                ends[rank] = match.end()
                spans.append((*match.span(match.lastindex or 0), rank))
    return spans


def _without(text: str, spans: Sequence[Span]) -> str:
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
