"""Cards: a proposal with everything that an approver decides about, later with what came of it; and a task that failed.

A proposal's card is a function of the stored proposal, so that drawing it again after a restart gives the same card. What the
digest covers stands on it whole: tool, arguments, target, the facts it rests on, requester, conversation, expiry. All of
it is plain text, with every character that people can't see shown as an escape.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from chatops_bot.domain.alert import TaskFailed
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Risk
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.tool import Change
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
}


def proposal_card(
    proposal: Proposal, *, approver_configured: bool = True, approver_mentions: tuple[str, ...] = ()
) -> View:
    """The card of `proposal` in its language, for the state it is in.

    A pending card calls `approver_mentions` (platform ids), and says so when nobody is configured who could approve.
    """
    language: Language = "zh" if proposal.language == "zh" else "en"
    state = proposal.state
    heading = _heading(proposal, state, language)
    blocks: list[Block] = [Heading(heading)]
    if state is not ProposalState.PENDING:
        blocks.extend(_decision(proposal, state, language))
    blocks.extend(_action(proposal, language))
    if state is ProposalState.PENDING:
        blocks.extend(_controls(proposal, language, approver_configured, approver_mentions))
    footer = notices.FINGERPRINT.filled(id=exact(proposal.id), digest=exact(proposal.digest[:DIGEST_CHARS]))
    blocks.append(Lines((footer.said_in(language),)))
    return View(tuple(blocks), inert(heading))


def moment_text(moment: datetime) -> str:
    """A moment to the second (finer only where it has a fraction) with its offset: `2026-11-29 14:02:00 UTC`."""
    fraction = f".{moment.microsecond:06d}" if moment.microsecond else ""
    offset = moment.isoformat()[26 if fraction else 19 :]
    return f"{moment:%Y-%m-%d %H:%M:%S}{fraction} UTC{'' if offset == '+00:00' else offset}"


def _heading(proposal: Proposal, state: ProposalState, language: Language) -> str:
    phrase = notices.CARD_HEADINGS_DECIDED.get(state, notices.CARD_HEADING)
    named = phrase.filled(tool=exact(proposal.tool), target=exact(proposal.plan.target))
    return clip(named.said_in(language), HEADING_CHARS)


def _action(proposal: Proposal, language: Language) -> list[Block]:
    """What would run, on what, for whom, until when, resting on what: the same in every state."""
    plan = proposal.plan
    facts = [
        (notices.WHAT, exact(plan.summary.said_in(language))),
        (notices.TOOL, f"{exact(proposal.tool)} ({notices.EFFECTS[proposal.effect].said_in(language)})"),
        (notices.TARGET, exact(plan.target)),
        (notices.ASKED_BY, f"{exact(proposal.requester_name)} ({exact(proposal.requester_id)})"),
        (notices.RISK, notices.RISKS[proposal.risk].said_in(language)),
        (notices.EXPIRES, _expiry(proposal, language)),
        (notices.SESSION, exact(str(proposal.session))),
    ]
    blocks: list[Block] = [Facts(tuple(Fact(label.said_in(language), value) for label, value in facts))]
    blocks.extend(_changes(plan.changes, language))
    blocks.extend(Code(exact_block(text), exact(label.said_in(language))) for label, text in plan.details)
    blocks.append(Code(_json(proposal.arguments), notices.ARGUMENTS.said_in(language)))
    if plan.preconditions:
        blocks.append(Code(_json(plan.preconditions), notices.PRECONDITIONS.said_in(language)))
    return blocks


def _expiry(proposal: Proposal, language: Language) -> str:
    """Counted from the request, not from now: a card is not drawn anew every minute, and a stale countdown misleads."""
    minutes = round((proposal.expires_at - proposal.created_at).total_seconds() / 60)
    return notices.EXPIRES_AT.filled(time=moment_text(proposal.expires_at), minutes=minutes).said_in(language)


def _changes(changes: tuple[Change, ...], language: Language) -> list[Block]:
    """Short changes as facts (before → after), in order; one with long or many lines as a diff of its own."""
    blocks: list[Block] = []
    facts: list[Fact] = []
    for change in changes:
        before, after = change.before, change.after
        label = notices.CHANGE.filled(field=exact(change.field)).said_in(language)
        if any(value is not None and ("\n" in value or len(value) > FACT_CHARS) for value in (before, after)):
            if facts:
                blocks.append(Facts(tuple(facts)))
                facts = []
            blocks.append(Code(_diff(before, after), label))
        else:
            facts.append(Fact(label, f"{_side(before, language)} → {_side(after, language)}"))
    if facts:
        blocks.append(Facts(tuple(facts)))
    return blocks


def _side(value: str | None, language: Language) -> str:
    return notices.NOTHING.said_in(language) if value is None else exact(value)


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


def _json(value: Mapping[str, Any]) -> str:
    return exact_block(json.dumps(dict(value), indent=2, sort_keys=True, ensure_ascii=False))


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
        Button("approve", approve, proposal.id, "primary", confirm),
        Button("reject", reject, proposal.id, "danger"),
    )
    return [*blocks, Buttons(buttons), Lines((typed,))]


def _confirm(proposal: Proposal, language: Language) -> Confirm:
    text = notices.CONFIRM_TEXT.filled(
        tool=clip(exact(proposal.tool), 60), target=clip(exact(proposal.plan.target), 120)
    )
    return Confirm(
        title=notices.CONFIRM_TITLE.said_in(language),
        text=clip(text.said_in(language), CONFIRM_CHARS),
        accept=notices.APPROVE.said_in(language),
        cancel=notices.CANCEL.said_in(language),
    )


def _decision(proposal: Proposal, state: ProposalState, language: Language) -> list[Block]:
    """Who decided, when, and what came of it."""
    phrase, tone = _SENTENCES[state]
    sentence = phrase.filled(target=exact(proposal.plan.target), time=moment_text(proposal.expires_at))
    facts = []
    if proposal.decided_by_id and proposal.decided_at is not None:
        decided_by = notices.DECIDED_BY.filled(
            name=exact(proposal.decided_by_name),
            id=exact(proposal.decided_by_id),
            role=exact(proposal.decided_by_role),
            time=moment_text(proposal.decided_at),
        )
        facts.append(Fact(notices.DECIDED.said_in(language), decided_by.said_in(language)))
    if proposal.finished_at is not None:
        facts.append(Fact(notices.FINISHED.said_in(language), moment_text(proposal.finished_at)))
    blocks: list[Block] = [Notice(sentence.said_in(language), tone)]
    if proposal.outcome_text:
        result = notices.RESULT.said_in(language)
        if "\n" in proposal.outcome_text or len(proposal.outcome_text) > FACT_CHARS:
            blocks.append(Code(exact_block(proposal.outcome_text), result))
        else:
            facts.append(Fact(result, exact(proposal.outcome_text)))
    if facts:
        blocks.append(Facts(tuple(facts)))
    if state is ProposalState.DRIFTED and proposal.outcome:
        blocks.append(Code(_json(proposal.outcome), notices.DRIFT_FOUND.said_in(language)))
    return blocks


def alert_card(failure: TaskFailed, language: Language, followups: Sequence[tuple[str, str]] = ()) -> View:
    """The card of a run that failed for good. `followups` are (question, opaque value of its button), in order."""
    attempt = notices.ALERT_ATTEMPT_OF.filled(attempt=failure.retry_count + 1, limit=failure.max_retry + 1)
    task = exact(failure.task_name)
    facts = [
        (notices.ALERT_TASK, f"{task} (#{failure.task_id})"),
        (notices.ALERT_RUN, f"#{failure.instance_id} ({exact(failure.schedule_instance_id)})"),
        (notices.ALERT_CODE, exact(failure.error_code)),
        (notices.ALERT_ATTEMPT, attempt.said_in(language)),
        (notices.ALERT_TIME, moment_text(failure.at)),
    ]
    heading = notices.ALERT_HEADING.filled(task=task).said_in(language)
    fallback = notices.ALERT_FALLBACK.filled(task=task, code=exact(failure.error_code)).said_in(language)
    blocks: list[Block] = [
        Heading(clip(heading, HEADING_CHARS)),
        Facts(tuple(Fact(label.said_in(language), value) for label, value in facts)),
        Code(exact_block(failure.error_message), notices.ALERT_MESSAGE.said_in(language)),
    ]
    blocks.extend(followup_buttons(followups))
    return View(tuple(blocks), clip(inert(fallback), HEADING_CHARS))
