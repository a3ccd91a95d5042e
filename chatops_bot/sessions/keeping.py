"""Commit-confirm: an applied change is taken back after a while, unless somebody who may approve it says to keep it.

Its card said so before it was approved, and the seal covers it, so taking it back needs no approval of its own: it is a
proposal like any other, which those who approved the change have approved. What was changed since by others is left alone.
It is noted on the applied proposal before it is stored, and stored approved before it runs, so that a process that dies in
between leaves a question that the next one can answer: it is run once.

It stays due until something has taken the change back, whatever else was proposed and came to nothing meanwhile. What cannot
be at the moment is tried again; where it may not be, the approvers are called.
"""

import logging
from dataclasses import replace
from datetime import datetime, timedelta

from chatops_bot.domain.errors import PlatformError, ToolError, ToolImpossible, ToolRefused
from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import TRIED, Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.sealed_vote import VoteSeals
from chatops_bot.domain.voting import voices
from chatops_bot.ports import Clock, Directory, Place, Platform, Proposals
from chatops_bot.rendering.reminder import left_alone_view
from chatops_bot.sessions.answered_calls import LEFT_ALONE, call_key
from chatops_bot.sessions.applying import Applying
from chatops_bot.sessions.decisions import Decisions, How
from chatops_bot.sessions.inverses import UNDER_WAY, newest_inverse
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards, language_of
from chatops_bot.sessions.reminding import approvers_called
from chatops_bot.sessions.telling import Telling
from chatops_bot.tools.drafting import Drafter, subject_of
from chatops_bot.tools.inverting import Inverter, changed_since
from chatops_bot.tools.proposal_moves import NOBODY, ProposalMoves

_log = logging.getLogger(__name__)

_MAY_NOT_KEEP = Phrase(
    "只有可以批准此变更的人才能决定保留。", "Only somebody who may approve this change may say to keep it."
)
_NOTHING_TO_KEEP = Phrase("已没有可保留的：{why_zh}", "There is nothing to keep any more: {why_en}")
_KEPT = Phrase("已由 {who} 保留。", "{who} kept it.")
_TAKEN_BACK = Phrase("保留的时间已过，或已提出撤销。", "its time is over, or it is being taken back.")
_NOT_TAKEN_BACK = Phrase("{outcome}（未自动撤销：{why_zh}）", "{outcome} (It was not taken back: {why_en})")
_ALTERED = Phrase(
    "存储的内容或批准不是本机器人记录的",
    "what is stored of it, or of its approvals, was not written by this bot",
)
_CHANGED = Phrase("此后已被改动：{what}", "it was changed since: {what}")
_TOO_FEW = Phrase(
    "撤销需要 {needed} 人批准，而批准此变更的只有 {count} 人",
    "taking it back takes {needed} approvals, and {count} approved the change",
)
_NOT_ASKED = Phrase("无法确认当事人的身份", "it could not be asked who those are that it takes")
_CAME_TO_NOTHING = Phrase("提案 {code}：{outcome}", "proposal {code}: {outcome}")
_IN_DOUBT = Phrase(
    "此前的一次撤销结果未知，可能已经生效",
    "nobody knows what came of an earlier undo, which may have taken effect",
)

TRIED_FOR = timedelta(hours=1)
"""After the time of a change was over. Longer than what passes by itself; then somebody has to look."""


class Keeping:
    """The Keep button."""

    def __init__(
        self, *, proposals: Proposals, policy: Policy, moves: ProposalMoves, cards: ProposalCards,
        decisions: Decisions, telling: Telling, clock: Clock,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._policy = policy
        self._moves = moves
        self._cards = cards
        self._decisions = decisions
        self._telling = telling
        self._clock = clock

    async def press(self, event: ControlUsed) -> None:
        """A press on Keep."""
        found = await self._decisions.opened(event)
        if found is not None:
            applied, how = found
            with bound(session=applied.session, turn=applied.turn_id, proposal=applied.id):
                await self._keep(applied, event.person, how)

    async def _keep(self, applied: Proposal, person: Person, how: How) -> None:
        """Keep it for somebody who may approve it, as it is now, and again as often as somebody else moves it meanwhile."""
        if not self._policy.could_approve(person, subject_of(applied), how.via):
            await self._moves.refuse(applied, person, _MAY_NOT_KEEP, how.told())
            await self._telling.about(applied, person, _MAY_NOT_KEEP)
            return
        latest: Proposal | None = applied
        while latest is not None and is_kept_until(latest) is not None:
            if self._clock.now() >= (latest.keep_until or self._clock.now()):
                break
            kept = await self._moves.move(
                latest,
                ProposalState.APPLIED,
                person,
                "kept",
                how.told(),
                kept_by_id=person.id,
                kept_by_name=person.name,
            )
            if kept is not None:
                await self._cards.show_quietly(kept)
                return
            latest = await self._proposals.get(applied.id)
        by = latest.kept_by_name if latest is not None else ""
        why = _KEPT.filled(who=by) if by else _TAKEN_BACK
        await self._telling.about(
            applied, person, _NOTHING_TO_KEEP.filled(why_zh=why.zh, why_en=why.en), "info"
        )


def is_kept_until(proposal: Proposal) -> datetime | None:
    """When the change is taken back; None for one that stands for good, or is being taken back."""
    is_open = proposal.state is ProposalState.APPLIED and not proposal.kept_by_id and not proposal.undone_by
    return proposal.keep_until if is_open else None


class Reverting:
    """What happens when nobody pressed Keep."""

    def __init__(
        self, *, proposals: Proposals, platform: Platform, directory: Directory, policy: Policy, inverter: Inverter,
        drafter: Drafter, moves: ProposalMoves, cards: ProposalCards, applying: Applying, redactor: Redactor,
        seals: VoteSeals,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._platform = platform
        self._directory = directory
        self._policy = policy
        self._inverter = inverter
        self._drafter = drafter
        self._moves = moves
        self._cards = cards
        self._applying = applying
        self._redactor = redactor
        self._seals = seals

    async def revert(self, applied: Proposal, now: datetime) -> bool:
        """Take `applied` back, if that is due; whether it was."""
        if applied.state is not ProposalState.APPLIED or applied.keep_until is None or applied.kept_by_id:
            return False
        if now < applied.keep_until:
            return False
        inverse = await newest_inverse(self._proposals, applied)
        if inverse is None and applied.undone_by:  # somebody is just storing it, or died before they did
            return False
        if inverse is not None and inverse.state in UNDER_WAY:
            return False
        with bound(session=applied.session, turn=applied.turn_id, proposal=applied.id):
            if inverse is not None and inverse.state in TRIED:
                came_to = _CAME_TO_NOTHING.filled(code=inverse.code, outcome=inverse.outcome_text)
                await self._left_alone(applied, inverse, came_to)
            elif await self._may_be_taken_back_already(applied):
                await self._left_alone(applied, inverse, _IN_DOUBT)
            else:
                await self._revert(applied, inverse, now)
        return True

    async def _may_be_taken_back_already(self, applied: Proposal) -> bool:
        """Whether nobody knows what came of an undo of it. That no longer stands in its way, and it does not point there any more."""
        unknown = await self._proposals.in_states(frozenset({ProposalState.OUTCOME_UNKNOWN}))
        return any(one.inverse_of == applied.id for one in unknown)

    async def _revert(self, applied: Proposal, inverse: Proposal | None, now: datetime) -> None:
        if not self._seals.covers(
            applied
        ):  # its votes are about to be sealed once more, for what takes it back
            await self._left_alone(applied, inverse, _ALTERED)
            return
        try:
            requester = await self._directory.person(
                applied.requester_id, applied.session.channel, fresh=True
            )
            approved = self._approved(applied, await self._inverter.draft(applied, requester), now)
            why = _IN_DOUBT if approved.may_repeat else await self._hindrance(applied, approved)
        except (PlatformError, ToolError) as error:
            why = _NOT_ASKED if isinstance(error, PlatformError) else error.phrase
            is_final = isinstance(error, ToolImpossible | ToolRefused)
            if not is_final and now < (applied.keep_until or now) + TRIED_FOR:
                _log.warning("proposal %s is to be taken back, and is tried again: %s", applied.id, error)
                return
        if why is not None:
            await self._left_alone(applied, inverse, self._redactor.phrase(why))
        else:
            await self._run(applied, inverse, approved, requester)

    async def _hindrance(self, applied: Proposal, approved: Proposal) -> Phrase | None:
        """Why `applied` may not be taken back by `approved`; raises PlatformError as `Applying.hindrance`."""
        changed = changed_since(applied, approved)
        if changed:
            what = "; ".join(f"{name}: {was} → {is_}" for name, (was, is_) in changed.items())
            return _CHANGED.filled(what=what)
        count = voices(vote.person_id for vote in approved.votes)
        if count < approved.quorum:
            return _TOO_FEW.filled(needed=approved.quorum, count=count)
        return await self._applying.hindrance(approved)

    async def _run(
        self, applied: Proposal, inverse: Proposal | None, approved: Proposal, requester: Person
    ) -> None:
        """An inverse that waits for somebody, or ended, makes way; where somebody just approved it, that one is left to run."""
        gone: Proposal | None = None
        if inverse is not None and inverse.is_open:
            gone = await self._moves.supersede(inverse, approved, NOBODY)
            if gone is None:
                return
        noted = await self._moves.move(
            applied, ProposalState.APPLIED, NOBODY, "reverting", {"undone_by": approved.id}, undone_by=approved.id
        )  # fmt: skip
        if noted is None:
            if gone is not None:
                await self._cards.catch_up(gone)  # what was to take its place is never made
            return
        voters = [vote.person_id for vote in approved.votes]
        await self._moves.add(approved, requester, {"approved_by": "policy", "voters": voters})
        if gone is not None:
            await self._cards.settle(gone)
        await self._applying.run_beside([approved])
        await self._cards.show_quietly(noted)

    async def _left_alone(self, applied: Proposal, inverse: Proposal | None, why: Phrase) -> None:
        """Say on the card why it was not taken back, and call those who may decide; it stands now until somebody takes it back.

        A crash between the two leaves it said on the card alone.
        """
        said = _NOT_TAKEN_BACK.filled(outcome=applied.outcome_text, why_zh=why.zh, why_en=why.en)
        waiting = inverse.id if inverse is not None and inverse.is_open else ""
        left = await self._moves.move(
            applied, ProposalState.APPLIED, NOBODY, "not_reverted", {"why": why.en}, keep_until=None, undone_by=waiting,
            outcome_text=said.said_in(language_of(applied)),
        )  # fmt: skip
        if left is None:
            return
        await self._cards.settle(left)
        try:
            link = await self._platform.link(left.card) if left.card is not None else ""
            view = left_alone_view(
                left, why, approvers_called(self._policy, replace(left, votes=())), link, self._redactor.text
            )
            place = Place(left.session.channel, left.session.thread)
            await self._platform.post(place, view, key=call_key(left, LEFT_ALONE))
        except PlatformError as error:
            _log.warning("nobody could be called about proposal %s: %s", left.id, error)

    def _approved(self, applied: Proposal, draft: Proposal, now: datetime) -> Proposal:
        """`draft` with the approvals of `applied`, and the higher quorum of the two. Who broke the glass did so for that change alone."""
        last = applied.votes[-1]
        approved = self._drafter.sealed(
            replace(draft, state=ProposalState.APPROVED, quorum=max(applied.quorum, draft.quorum))
        )
        votes = tuple(self._seals.vote(approved, replace(vote, break_glass="")) for vote in applied.votes)
        return replace(
            approved, votes=votes, decided_at=now,
            decided_by_id=last.person_id, decided_by_name=last.person_name, decided_by_role=last.role,
        )  # fmt: skip
