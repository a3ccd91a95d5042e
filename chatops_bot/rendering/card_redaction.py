"""A proposal without its secrets, as its card may show it. The stored action, which runs, keeps them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.proposal import Check, Proposal, Vote
from chatops_bot.domain.tool import Change, Inverse, Plan


def redacted(proposal: Proposal, redact: Callable[[str], str]) -> Proposal:
    """Every text that did not originate here goes through `redact`; ids, code, hashes and moments stay.

    Whole values are redacted, before anything is cut, escaped or put into JSON: a secret's shape is intact only there.
    """
    session = proposal.session
    return replace(
        proposal,
        tool=redact(proposal.tool),
        arguments=_json(proposal.arguments, redact),
        plan=_plan(proposal.plan, redact),
        session=replace(session, channel=redact(session.channel), thread=redact(session.thread)),
        requester_id=redact(proposal.requester_id),
        requester_name=redact(proposal.requester_name),
        votes=tuple(_vote(vote, redact) for vote in proposal.votes),
        decided_by_id=redact(proposal.decided_by_id),
        decided_by_name=redact(proposal.decided_by_name),
        decided_by_role=redact(proposal.decided_by_role),
        reason=redact(proposal.reason),
        outcome=_json(proposal.outcome, redact),
        outcome_text=redact(proposal.outcome_text),
        checks=tuple(_check(check, redact) for check in proposal.checks),
        kept_by_name=redact(proposal.kept_by_name),
    )


def _plan(plan: Plan, redact: Callable[[str], str]) -> Plan:
    return replace(
        plan,
        target=redact(plan.target),
        summary=_phrase(plan.summary, redact),
        changes=tuple(
            Change(redact(change.field), _json(change.before, redact), _json(change.after, redact))
            for change in plan.changes
        ),
        preconditions=_json(plan.preconditions, redact),
        details=tuple((_phrase(label, redact), redact(text)) for label, text in plan.details),
        inverse=plan.inverse and _inverse(plan.inverse, redact),
    )


def _inverse(inverse: Inverse, redact: Callable[[str], str]) -> Inverse:
    return replace(
        inverse, tool=redact(inverse.tool), arguments=_json(inverse.arguments, redact), summary=_phrase(inverse.summary, redact)
    )  # fmt: skip


def _vote(vote: Vote, redact: Callable[[str], str]) -> Vote:
    return replace(
        vote, person_id=redact(vote.person_id), person_name=redact(vote.person_name), role=redact(vote.role),
        break_glass=redact(vote.break_glass),
    )  # fmt: skip


def _check(check: Check, redact: Callable[[str], str]) -> Check:
    return replace(check, summary_zh=redact(check.summary_zh), summary_en=redact(check.summary_en))


def _phrase(phrase: Phrase, redact: Callable[[str], str]) -> Phrase:
    return Phrase(redact(phrase.zh), redact(phrase.en))


def _json(value: Any, redact: Callable[[str], str]) -> Any:
    """A JSON value with every string in it redacted, keys too. Keys that become alike are numbered, so none is lost."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        members: dict[str, Any] = {}
        for key, item in value.items():
            shown, number = redact(key), 1
            name = shown
            while name in members:
                number += 1
                name = f"{shown} ({number})"
            members[name] = _json(item, redact)
        return members
    if isinstance(value, list | tuple):
        return [_json(item, redact) for item in value]
    return value
