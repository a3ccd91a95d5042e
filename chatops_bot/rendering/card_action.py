"""What a proposal would do, as plain text: fields of one line, parts of several, and the record of what the digest covers.

It depends on nothing that changes in a proposal's life. A card shows all of it, or says exactly what it leaves to its pages
(`card_pages`); together they show every letter, with each character that people cannot see as an escape.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.tool import Change, Plan
from chatops_bot.domain.view import Fact
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.escapes import exact, exact_block
from chatops_bot.rendering.plan_words import field_words, value_words

FACT_CHARS = 300
"""A longer value is easier to read as a block."""
DIGEST_CHARS, CONTRACT_CHARS = 12, 16
"""As much of a hash as people compare."""
COMPARED_LINES = 400
"""Between more lines that differ at both ends, looking for what they share could take seconds; each side is then shown whole."""


@dataclass(frozen=True, slots=True)
class Part:
    """A text to be read to the letter, such as a script, a diff or the record."""

    label: str
    text: str

    @property
    def lines(self) -> int:
        return self.text.count("\n") + 1


@dataclass(frozen=True, slots=True)
class Action:
    """`summary` in one line; `changes` and `details` that are short, in order; `parts` that are long; the `record`."""

    summary: str
    is_new: bool
    changes: tuple[Fact, ...]
    details: tuple[Fact, ...]
    parts: tuple[Part, ...]
    record: tuple[str, ...]

    @property
    def fields(self) -> tuple[Fact, ...]:
        """Of a new thing, what it executes matters more than its settings."""
        return (*self.details, *self.changes) if self.is_new else (*self.changes, *self.details)


def action_of(proposal: Proposal, language: Language) -> Action:
    plan = proposal.plan
    is_new = all(change.before is None for change in plan.changes)
    return Action(
        summary=exact(plan.summary.said_in(language)),
        is_new=is_new,
        changes=tuple(
            Fact(field_words(change, language), _before_after(change, language, is_new=is_new))
            for change in plan.changes
            if not is_long(change.before, change.after)
        ),
        details=tuple(_short_details(plan, language)),
        parts=tuple(_long_parts(plan, language)),
        record=tuple(_record(proposal, language)),
    )


def is_long(*texts: str | None) -> bool:
    """Whether any of `texts` is too long, or of too many lines, for a field."""
    return any(text is not None and ("\n" in text or len(text) > FACT_CHARS) for text in texts)


def _one_line_json(
    value: Mapping[str, Any], details: Sequence[tuple[Phrase, str]], language: Language
) -> str:
    """One line of JSON. A long text that stands above, letter by letter, is named by its label instead of said again.

    The brackets around the label tell it from any value: `exact` escapes them in values.
    """
    above = {text: label for label, text in details if is_long(text)}
    members = []
    for key in sorted(value):
        item = value[key]
        label = above.get(item) if isinstance(item, str) else None
        said = exact(_dumped(item)) if label is None else f"⟨↑ {exact(label.said_in(language))}⟩"
        members.append(f"{exact(_dumped(key))}: {said}")
    return f"{{{', '.join(members)}}}"


def _dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _short_details(plan: Plan, language: Language) -> Iterator[Fact]:
    for label, text in plan.details:
        if not is_long(text):
            said = label.said_in(language)
            value = value_words(said, text, language)
            yield Fact(exact(said), value, is_code=value == exact(text))


def _long_parts(plan: Plan, language: Language) -> Iterator[Part]:
    for change in plan.changes:
        if is_long(change.before, change.after):
            yield Part(field_words(change, language), compared(change.before, change.after))
    for label, text in plan.details:
        if is_long(text):
            yield Part(exact(label.said_in(language)), exact_block(text))


def _before_after(change: Change, language: Language, *, is_new: bool) -> str:
    """Of a new thing there is no before to show."""
    label = field_words(change, language)
    before, after = (
        notices.NOTHING.said_in(language) if side is None else value_words(label, side, language)
        for side in (change.before, change.after)
    )
    return after if is_new else f"{before} → {after}"


def compared(before: str | None, after: str | None) -> str:
    """Two texts as one. Every line of both sides, unchanged ones too: nothing is left out of what an approver reads."""
    old, new = ([] if side is None else exact_block(side).split("\n") for side in (before, after))
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    middle = _told_apart(old[start : len(old) - end], new[start : len(new) - end])
    around = ([f"  {line}" for line in old[:start]], [f"  {line}" for line in old[len(old) - end :]])
    return "\n".join([*around[0], *middle, *around[1]])


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _told_apart(old: Sequence[str], new: Sequence[str]) -> list[str]:
    if len(old) + len(new) > COMPARED_LINES:
        return [*(f"- {line}" for line in old), *(f"+ {line}" for line in new)]
    lines: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines.extend(f"  {line}" for line in old[i:j])
        else:
            lines.extend(f"- {line}" for line in old[i:j])
            lines.extend(f"+ {line}" for line in new[k:m])
    return lines


def _record(proposal: Proposal, language: Language) -> Iterator[str]:
    """All that the digest covers, to the letter, a line each, for whoever checks."""
    plan, inverse = proposal.plan, proposal.plan.inverse
    lines = [
        (notices.TOOL, f"{exact(proposal.tool)} ({notices.EFFECTS[proposal.effect].said_in(language)})"),
        (notices.ARGUMENTS, _one_line_json(proposal.arguments, plan.details, language)),
        (notices.EXACT_TARGET, exact(plan.target)),
    ]
    if plan.preconditions:
        lines.append((notices.PRECONDITIONS, _one_line_json(plan.preconditions, plan.details, language)))
    if inverse is not None:
        told_later = {
            name: notices.OF_THE_RESULT.filled(key=key).said_in(language)
            for name, key in inverse.filled.items()
        }
        undo = f"{exact(inverse.tool)} {_one_line_json({**inverse.arguments, **told_later}, plan.details, language)}"
        lines.append((notices.INVERSE, undo))
    if proposal.may_repeat:
        lines.append((notices.REPEATS, exact(proposal.may_repeat)))
    lines += [
        (notices.REQUESTER, exact(proposal.requester_id)),
        (notices.SESSION, exact(str(proposal.session))),
        (notices.EXPIRY, proposal.expires_at.isoformat()),
    ]
    if proposal.quorum != 1:
        lines.append((notices.QUORUM, str(proposal.quorum)))
    if proposal.policy_version:
        lines.append((notices.RULES, exact(proposal.policy_version)))
    if proposal.tool_hash:
        lines.append((notices.CONTRACT, exact(proposal.tool_hash[:CONTRACT_CHARS])))
    lines.append((notices.PROPOSAL, f"{exact(proposal.id)}, {exact(proposal.digest[:DIGEST_CHARS])}"))
    return (f"{exact(label.said_in(language))}: {value}" for label, value in lines)
