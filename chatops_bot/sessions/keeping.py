"""Commit-confirm: an applied change is taken back after a while, unless somebody who may approve it says to keep it.

Its card said so before it was approved, and the seal covers it, so taking it back needs no approval of its own: it is a
proposal like any other, which those who approved the change have approved. What was changed since by others is left alone.
It is noted on the applied proposal before it is stored, and stored approved before it runs, so that a process that dies in
between leaves a question that the next one can answer: it is run once.
"""

import logging
from dataclasses import replace
from datetime import datetime

from chatops_bot.domain.errors import PlatformError, ToolError
from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.sealed_vote import VoteSeals
from chatops_bot.ports import Clock, Directory, Proposals
from chatops_bot.sessions.applying import Applying
from chatops_bot.sessions.decisions import Decisions, How
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards, language_of
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
        self, *, proposals: Proposals, directory: Directory, inverter: Inverter, drafter: Drafter, moves: ProposalMoves,
        cards: ProposalCards, applying: Applying, redactor: Redactor, seals: VoteSeals,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._directory = directory
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
        if applied.undone_by and await self._proposals.get(applied.undone_by) is not None:
            return False
        with bound(session=applied.session, turn=applied.turn_id, proposal=applied.id):
            await self._revert(applied, now)
        return True

    async def _revert(self, applied: Proposal, now: datetime) -> None:
        if not self._seals.covers(
            applied
        ):  # its votes are about to be sealed once more, for what takes it back
            await self._left_alone(applied, _ALTERED)
            return
        try:
            requester = await self._directory.person(
                applied.requester_id, applied.session.channel, fresh=True
            )
            draft = await self._inverter.draft(applied, requester)
        except PlatformError as error:
            _log.warning("proposal %s is to be taken back, and is tried again: %s", applied.id, error)
            return
        except ToolError as error:
            await self._left_alone(applied, self._redactor.phrase(error.phrase))
            return
        changed = changed_since(applied, draft)
        if changed:
            what = "; ".join(f"{name}: {was} → {is_}" for name, (was, is_) in changed.items())
            await self._left_alone(applied, self._redactor.phrase(_CHANGED.filled(what=what)))
            return
        noted: Proposal | None = applied
        if applied.undone_by:  # noted by a process that died before it stored the proposal
            draft = replace(draft, id=applied.undone_by)
        else:
            noted = await self._moves.move(
                applied,
                ProposalState.APPLIED,
                NOBODY,
                "reverted",
                {"undone_by": draft.id},
                undone_by=draft.id,
            )
        if noted is not None:
            await self._run(noted, draft, requester, now)

    async def _run(self, applied: Proposal, draft: Proposal, requester: Person, now: datetime) -> None:
        last = applied.votes[-1]
        approved = replace(
            draft, state=ProposalState.APPROVED, quorum=applied.quorum, votes=applied.votes, decided_at=now,
            decided_by_id=last.person_id, decided_by_name=last.person_name, decided_by_role=last.role,
        )  # fmt: skip
        approved = self._drafter.sealed(approved)
        approved = replace(approved, votes=tuple(self._seals.vote(approved, vote) for vote in applied.votes))
        voters = [vote.person_id for vote in applied.votes]
        await self._moves.add(approved, requester, {"approved_by": "policy", "voters": voters})
        await self._applying.run(approved)
        await self._cards.show_quietly(applied)

    async def _left_alone(self, applied: Proposal, why: Phrase) -> None:
        """Say on the card why it was not taken back; it stands for good now."""
        said = _NOT_TAKEN_BACK.filled(outcome=applied.outcome_text, why_zh=why.zh, why_en=why.en)
        left = await self._moves.move(
            applied, ProposalState.APPLIED, NOBODY, "not_reverted", {"why": why.en}, keep_until=None, undone_by="",
            outcome_text=said.said_in(language_of(applied)),
        )  # fmt: skip
        if left is not None:
            await self._cards.settle(left)
