"""Decisions about proposals: a person decides, the state moves, the stored action runs, the card tells.

First the state, then the effect, then the message. Each move is one compare-and-set, so two people who click at once
make one decision; the other is told who won. No model is in reach of anything here.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person, Role, lower
from chatops_bot.domain.policy import Policy, Subject
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.ports import Clock, Directory, Place, Platform, Store
from chatops_bot.rendering.cards import proposal_card
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.commands import Verdict
from chatops_bot.sessions.log_ids import bound
from chatops_bot.tools.apply import Applied, Applier
from chatops_bot.tools.audited import decision_record

_log = logging.getLogger(__name__)

STALE_AFTER = timedelta(seconds=60)
"""A card that is behind for longer than any edit takes was missed, and is not just on its way."""


_UNKNOWN = Phrase(
    "此处没有这个提案，未执行任何操作；请核对卡片上的代码。",
    "There is no such proposal here, so nothing was run; check the code on the card.",
)
_DECIDED = Phrase(
    "此提案已有结论：{state}（{who}，{when}）。", "This proposal is decided already: {state} ({who}, {when})."
)
_EXPIRED = Phrase(
    "此提案已于 {when} 过期，未执行任何操作；请重新发起请求。",
    "This proposal expired at {when}; nothing was run. Ask for the change again.",
)
_NOT_ALLOWED_ANY_MORE = Phrase(
    "批准人在执行前已无权批准，未执行任何操作：{why_zh}",
    "The approver may not approve this any more, so nothing was run: {why_en}",
)
_NOT_CONFIRMED = Phrase(
    "执行前无法确认批准人的身份，未执行任何操作；请重新发起请求。",
    "The approver's identity could not be confirmed before running, so nothing was run; ask for the change again.",
)
_WHICH = Phrase("请输入 {typed}，或按卡片上的按钮。", "Type {typed}, or press the button on the card.")
_OR = Phrase(" 或 ", " or ")
_COMMANDS: dict[Verdict, Phrase] = {
    "approve": Phrase("批准", "approve"),
    "reject": Phrase("拒绝", "reject"),
}
_REJECTED = Phrase("已拒绝，未执行任何操作。", "Rejected; nothing was run.")
_NOBODY = Person("", "", Role.GUEST)


class Approvals:
    def __init__(
        self, *, store: Store, platform: Platform, directory: Directory, applier: Applier, redactor: Redactor, clock: Clock,
        policy: Policy, approver_configured: bool,
    ) -> None:  # fmt: skip
        self._store = store
        self._platform = platform
        self._directory = directory
        self._applier = applier
        self._redactor = redactor
        self._clock = clock
        self._policy = policy
        self._approver_configured = approver_configured

    async def show(self, proposal: Proposal) -> None:
        """Post or update the proposal's card, and remember which revision it shows."""
        view = proposal_card(
            proposal, approver_configured=self._approver_configured, redact=self._redactor.text
        )
        place = Place(proposal.session.channel, proposal.session.thread)
        known = proposal.card
        if known is None and proposal.revision > 0:
            # Somebody saw it and decided, so it was posted, in the moment in which its turn was stopped.
            known = await self._platform.find(place, proposal.id)
        if known is not None:
            card = await self._platform.finish(known, view)
        else:
            card = await self._platform.post(place, view, key=proposal.id)
        await self._store.proposals.shown(proposal.id, card, proposal.revision)

    async def waiting(self, session: SessionKey) -> list[Proposal]:
        """The session's proposals that may be decided on now, oldest first."""
        pending = await self._store.proposals.in_states(frozenset({ProposalState.PENDING}))
        return [one for one in pending if one.session == session and one.expires_at > self._clock.now()]

    async def ask_which(
        self, waiting: Sequence[Proposal], person: Person, verdict: Verdict, language: Language
    ) -> None:
        """Tell somebody who gave a verdict without a code what to type: a word alone decides nothing."""
        command = _COMMANDS[verdict].said_in(language)
        typed = _OR.said_in(language).join(f"`{command} {one.code}`" for one in waiting)
        session = waiting[0].session
        place = Place(session.channel, session.thread)
        await self._tell(place, person, _WHICH.filled(typed=typed), language)

    async def decide_by_code(
        self, session: SessionKey, code: str, person: Person, verdict: Verdict, language: Language
    ) -> None:
        """A typed `approve <code>` or `reject <code>`."""
        proposal = await self._store.proposals.by_code(session, code.upper())
        if proposal is None:
            await self._tell(Place(session.channel, session.thread), person, _UNKNOWN, language)
            return
        await self._decide(proposal, person, verdict)

    async def decide(self, session: SessionKey, proposal_id: str, person: Person, verdict: Verdict) -> None:
        """A click on Approve or Reject."""
        proposal = await self._store.proposals.get(proposal_id)
        if proposal is None or proposal.session != session:
            await self._tell(Place(session.channel, session.thread), person, _UNKNOWN, None)
            return
        await self._decide(proposal, person, verdict)

    async def _decide(self, proposal: Proposal, person: Person, verdict: Verdict) -> None:
        with bound(session=proposal.session, turn=proposal.turn_id, proposal=proposal.id):
            await self._decide_bound(proposal, person, verdict)

    async def _decide_bound(self, proposal: Proposal, person: Person, verdict: Verdict) -> None:
        if not proposal.is_open:
            await self._tell_decided(proposal, person)
            return
        refusal = (
            self._policy.may_approve(person, _subject(proposal), self._clock.now())
            if verdict == "approve"
            else self._policy.may_reject(person, _subject(proposal))
        )
        if refusal is not None:
            await self._audit(proposal, person, "refused", {"refused": refusal.en})
            await self._tell_about(proposal, person, refusal)
            return
        now = self._clock.now()
        if verdict == "reject":
            rejected = await self._move(
                proposal, ProposalState.REJECTED, person, now, _REJECTED.said_in(_language(proposal))
            )
            if rejected is None:
                await self._tell_overtaken(proposal, person)
            else:
                await self._settle(rejected, person)
            return
        approved = await self._move(proposal, ProposalState.APPROVED, person, now)
        if approved is None:
            await self._tell_overtaken(proposal, person)
            return
        await self._audit(approved, person, "approved", {})
        await self._apply(approved)

    async def _move(
        self, proposal: Proposal, to: ProposalState, person: Person, now: datetime, outcome_text: str = ""
    ) -> Proposal | None:
        return await self._store.proposals.move(
            proposal, to, now, outcome_text=outcome_text,
            decided_by_id=person.id, decided_by_name=person.name, decided_by_role=person.role.value, decided_at=now,
        )  # fmt: skip

    async def _apply(self, approved: Proposal) -> None:
        """Ask once more who the approver is and what they may, claim, run the stored action, say what came of it."""
        try:
            person = await self._decider(approved)
        except PlatformError as error:
            _log.warning("who approved proposal %s cannot be confirmed: %s", approved.id, error)
            await self._expire(approved, _NOT_CONFIRMED)
            return
        lost = self._policy.may_approve(person, _subject(approved), self._clock.now())
        if lost is not None:
            await self._expire(approved, _NOT_ALLOWED_ANY_MORE.filled(why_zh=lost.zh, why_en=lost.en))
            return
        claimed = await self._store.proposals.move(approved, ProposalState.CLAIMED, self._clock.now())
        if claimed is None:
            await self._expire(approved, _expired(approved))
            return
        await self._show_quietly(claimed)
        await self._finish(claimed, person, await self._applier.apply(claimed, person))

    async def _finish(self, claimed: Proposal, person: Person, applied: Applied) -> None:
        final = await self._store.proposals.move(
            claimed, applied.state, self._clock.now(),
            finished_at=self._clock.now(), outcome=applied.content,
            outcome_text=applied.summary.said_in(_language(claimed)),
        )  # fmt: skip
        if final is None:
            _log.error("proposal %s left its claim while its action ran; the card may be behind", claimed.id)
            return
        await self._settle(final, person)

    async def _settle(self, final: Proposal, person: Person) -> None:
        """The proposal has reached an end: audit it, remember it in the session, show it.

        In this order, so that after a crash an end that the session knows of has been audited too.
        """
        with bound(session=final.session, turn=final.turn_id, proposal=final.id):
            await self._audit(final, person, final.state.value, final.outcome or {})
            await self._store.transcripts.append(final.session, [self._entry(final)])
            _log.info("the proposal is %s", final.state)
            await self._show_quietly(final)

    def _entry(self, final: Proposal) -> ProposalDecided:
        return ProposalDecided(
            turn_id=final.turn_id,
            at=self._clock.now(),
            proposal_id=final.id,
            code=final.code,
            tool=final.tool,
            target=final.plan.target,
            state=final.state.value,
            person_name=final.decided_by_name,
            outcome=final.outcome_text,
        )

    async def sweep(self) -> None:
        """Close what nobody decided in time or could be run in time, and bring cards up to date that an edit did not reach."""
        now = self._clock.now()
        waiting = frozenset({ProposalState.PENDING, ProposalState.APPROVED})
        for proposal in await self._store.proposals.in_states(waiting):
            if now >= proposal.expires_at:
                await self._expire(proposal, _expired(proposal))
        for proposal in await self._store.proposals.with_stale_card():
            if proposal.state is not ProposalState.CLAIMED and now - _touched(proposal) > STALE_AFTER:
                await self._catch_up(proposal)

    async def _expire(self, proposal: Proposal, why: Phrase) -> None:
        """Close a proposal that nobody may run any more."""
        expired = await self._store.proposals.move(
            proposal, ProposalState.EXPIRED, self._clock.now(), outcome_text=why.said_in(_language(proposal))
        )
        if expired is not None:
            await self._settle(expired, _NOBODY)

    async def recover(self) -> None:
        """After a restart: settle what was running, finish what was approved, bring every card up to date."""
        for proposal in await self._store.proposals.in_states(frozenset({ProposalState.CLAIMED})):
            person = await self._decider_or_guest(proposal)
            await self._finish(proposal, person, await self._applier.recover(proposal, person))
        for proposal in await self._store.proposals.in_states(frozenset({ProposalState.APPROVED})):
            # Perhaps for the second time: the crash may have come before the first row, and none must be missing.
            await self._audit(proposal, await self._decider_or_guest(proposal), "approved", {})
            await self._apply(proposal)
        for proposal in await self._store.proposals.with_stale_card():
            await self._catch_up(proposal)

    async def _decider(self, proposal: Proposal) -> Person:
        """Who decided, with what they may today of what they decided with: at a terminal people may act with less."""
        today = await self._directory.person(proposal.decided_by_id)
        return replace(today, role=lower(Role(proposal.decided_by_role), today.role))

    async def _decider_or_guest(self, proposal: Proposal) -> Person:
        """Who decided, or, where the platform cannot say who that is, somebody of that id with no rights."""
        person_id = proposal.decided_by_id
        if not person_id:
            return _NOBODY
        try:
            return await self._decider(proposal)
        except PlatformError as error:
            _log.warning("who %s is cannot be asked: %s", person_id, error)
            return Person(person_id, person_id, Role.GUEST)

    async def _catch_up(self, proposal: Proposal) -> None:
        try:
            if proposal.card is None:
                place = Place(proposal.session.channel, proposal.session.thread)
                proposal = replace(proposal, card=await self._platform.find(place, proposal.id))
        except PlatformError as error:
            _log.warning("the card of proposal %s could not be looked for: %s", proposal.id, error)
            return
        entries = await self._store.transcripts.load(proposal.session)
        told = any(isinstance(e, ProposalDecided) and e.proposal_id == proposal.id for e in entries)
        if told or proposal.is_open:
            await self._show_quietly(proposal)
        else:
            await self._settle(proposal, await self._decider_or_guest(proposal))

    async def _show_quietly(self, proposal: Proposal) -> None:
        """Show the card; when the platform fails, the card stays stale and is caught up at the next start."""
        try:
            await self.show(proposal)
        except PlatformError as error:
            _log.warning("the card of proposal %s could not be updated: %s", proposal.id, error)

    async def _tell_overtaken(self, proposal: Proposal, person: Person) -> None:
        """The move was lost: to another person, or to the clock."""
        newer = await self._store.proposals.get(proposal.id)
        if newer is not None and not newer.is_open:
            await self._tell_decided(newer, person)
            return
        await self._expire(proposal, _expired(proposal))
        await self._tell_about(proposal, person, _expired(proposal))

    async def _tell_decided(self, proposal: Proposal, person: Person) -> None:
        if proposal.state is ProposalState.EXPIRED:
            await self._tell_about(proposal, person, _expired(proposal))
            return
        when = _time(proposal.decided_at or proposal.created_at)
        phrase = _DECIDED.filled(state=proposal.state.value, who=proposal.decided_by_name, when=when)
        await self._tell_about(proposal, person, phrase)

    async def _tell_about(self, proposal: Proposal, person: Person, phrase: Phrase) -> None:
        place = Place(proposal.session.channel, proposal.session.thread)
        await self._tell(place, person, phrase, _language(proposal))

    async def _tell(self, place: Place, person: Person, phrase: Phrase, language: Language | None) -> None:
        await self._platform.whisper(place, person.id, whisper_view(phrase, language))

    async def _audit(
        self, proposal: Proposal, person: Person, decision: str, content: Mapping[str, object]
    ) -> None:
        await self._store.audit.record(
            decision_record(
                person=person, proposal_session=str(proposal.session), turn_id=proposal.turn_id, tool=proposal.tool,
                arguments=proposal.arguments, decision=decision, status=proposal.state.value, content=content,
                proposal_id=proposal.id, clock=self._clock, redactor=self._redactor,
            )
        )  # fmt: skip


def _language(proposal: Proposal) -> Language:
    return "zh" if proposal.language == "zh" else "en"


def _subject(proposal: Proposal) -> Subject:
    return Subject(
        proposal.tool, proposal.effect, proposal.risk, proposal.plan.target, proposal.requester_id, proposal.session.channel
    )  # fmt: skip


def _touched(proposal: Proposal) -> datetime:
    """When the proposal last changed."""
    return proposal.finished_at or proposal.decided_at or proposal.created_at


def _expired(proposal: Proposal) -> Phrase:
    return _EXPIRED.filled(when=_time(proposal.expires_at))


def _time(at: datetime) -> str:
    return f"{at:%H:%M} UTC"
