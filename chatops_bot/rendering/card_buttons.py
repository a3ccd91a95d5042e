"""The buttons of a card, by its state. Their values are sealed by the caller: a card has no key."""

from collections.abc import Callable, Iterator

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.proposal import TRIED, Proposal, ProposalState
from chatops_bot.domain.view import Block, Button, Buttons, Confirm, Lines, Mention, Notice
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.escapes import exact
from chatops_bot.rendering.graphemes import clip

CONFIRM_CHARS = 300
"""Slack's limit for a confirm dialog. What it clips stands whole on the card or its pages."""
MENTIONS = 20
"""More people than that are nobody in particular."""

Sealed = Callable[[str, str, int], str]
"""Makes the value of a button from its press (the button's `control`), the proposal's id and its revision."""

_CONTINUES = TRIED | {ProposalState.APPLIED}


def asking(
    proposal: Proposal, language: Language, approver_configured: bool, approver_mentions: tuple[str, ...]
) -> Iterator[Block]:
    """Who is to decide about a pending proposal."""
    if not approver_configured:
        yield Notice(notices.NO_APPROVER.said_in(language), "warning")
    if approver_mentions:
        yield Mention(approver_mentions[:MENTIONS], notices.PLEASE_DECIDE.said_in(language))


def buttons(proposal: Proposal, language: Language, sealed: Sealed, *, shows_all: bool) -> Iterator[Block]:
    """What can be pressed now; `shows_all` when the card does not show everything."""
    row: list[Button] = []

    def offer(control: str, label: Phrase) -> None:
        row.append(Button(control, label.said_in(language), sealed(control, proposal.id, proposal.revision)))

    if shows_all:
        offer("show", notices.SHOW)
    if proposal.state is ProposalState.PENDING:
        row += _verdicts(proposal, language, sealed)
    if proposal.state is ProposalState.REJECTED and not proposal.reason:
        why, value = notices.SAY_WHY.said_in(language), sealed("reason", proposal.id, proposal.revision)
        row.append(Button("reason", why, value, command=f"reject {exact(proposal.code)} because …"))
    if proposal.state is ProposalState.OUTCOME_UNKNOWN:
        offer("look", notices.LOOK)
    if proposal.may_be_asked_again:
        offer("again", notices.AGAIN)
    if proposal.state is ProposalState.APPLIED and not proposal.undone_by:
        if proposal.keep_until is not None and not proposal.kept_by_id:
            keep = notices.KEEP.said_in(language)
            row.append(Button("keep", keep, sealed("keep", proposal.id, proposal.revision), "primary"))
        if proposal.plan.inverse is not None:
            offer("undo", notices.UNDO)
    if proposal.state in _CONTINUES and not proposal.is_tampered:
        offer("continue", notices.CONTINUE)
    if row:
        yield Buttons(tuple(row))
    if proposal.state is ProposalState.PENDING:
        typed = notices.TYPE_TO_DECIDE.filled(code=exact(proposal.code))
        yield Lines((typed.said_in(language),))


def _verdicts(proposal: Proposal, language: Language, sealed: Sealed) -> Iterator[Button]:
    confirm = _confirm(proposal, language) if proposal.risk is Risk.HIGH else None
    code = exact(proposal.code)
    yield Button(
        "approve", notices.APPROVE.said_in(language), sealed("approve", proposal.id, proposal.revision), "primary", confirm,
        command=f"approve {code}",
    )  # fmt: skip
    yield Button(
        "reject", notices.REJECT.said_in(language), sealed("reject", proposal.id, proposal.revision), "danger",
        command=f"reject {code}",
    )  # fmt: skip


def _confirm(proposal: Proposal, language: Language) -> Confirm:
    is_lasting = proposal.effect is Effect.DESTRUCTIVE
    reversible = notices.CONFIRM_IN_PART if is_lasting else notices.CONFIRM_REVERSIBLE
    phrase = notices.CONFIRM_TEXT if proposal.plan.inverse is None else reversible
    text = phrase.filled(summary=clip(exact(proposal.plan.summary.said_in(language)), 180))
    return Confirm(
        title=notices.CONFIRM_TITLE.said_in(language),
        text=clip(text.said_in(language), CONFIRM_CHARS),
        accept=notices.APPROVE.said_in(language),
        cancel=notices.CANCEL.said_in(language),
    )
