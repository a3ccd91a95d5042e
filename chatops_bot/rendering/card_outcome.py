"""What came of a proposal, on its card: the sentence of its state, who decided, and what was seen and done afterwards."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.proposal import TRIED, Check, Proposal, ProposalState
from chatops_bot.domain.tool import Change, Verdict
from chatops_bot.domain.view import Block, Fact, Facts, Lines, Notice, Tone
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.card_action import Part, action_of, compared, is_long
from chatops_bot.rendering.card_cutting import Room, cut
from chatops_bot.rendering.card_pages import action_parts
from chatops_bot.rendering.escapes import exact, exact_block
from chatops_bot.rendering.moments import clock_text
from chatops_bot.rendering.plan_words import field_words, target_words, value_words

NAME_CHARS = 80
"""As long as Slack lets a display name be."""
SAID_CHARS = 200
REASON_CHARS = 600
NAMES_CHARS = 1_000
CHECKS = 3
DRIFT_FIELDS = 8

_SENTENCES: dict[ProposalState, tuple[Phrase, Tone]] = {
    ProposalState.APPROVED: (notices.APPROVED, "info"),
    ProposalState.CLAIMED: (notices.CLAIMED, "info"),
    ProposalState.APPLIED: (notices.APPLIED, "good"),
    ProposalState.FAILED: (notices.APPLY_FAILED, "danger"),
    ProposalState.OUTCOME_UNKNOWN: (notices.OUTCOME_UNKNOWN, "danger"),
    ProposalState.DRIFTED: (notices.DRIFTED, "warning"),
    ProposalState.REJECTED: (notices.REJECTED, "info"),
    ProposalState.EXPIRED: (notices.EXPIRED, "info"),
    ProposalState.WITHDRAWN: (notices.WITHDRAWN, "warning"),
    ProposalState.SUPERSEDED: (notices.SUPERSEDED, "info"),
}
_SAID_BY_RESULT = frozenset(
    {ProposalState.APPLIED, ProposalState.EXPIRED, ProposalState.WITHDRAWN, ProposalState.SUPERSEDED}
)
"""States whose result of one line says all that the sentence would, and more."""
_TOLD_BY_SENTENCE = _SAID_BY_RESULT | {ProposalState.REJECTED, ProposalState.DRIFTED}
"""States whose sentence, with the fields that drifted, says all that a result of one line would."""
_TONES: dict[Verdict, Tone] = {
    "recovered": "good",
    "as_intended": "good",
    "failed": "danger",
    "failed_again": "danger",
    "no_effect": "warning",
    "worse": "danger",
    "unknown": "warning",
}


def outcome(proposal: Proposal, language: Language, codes: Mapping[str, str], room: Room) -> Iterator[Block]:
    """What came of a closed proposal, as far as `room` allows. A result of one line stands alone where all went well."""
    state, result = proposal.state, proposal.outcome_text
    sentence, tone = _sentence(proposal, language, codes)
    is_told = bool(result) and not is_long(result)
    # Where drift is no field that differs, the result says what stands in the way.
    is_said = state in _SAID_BY_RESULT or (state is ProposalState.DRIFTED and _is_impossible(proposal))
    yield Notice(exact(result) if is_told and is_said else sentence, tone)
    parts = tuple(outcome_parts(proposal, language))
    if is_told and not parts and not is_said and state not in _TOLD_BY_SENTENCE:
        yield Facts((Fact(notices.RESULT.said_in(language), exact(result)),))
    if read := (*_short_drift(proposal, language), *_read_since(proposal, language)):
        yield Facts(read)
    for part in parts:
        yield from room.codes(part, language)
    yield from _afterwards(proposal, language, codes)


def outcome_parts(proposal: Proposal, language: Language) -> Iterator[Part]:
    """What is long of what came of it."""
    if is_long(proposal.outcome_text):
        yield Part(notices.RESULT.said_in(language), exact_block(proposal.outcome_text))
    if found := _long_drift(proposal):
        yield Part(notices.DRIFT_FOUND.said_in(language), found)


def _drift(proposal: Proposal) -> Mapping[str, Mapping[str, Any]]:
    """What was found changed, by field: `{"before", "now"}`."""
    found: Mapping[str, Mapping[str, Any]] = (proposal.outcome or {}).get("drifted") or {}
    return found if proposal.state is ProposalState.DRIFTED else {}


def _is_impossible(proposal: Proposal) -> bool:
    return "error" in (proposal.outcome or {})


def _short_drift(proposal: Proposal, language: Language) -> Iterator[Fact]:
    """Each field as it is now, and as it was; none of them when there is a field too long for that."""
    if _long_drift(proposal):
        return
    yield from _now_and_before(_drift(proposal), notices.NOW_AND_BEFORE, language)


def _read_since(proposal: Proposal, language: Language) -> Iterator[Fact]:
    """What the target read when nobody knew any more what had come of the action."""
    reads: Mapping[str, Mapping[str, Any]] = (proposal.outcome or {}).get("reads") or {}
    if proposal.state is ProposalState.OUTCOME_UNKNOWN and proposal.finished_at is not None:
        at = clock_text(proposal.finished_at, proposal.created_at)
        yield from _now_and_before(reads, notices.READ_AT.filled(at=at), language)


def _now_and_before(
    fields: Mapping[str, Mapping[str, Any]], said: Phrase, language: Language
) -> Iterator[Fact]:
    """`said` has the placeholders `now` and `before`."""
    for name, sides in sorted(fields.items()):
        label = field_words(Change(name, None, None), language)
        before, now = (
            notices.NOTHING.said_in(language) if side is None else value_words(label, side, language)
            for side in (_side(sides.get("before")), _side(sides.get("now")))
        )
        now, before = (cut(side, SAID_CHARS, language) for side in (now, before))
        yield Fact(label, said.filled(now=now, before=before).said_in(language))


def _long_drift(proposal: Proposal) -> str:
    """Each field with its diff, where one is long or there are many; empty otherwise."""
    drifted = _drift(proposal)
    pairs = {name: (_side(one.get("before")), _side(one.get("now"))) for name, one in sorted(drifted.items())}
    if len(pairs) <= DRIFT_FIELDS and not any(is_long(name, *sides) for name, sides in pairs.items()):
        return ""
    return "\n".join(f"{exact(name)}:\n{compared(*sides)}" for name, sides in pairs.items())


def _side(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def all_parts(proposal: Proposal, language: Language) -> tuple[Part, ...]:
    """All there is to read of a proposal, redacted by the caller: what it would do, and what came of it."""
    return (*action_parts(action_of(proposal, language), language), *outcome_parts(proposal, language))


def decision(proposal: Proposal, language: Language) -> Iterator[Fact]:
    """Who approved, rejected and kept, with their reasons."""
    if proposal.votes:
        yield _approvals(proposal, language)
    if proposal.decided_by_id and proposal.decided_at is not None:
        is_rejected = proposal.state is ProposalState.REJECTED
        if is_rejected or not proposal.votes:
            label = notices.REJECTED_BY if is_rejected else notices.APPROVED_BY
            decided = notices.DECIDED.filled(
                name=cut(exact(proposal.decided_by_name), NAME_CHARS, language),
                role=cut(exact(proposal.decided_by_role), NAME_CHARS, language),
                time=clock_text(proposal.decided_at, proposal.created_at),
            )
            yield Fact(label.said_in(language), decided.said_in(language))
    if broken := [vote for vote in proposal.votes if vote.break_glass]:
        said = "; ".join(f"{exact(vote.person_name)}: {exact(vote.break_glass)}" for vote in broken)
        yield Fact(notices.BROKE_GLASS.said_in(language), cut(said, REASON_CHARS, language))
    if proposal.reason:
        yield Fact(notices.REASON.said_in(language), cut(exact(proposal.reason), REASON_CHARS, language))
    if proposal.kept_by_id:
        kept_by = cut(exact(proposal.kept_by_name), NAME_CHARS, language)
        yield Fact(notices.KEPT_BY.said_in(language), kept_by)


def broken_glass(proposal: Proposal, language: Language) -> Iterator[Notice]:
    """Said first where somebody approved in spite of a freeze: whoever looks at the card later is to see it."""
    if any(vote.break_glass for vote in proposal.votes):
        yield Notice(notices.BREAK_GLASS.said_in(language), "warning")


def doubt(proposal: Proposal, language: Language, codes: Mapping[str, str]) -> Notice:
    """Said first on a card whose action may have happened already."""
    said = notices.MAY_REPEAT.filled(
        code=code_of(proposal.may_repeat, codes),
        target=cut(target_words(proposal.plan.target, language), SAID_CHARS, language),
    )
    return Notice(said.said_in(language), "warning")


def progress(proposal: Proposal, language: Language) -> Iterator[Lines]:
    """When people were called again, and how many have read what is long."""
    told = ((notices.ASKED_AGAIN, proposal.asked_again_at), (notices.ESCALATED, proposal.escalated_at))
    said = [
        phrase.filled(time=clock_text(at, proposal.created_at)).said_in(language)
        for phrase, at in told
        if at is not None
    ]
    if proposal.read_by:
        said.append(notices.READ_BY.filled(count=len(proposal.read_by)).said_in(language))
    if said:
        yield Lines(("  ·  ".join(said),))


def _approvals(proposal: Proposal, language: Language) -> Fact:
    """Who approved so far; of several that are needed, how many did."""
    names = notices.AND.said_in(language).join(
        notices.VOTED_VIA[vote.via]
        .filled(
            name=cut(exact(vote.person_name), NAME_CHARS, language),
            role=cut(exact(vote.role), NAME_CHARS, language),
            time=clock_text(vote.at, proposal.created_at),
        )
        .said_in(language)
        for vote in proposal.votes
    )
    names = cut(names, NAMES_CHARS, language)
    if proposal.quorum == 1:
        return Fact(notices.APPROVED_BY.said_in(language), names)
    so_far = notices.APPROVALS_SO_FAR.filled(count=len(proposal.votes), quorum=proposal.quorum, names=names)
    return Fact(notices.APPROVALS.said_in(language), so_far.said_in(language))


def _sentence(proposal: Proposal, language: Language, codes: Mapping[str, str]) -> tuple[str, Tone]:
    phrase, tone = _SENTENCES[proposal.state]
    is_late = proposal.decided_at is not None and proposal.decided_at >= proposal.expires_at
    if proposal.state is ProposalState.REJECTED and is_late:
        phrase = notices.REJECTED_LATE
    if proposal.state is ProposalState.SUPERSEDED and proposal.superseded_by:
        phrase = notices.SUPERSEDED_BY
    filled = phrase.filled(
        target=cut(target_words(proposal.plan.target, language), SAID_CHARS, language),
        time=clock_text(proposal.expires_at, proposal.created_at),
        code=code_of(proposal.superseded_by, codes),
    )
    return filled.said_in(language), tone


def code_of(proposal_id: str, codes: Mapping[str, str]) -> str:
    """What people call another proposal; its id where the caller knows no code."""
    return exact(codes.get(proposal_id, proposal_id))


def _afterwards(proposal: Proposal, language: Language, codes: Mapping[str, str]) -> Iterator[Block]:
    if proposal.checks:
        *earlier, latest = proposal.checks
        if earlier:
            label = notices.BEFORE.said_in(language)
            said = (_checked(check, proposal, language) for check in earlier[-CHECKS:])
            yield Facts(tuple(Fact(label, each) for each in said))
        yield Notice(_checked(latest, proposal, language), _TONES[latest.verdict])
    if proposal.superseded_by and proposal.state in TRIED:
        renewed = notices.ASKED_FOR_AGAIN.filled(code=code_of(proposal.superseded_by, codes))
        yield Notice(renewed.said_in(language))
    if proposal.undone_by and proposal.taken_back_at is not None:
        time = clock_text(proposal.taken_back_at, proposal.created_at)
        taken_back = notices.TAKEN_BACK_BY.filled(code=code_of(proposal.undone_by, codes), time=time)
        yield Notice(taken_back.said_in(language), "warning")
    elif proposal.undone_by:
        undone = notices.UNDONE_BY.filled(code=code_of(proposal.undone_by, codes))
        yield Notice(undone.said_in(language))
    elif proposal.keep_until is not None and not proposal.kept_by_id:
        reverts = notices.REVERTS.filled(time=clock_text(proposal.keep_until, proposal.created_at))
        yield Notice(reverts.said_in(language), "warning")


def _checked(check: Check, proposal: Proposal, language: Language) -> str:
    summary = check.summary_zh if language == "zh" else check.summary_en
    said = (
        notices.CHECKED[check.verdict]
        .filled(time=clock_text(check.at, proposal.created_at))
        .said_in(language)
    )
    if not summary:
        return said
    detail = cut(exact(summary), SAID_CHARS, language)
    return notices.WITH_DETAIL.filled(said=said, detail=detail).said_in(language)
