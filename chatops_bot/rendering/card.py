"""A proposal's card: everything that an approver decides about, later what came of it.

The card is a function of the stored proposal, so that drawing it again after a restart gives the same card. It reads from
the top: what came of it, what changes on what for whom, what will be executed, the buttons. What the digest covers stands on
it to the letter, most of it in one quiet block at the end. All of it is plain text, with every character that people can't
see shown as an escape.

A card that would be too long for a message shows the beginning of its long texts, says how much of how much that is, and
has *Show all*, which opens the pages of `card_reading`. Whether it is too long depends on the action alone, never on the
state: `needs_reading` is the same from the first showing to the click on Approve.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.view import Block, Code, Fact, Facts, Heading, Lines, Notice, View
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.card_action import Action, Part, action_of
from chatops_bot.rendering.card_buttons import Sealed, asking, buttons
from chatops_bot.rendering.card_cutting import Room, cut
from chatops_bot.rendering.card_outcome import (
    all_parts,
    broken_glass,
    code_of,
    decision,
    doubt,
    outcome,
    progress,
)
from chatops_bot.rendering.card_pages import LABEL_CHARS, pages_of
from chatops_bot.rendering.card_redaction import redacted
from chatops_bot.rendering.escapes import exact, inert
from chatops_bot.rendering.graphemes import clip
from chatops_bot.rendering.moments import clock_text
from chatops_bot.rendering.plan_words import target_words

HEADING_CHARS = 150
"""Slack's limit for a header. What it clips stands whole in the facts."""
WHOLE_CHARS, WHOLE_CLOSED_CHARS = 7_000, 5_000
WHOLE_LINES = 150
WHOLE_PARTS = 6
"""An action of at most this stands whole on its card, which has more to say beside it once it is closed. Slack takes about
13,000 characters and 50 blocks in a message, all told."""
HEAD_CHARS = 2_000
HEAD_LINES = 20
HEAD_FIELDS = 12
HEAD_VALUE_CHARS = 160
"""What a card shows of a longer action: a screen of it."""
RECORD_CHARS = 2_000
RESULT_CHARS = 1_500
RESULT_LINES = 30


def unsealed(press: str, proposal_id: str, revision: int) -> str:
    """For a card that is only looked at: its buttons stand for the proposal, and decide nothing."""
    return proposal_id


def proposal_card(
    proposal: Proposal,
    *,
    approver_configured: bool = True,
    approver_mentions: tuple[str, ...] = (),
    codes: Mapping[str, str] | None = None,
    frozen: Phrase | None = None,
    redact: Callable[[str], str] = str,
    sealed: Sealed = unsealed,
) -> View:
    """The card of `proposal` in its language, for the state it is in.

    A pending card calls `approver_mentions` (platform ids), and says so when nobody is configured who could approve.
    `frozen` says that a freeze holds now, and who may approve in spite of it.
    `codes` are those of the proposals that it points to (`supersedes`, `superseded_by`, `inverse_of`, `undone_by`), by id.
    `redact` takes the secrets out of a text; every text that did not originate here goes through it, one by one. `sealed`
    makes the value of a button from its press, the proposal's id and the revision.
    """
    proposal = redacted(proposal, redact)
    language: Language = "zh" if proposal.language == "zh" else "en"
    is_pending = proposal.state is ProposalState.PENDING
    action = action_of(proposal, language)
    is_whole = _fits(action, proposal, WHOLE_CHARS if is_pending else WHOLE_CLOSED_CHARS)
    room = Room(RESULT_CHARS, RESULT_LINES)
    heading = _heading(proposal, language)
    blocks: list[Block] = [Heading(heading), *broken_glass(proposal, language)]
    if is_pending and proposal.may_repeat:
        blocks.append(doubt(proposal, language, codes or {}))
    if not is_pending:
        blocks.extend(outcome(proposal, language, codes or {}, room))
    facts = _glance(proposal, action, is_whole, language, codes or {})
    if not is_whole:
        facts = (_shortened(fact, language) for fact in facts)
    blocks.append(Facts((*decision(proposal, language), *facts)))
    blocks.extend(_parts(action.parts, is_whole, language))
    shows_all = not is_whole or room.is_cut
    if shows_all:
        blocks.append(_left_out(proposal, action, language))
    if is_pending:
        blocks.extend(progress(proposal, language))
        if frozen is not None:
            blocks.append(Notice(exact(frozen.said_in(language)), "warning"))
        blocks.extend(asking(proposal, language, approver_configured, approver_mentions))
    blocks.extend(buttons(proposal, language, sealed, shows_all=shows_all))
    blocks.append(_record(proposal, action, is_whole, language))
    return View(tuple(blocks), inert(heading))


def needs_reading(proposal: Proposal, redact: Callable[[str], str] = str) -> bool:
    """Whether the card cannot show all of the action, so that an approval takes a reading of its pages first."""
    proposal = redacted(proposal, redact)
    language: Language = "zh" if proposal.language == "zh" else "en"
    return not _fits(action_of(proposal, language), proposal, WHOLE_CHARS)


def _fits(action: Action, proposal: Proposal, most: int) -> bool:
    texts = [
        action.summary,
        exact(proposal.plan.target),
        exact(proposal.requester_name),
        *(f"{fact.label} {fact.value}" for fact in action.fields),
        *(part.text for part in action.parts),
        *action.record,
    ]
    labels = [*(fact.label for fact in action.fields), *(part.label for part in action.parts)]
    return (
        sum(map(len, texts)) <= most
        and len(action.fields) + sum(part.lines for part in action.parts) <= WHOLE_LINES
        and len(action.parts) <= WHOLE_PARTS
        and all(len(label) <= LABEL_CHARS for label in labels)
    )


def _heading(proposal: Proposal, language: Language) -> str:
    phrase = notices.HEADINGS[proposal.state.value]
    named = phrase.filled(summary=exact(proposal.plan.summary.said_in(language)))
    return clip(named.said_in(language), HEADING_CHARS)


def _glance(
    proposal: Proposal, action: Action, is_whole: bool, language: Language, codes: Mapping[str, str]
) -> Iterator[Fact]:
    """What changes, on what, for whom, how risky, until when. Once decided, a short reminder of it."""
    plan = proposal.plan
    is_pending = proposal.state is ProposalState.PENDING
    heading = _heading(proposal, language)
    # A platform may need several characters for one of these, and clip a heading that seemed to fit.
    markup = sum(map(heading.count, "&<>"))
    if not heading.endswith(action.summary) or len(heading) + 4 * markup > HEADING_CHARS:
        yield Fact(notices.WHAT.said_in(language), action.summary)
    if proposal.state is not ProposalState.DRIFTED:  # the outcome says how things are now
        yield from _fields(action.fields if is_pending else action.changes, is_whole, language)
    yield Fact(notices.TARGET.said_in(language), target_words(plan.target, language))
    yield Fact(notices.ASKED_BY.said_in(language), exact(proposal.requester_name))
    for phrase, other in (
        (notices.TAKES_BACK, proposal.inverse_of),
        (notices.IN_PLACE_OF, proposal.supersedes),
    ):
        if other:
            yield Fact(phrase.said_in(language), code_of(other, codes))
    if is_pending:
        yield Fact(notices.RISK.said_in(language), _risk(proposal).said_in(language))
        if plan.inverse is not None:
            yield Fact(notices.CAN_UNDO.said_in(language), exact(plan.inverse.summary.said_in(language)))
        if proposal.keep_for is not None:
            minutes = f"{proposal.keep_for.total_seconds() / 60:g}"
            reverted = notices.REVERTED_AFTER.filled(minutes=minutes).said_in(language)
            yield Fact(notices.REVERTED.said_in(language), reverted)
        if proposal.quorum > 1 and not proposal.votes:
            needed = notices.APPROVALS_NEEDED.filled(quorum=proposal.quorum)
            yield Fact(notices.APPROVALS.said_in(language), needed.said_in(language))
        yield Fact(notices.EXPIRES.said_in(language), _expiry(proposal, language))


def _risk(proposal: Proposal) -> Phrase:
    if proposal.effect is not Effect.DESTRUCTIVE or proposal.risk is not Risk.HIGH:
        return notices.RISKS[proposal.risk]
    return notices.HIGH_FOR_GOOD if proposal.plan.inverse is None else notices.HIGH_IN_PART


def _expiry(proposal: Proposal, language: Language) -> str:
    """Counted from the request, not from now: a card is not drawn anew every minute, and a stale countdown misleads."""
    minutes = round((proposal.expires_at - proposal.created_at).total_seconds() / 60)
    time = clock_text(proposal.expires_at, proposal.created_at)
    return notices.EXPIRES_AT.filled(time=time, minutes=minutes).said_in(language)


def _fields(fields: Sequence[Fact], is_whole: bool, language: Language) -> Iterator[Fact]:
    """All of them, or the first few and how many more there are."""
    yield from fields if is_whole else fields[:HEAD_FIELDS]
    if not is_whole and len(fields) > HEAD_FIELDS:
        more = notices.MORE_FIELDS.filled(count=len(fields) - HEAD_FIELDS)
        yield Fact(notices.MORE.said_in(language), more.said_in(language))


def _shortened(fact: Fact, language: Language) -> Fact:
    label, value = cut(fact.label, LABEL_CHARS, language), cut(fact.value, HEAD_VALUE_CHARS, language)
    return Fact(label, value, fact.is_code)


def _parts(parts: Sequence[Part], is_whole: bool, language: Language) -> Iterator[Block]:
    """Long texts: all of them, or the beginning of the first ones and how much more there is."""
    if is_whole:
        yield from (Code(part.text, part.label) for part in parts)
        return
    room = Room(HEAD_CHARS, HEAD_LINES)
    shown = 0
    while shown < min(len(parts), WHOLE_PARTS) and room.chars > 0 and room.lines > 0:
        yield from room.codes(parts[shown], language)
        shown += 1
    if rest := parts[shown:]:
        lines = sum(part.lines for part in rest)
        yield Lines((notices.MORE_PARTS.filled(count=len(rest), lines=lines).said_in(language),))


def _left_out(proposal: Proposal, action: Action, language: Language) -> Notice:
    pages = pages_of(all_parts(proposal, language), language)
    phrase = notices.READ_FIRST if proposal.state is ProposalState.PENDING else notices.READ_ON
    said = phrase.filled(lines=f"{pages[0].lines:,}", pages=len(pages)).said_in(language)
    return Notice(said, "warning" if proposal.state is ProposalState.PENDING else "info")


def _record(proposal: Proposal, action: Action, is_whole: bool, language: Language) -> Code:
    lines = list(action.record)
    if proposal.state is not ProposalState.PENDING:
        told = action.fields if proposal.state is ProposalState.DRIFTED else action.details
        lines[:0] = [f"{fact.label}: {fact.value}" for fact in told]
    if proposal.decided_by_id:
        lines.append(f"{notices.DECIDER.said_in(language)}: {exact(proposal.decided_by_id)}")
    if not is_whole and sum(map(len, lines)) > RECORD_CHARS:
        lines = [cut(line, HEAD_VALUE_CHARS, language) for line in lines]
    label = notices.FORGED_RECORD if proposal.is_tampered else notices.RECORD
    return Code("\n".join(lines), label.said_in(language))
