"""Cards: a proposal with everything that an approver decides about, later with what came of it; and a task that failed.

A proposal's card is a function of the stored proposal, so that drawing it again after a restart gives the same card. It
reads from the top: what came of it, what changes on what for whom, what will be executed, the buttons. What the digest
covers stands on it whole (tool, arguments, target, the facts it rests on, requester, conversation, expiry), most of it in
one quiet block at the end. All of it is plain text, with every character that people can't see shown as an escape.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from chatops_bot.domain.alert import TaskFailed
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Risk
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.tool import Change, Plan
from chatops_bot.domain.view import (
    Block,
    Button,
    Buttons,
    Code,
    Confirm,
    Fact,
    Facts,
    Heading,
    Lines,
    Mention,
    Notice,
    Tone,
    View,
)
from chatops_bot.rendering import notices
from chatops_bot.rendering.escapes import exact, exact_block, inert
from chatops_bot.rendering.followup_buttons import followup_buttons
from chatops_bot.rendering.graphemes import clip
from chatops_bot.rendering.plan_words import field_words, target_words, value_words

HEADING_CHARS = 150
CONFIRM_CHARS = 300
"""Slack's limits for a header and for a confirm dialog. What they clip stands whole in the facts."""
FACT_CHARS = 300
"""A longer value is easier to read as a block."""
DIGEST_CHARS = 12

_SENTENCES: dict[ProposalState, tuple[Phrase, Tone]] = {
    ProposalState.APPROVED: (notices.APPROVED, "info"),
    ProposalState.CLAIMED: (notices.CLAIMED, "info"),
    ProposalState.APPLIED: (notices.APPLIED, "good"),
    ProposalState.FAILED: (notices.APPLY_FAILED, "danger"),
    ProposalState.OUTCOME_UNKNOWN: (notices.OUTCOME_UNKNOWN, "danger"),
    ProposalState.DRIFTED: (notices.DRIFTED, "warning"),
    ProposalState.REJECTED: (notices.REJECTED, "info"),
    ProposalState.EXPIRED: (notices.EXPIRED, "info"),
    ProposalState.SUPERSEDED: (notices.SUPERSEDED, "info"),
}

_SAID_BY_RESULT = frozenset({ProposalState.APPLIED, ProposalState.EXPIRED})
"""States whose result of one line says all that the sentence would, and more."""
_TOLD_BY_SENTENCE = _SAID_BY_RESULT | {ProposalState.REJECTED}
"""States whose sentence says all that a result of one line would: what was done, or that nothing was."""


def proposal_card(
    proposal: Proposal,
    *,
    approver_configured: bool = True,
    approver_mentions: tuple[str, ...] = (),
    redact: Callable[[str], str] = str,
) -> View:
    """The card of `proposal` in its language, for the state it is in.

    A pending card calls `approver_mentions` (platform ids), and says so when nobody is configured who could approve.
    `redact` takes the secrets out of a text; every text that did not originate here goes through it, one by one.
    """
    proposal = _redacted(proposal, redact)
    language: Language = "zh" if proposal.language == "zh" else "en"
    state = proposal.state
    heading = _heading(proposal, language)
    blocks: list[Block] = [Heading(heading)]
    if state is not ProposalState.PENDING:
        blocks.extend(_outcome(proposal, language))
    blocks.append(Facts((*_decision(proposal, language), *_glance(proposal, language))))
    blocks.extend(_long_parts(proposal.plan, language))
    if state is ProposalState.PENDING:
        blocks.extend(_controls(proposal, language, approver_configured, approver_mentions))
    blocks.append(_record(proposal, language))
    return View(tuple(blocks), inert(heading))


def _redacted(proposal: Proposal, redact: Callable[[str], str]) -> Proposal:
    """`proposal` as its card may show it. What this program made itself (id, code, digest, moments) stays.

    Whole values are redacted, before anything is cut, escaped or put into JSON: a secret's shape is intact only there.
    """
    plan, session = proposal.plan, proposal.session
    return replace(
        proposal,
        tool=redact(proposal.tool),
        arguments=_redacted_json(proposal.arguments, redact),
        plan=replace(
            plan,
            target=redact(plan.target),
            summary=_redacted_phrase(plan.summary, redact),
            changes=tuple(
                Change(
                    redact(change.field),
                    _redacted_json(change.before, redact),
                    _redacted_json(change.after, redact),
                )
                for change in plan.changes
            ),
            preconditions=_redacted_json(plan.preconditions, redact),
            details=tuple((_redacted_phrase(label, redact), redact(text)) for label, text in plan.details),
        ),
        session=replace(session, channel=redact(session.channel), thread=redact(session.thread)),
        requester_id=redact(proposal.requester_id),
        requester_name=redact(proposal.requester_name),
        decided_by_id=redact(proposal.decided_by_id),
        decided_by_name=redact(proposal.decided_by_name),
        decided_by_role=redact(proposal.decided_by_role),
        outcome=_redacted_json(proposal.outcome, redact),
        outcome_text=redact(proposal.outcome_text),
    )


def _redacted_phrase(phrase: Phrase, redact: Callable[[str], str]) -> Phrase:
    return Phrase(redact(phrase.zh), redact(phrase.en))


def _redacted_json(value: Any, redact: Callable[[str], str]) -> Any:
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
            members[name] = _redacted_json(item, redact)
        return members
    if isinstance(value, list | tuple):
        return [_redacted_json(item, redact) for item in value]
    return value


def moment_text(moment: datetime) -> str:
    """A moment to the second with its offset: `2026-11-29 14:02:00 UTC`, `2026-11-29 22:02:00 UTC+08:00`."""
    return f"{moment:%Y-%m-%d %H:%M:%S} {_zone(moment)}"


def _zone(moment: datetime) -> str:
    offset = moment.isoformat(timespec="seconds")[19:]
    return f"UTC{'' if offset == '+00:00' else offset}"


def _clock(moment: datetime, since: datetime) -> str:
    """The time to the minute; with the date where that is another one than `since`."""
    same_day = moment.date() == since.astimezone(moment.tzinfo).date()
    return f"{moment:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}} {_zone(moment)}"


def _heading(proposal: Proposal, language: Language) -> str:
    phrase = notices.CARD_HEADINGS[proposal.state.value]
    named = phrase.filled(summary=exact(proposal.plan.summary.said_in(language)))
    return clip(named.said_in(language), HEADING_CHARS)


def _glance(proposal: Proposal, language: Language) -> Iterator[Fact]:
    """What changes, on what, for whom, how risky, until when. Once decided, a short reminder of it."""
    plan = proposal.plan
    is_pending = proposal.state is ProposalState.PENDING
    is_new = all(change.before is None for change in plan.changes)
    summary = exact(plan.summary.said_in(language))
    if not _heading(proposal, language).endswith(summary):
        yield Fact(notices.WHAT.said_in(language), summary)
    details = _short_details(plan, language) if is_pending else ()
    changes = [
        Fact(field_words(change, language), _before_after(change, language, is_new=is_new))
        for change in plan.changes
        if not _is_long(change.before, change.after)
    ]
    # Of a new thing, what it executes matters more than its settings.
    yield from (*details, *changes) if is_new else (*changes, *details)
    yield Fact(notices.TARGET.said_in(language), target_words(plan.target, language))
    yield Fact(notices.ASKED_BY.said_in(language), exact(proposal.requester_name))
    if is_pending:
        yield Fact(notices.RISK.said_in(language), notices.RISKS[proposal.risk].said_in(language))
        yield Fact(notices.EXPIRES.said_in(language), _expiry(proposal, language))


def _short_details(plan: Plan, language: Language) -> Iterator[Fact]:
    for label, text in plan.details:
        if not _is_long(text):
            said = label.said_in(language)
            value = value_words(said, text, language)
            yield Fact(exact(said), value, is_code=value == exact(text))


def _expiry(proposal: Proposal, language: Language) -> str:
    """Counted from the request, not from now: a card is not drawn anew every minute, and a stale countdown misleads."""
    minutes = round((proposal.expires_at - proposal.created_at).total_seconds() / 60)
    time = _clock(proposal.expires_at, proposal.created_at)
    return notices.EXPIRES_AT.filled(time=time, minutes=minutes).said_in(language)


def _long_parts(plan: Plan, language: Language) -> Iterator[Block]:
    """Changes and details that are easier to read as blocks: a diff each, a text each."""
    for change in plan.changes:
        if _is_long(change.before, change.after):
            yield Code(_diff(change.before, change.after), field_words(change, language))
    for label, text in plan.details:
        if _is_long(text):
            yield Code(exact_block(text), exact(label.said_in(language)))


def _is_long(*texts: str | None) -> bool:
    return any(text is not None and ("\n" in text or len(text) > FACT_CHARS) for text in texts)


def _before_after(change: Change, language: Language, *, is_new: bool) -> str:
    """Of a new thing there is no before to show."""
    label = field_words(change, language)
    before, after = (
        notices.NOTHING.said_in(language) if side is None else value_words(label, side, language)
        for side in (change.before, change.after)
    )
    return after if is_new else f"{before} → {after}"


def _record(proposal: Proposal, language: Language) -> Code:
    """All that the digest covers and nothing at a glance shows to the letter, one line each, for whoever checks."""
    plan = proposal.plan
    lines = [
        (notices.TOOL, f"{exact(proposal.tool)} ({notices.EFFECTS[proposal.effect].said_in(language)})"),
        (notices.ARGUMENTS, _json(proposal.arguments, plan.details, language)),
    ]
    if plan.preconditions:
        lines.append((notices.PRECONDITIONS, _json(plan.preconditions, plan.details, language)))
    if proposal.state is not ProposalState.PENDING:
        lines += [(label, exact(text)) for label, text in plan.details if not _is_long(text)]
    lines += [
        (notices.REQUESTER, exact(proposal.requester_id)),
        (notices.SESSION, exact(str(proposal.session))),
        (notices.EXPIRY, proposal.expires_at.isoformat()),
    ]
    if proposal.decided_by_id:
        lines.append((notices.DECIDER, exact(proposal.decided_by_id)))
    lines.append((notices.PROPOSAL, f"{exact(proposal.id)}, {exact(proposal.digest[:DIGEST_CHARS])}"))
    said = (f"{exact(label.said_in(language))}: {value}" for label, value in lines)
    return Code("\n".join(said), notices.RECORD.said_in(language))


def _json(value: Mapping[str, Any], details: Sequence[tuple[Phrase, str]], language: Language) -> str:
    """One line of JSON. A long text that stands above, letter by letter, is named by its label instead of said again.

    The brackets around the label tell it from any value: `exact` escapes them in values.
    """
    above = {text: label for label, text in details if _is_long(text)}
    members = []
    for key in sorted(value):
        item = value[key]
        label = above.get(item) if isinstance(item, str) else None
        said = exact(_dumped(item)) if label is None else f"⟨↑ {exact(label.said_in(language))}⟩"
        members.append(f"{exact(_dumped(key))}: {said}")
    return f"{{{', '.join(members)}}}"


def _dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _diff(before: str | None, after: str | None) -> str:
    """Every line of both sides, unchanged ones too: nothing is left out of what an approver reads."""
    old, new = ([] if side is None else exact_block(side).split("\n") for side in (before, after))
    lines: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines.extend(f"  {line}" for line in old[i:j])
        else:
            lines.extend(f"- {line}" for line in old[i:j])
            lines.extend(f"+ {line}" for line in new[k:m])
    return "\n".join(lines)


def _controls(
    proposal: Proposal, language: Language, approver_configured: bool, approver_mentions: tuple[str, ...]
) -> list[Block]:
    confirm = _confirm(proposal, language) if proposal.risk is Risk.HIGH else None
    approve, reject = notices.APPROVE.said_in(language), notices.REJECT.said_in(language)
    typed = notices.TYPE_TO_DECIDE.filled(code=exact(proposal.code)).said_in(language)
    blocks: list[Block] = []
    if not approver_configured:
        blocks.append(Notice(notices.NO_APPROVER.said_in(language), "warning"))
    if approver_mentions:
        blocks.append(Mention(approver_mentions, notices.PLEASE_DECIDE.said_in(language)))
    buttons = (
        Button(
            "approve", approve, proposal.id, "primary", confirm, command=f"approve {exact(proposal.code)}"
        ),
        Button("reject", reject, proposal.id, "danger", command=f"reject {exact(proposal.code)}"),
    )
    return [*blocks, Buttons(buttons), Lines((typed,))]


def _confirm(proposal: Proposal, language: Language) -> Confirm:
    text = notices.CONFIRM_TEXT.filled(summary=clip(exact(proposal.plan.summary.said_in(language)), 180))
    return Confirm(
        title=notices.CONFIRM_TITLE.said_in(language),
        text=clip(text.said_in(language), CONFIRM_CHARS),
        accept=notices.APPROVE.said_in(language),
        cancel=notices.CANCEL.said_in(language),
    )


def _outcome(proposal: Proposal, language: Language) -> Iterator[Block]:
    """What came of it. A result of one line stands alone where all went well."""
    state, result = proposal.state, proposal.outcome_text
    phrase, tone = _SENTENCES[state]
    time = _clock(proposal.expires_at, proposal.created_at)
    sentence = phrase.filled(target=target_words(proposal.plan.target, language), time=time).said_in(language)
    is_told = bool(result) and not _is_long(result)
    yield Notice(exact(result) if is_told and state in _SAID_BY_RESULT else sentence, tone)
    if _is_long(result):
        yield Code(exact_block(result), notices.RESULT.said_in(language))
    elif is_told and state not in _TOLD_BY_SENTENCE:
        yield Facts((Fact(notices.RESULT.said_in(language), exact(result)),))
    if state is ProposalState.DRIFTED and proposal.outcome:
        yield Code(_json(proposal.outcome, (), language), notices.DRIFT_FOUND.said_in(language))


def _decision(proposal: Proposal, language: Language) -> Iterator[Fact]:
    if proposal.decided_by_id and proposal.decided_at is not None:
        rejected = proposal.state is ProposalState.REJECTED
        label = notices.REJECTED_BY if rejected else notices.APPROVED_BY
        decided = notices.DECIDED.filled(
            name=exact(proposal.decided_by_name),
            role=exact(proposal.decided_by_role),
            time=_clock(proposal.decided_at, proposal.created_at),
        )
        yield Fact(label.said_in(language), decided.said_in(language))


def alert_card(failure: TaskFailed, language: Language, followups: Sequence[tuple[str, str]] = ()) -> View:
    """The card of a run that failed for good. `followups` are (question, opaque value of its button), in order."""
    task = exact(failure.task_name)
    run = notices.ALERT_ATTEMPT_OF.filled(
        run=f"#{failure.instance_id}", attempt=failure.retry_count + 1, limit=failure.max_retry + 1
    )
    facts = [
        Fact(notices.ALERT_CODE.said_in(language), exact(failure.error_code), is_code=True),
        Fact(notices.ALERT_TASK.said_in(language), f"{task} (#{failure.task_id})"),
        Fact(notices.ALERT_RUN.said_in(language), run.said_in(language)),
        Fact(notices.ALERT_TIME.said_in(language), moment_text(failure.at)),
    ]
    heading = notices.ALERT_HEADING.filled(task=task).said_in(language)
    fallback = notices.ALERT_FALLBACK.filled(task=task, code=exact(failure.error_code)).said_in(language)
    blocks: list[Block] = [
        Heading(clip(heading, HEADING_CHARS)),
        Facts(tuple(facts)),
        Code(exact_block(failure.error_message)),
        *followup_buttons(followups),
        Lines((exact(failure.schedule_instance_id),)),
    ]
    return View(tuple(blocks), clip(inert(fallback), HEADING_CHARS))
