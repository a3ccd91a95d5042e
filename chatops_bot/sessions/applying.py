"""An approved proposal is run: its target is locked, its approvers are looked up afresh, it is claimed, run, and settled.

No model is in reach of anything here. Whatever ends the process, what it leaves says how far it came: an approved proposal
ran nothing yet; a claimed one is settled by reading back, and is never tried again.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from chatops_bot.domain.errors import PlatformError, StoreError
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role, lower
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState, Vote
from chatops_bot.domain.sealed_vote import VoteSeals
from chatops_bot.domain.session import IsDead
from chatops_bot.domain.voting import voices
from chatops_bot.ports import Clock, Directory, Proposals
from chatops_bot.sessions.ending import let_go
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards, language_of
from chatops_bot.sessions.target_lock import TargetLock
from chatops_bot.tools.apply import Applied, Applier
from chatops_bot.tools.drafting import subject_of
from chatops_bot.tools.proposal_moves import NOBODY, ProposalMoves

_log = logging.getLogger(__name__)

MOMENT_SECONDS = 5.0
"""What a sweep, or a start, waits for what it runs before it goes on."""
KEPT_SECONDS, AGAIN_SECONDS = 600.0, 1.0
"""How long, and how often, what came of an action is tried to be stored while the store is away."""

STALE_AFTER = timedelta(seconds=60)
"""A card that is behind for longer than any edit takes was missed, and is not just on its way."""

_EXPIRED = Phrase(
    "此提案已于 {when} 过期，未执行任何操作；如仍需要，请在卡片上重新提出。",
    "This proposal expired at {when}; nothing was run. Press Propose again on its card if it is still needed.",
)
_NOT_ALLOWED_ANY_MORE = Phrase(
    "执行前发现 {who} 已无权批准，未执行任何操作；如仍需要，请重新提出。",
    "{who} may not approve this any more, so nothing was run. Propose it again if it is still needed.",
)
_FROZEN_SINCE = Phrase(
    "批准之后、执行之前开始了冻结期，未执行任何操作；如仍需要，请重新提出。",
    "A freeze began after it was approved and before it could run, so nothing was run. Propose it again if it is still needed.",
)
_FORGED = Phrase(
    "存储的批准（{who}）不是本机器人记录的，未执行任何操作；有人改动过存储，请核查审计记录。",
    "A stored approval ({who}) was not counted by this bot, so nothing was run. Somebody wrote to the store: look into the audit.",
)
_NOT_CONFIRMED = Phrase(
    "执行前无法确认批准人的身份，未执行任何操作；如仍需要，请重新提出。",
    "The approver's identity could not be confirmed before running, so nothing was run. Propose it again if it is still needed.",
)
_DONE_SINCE = Phrase(
    "现已查明，此前结果未知的那一次已经生效，因此没有再次执行。",
    "The earlier one, of which nobody knew, did take effect after all; so this one was not run.",
)
_IS_FROZEN = Phrase("现在是冻结期", "a freeze holds")
_NO_RIGHT = Phrase("{who} 已无权批准这样的变更", "{who} may not approve such a change any more")
_STANDS = Phrase(
    "如果它已生效，不会自动撤销；请查看后自行撤销。",
    "If it took effect it is not taken back by itself; look, and take it back yourself.",
)
_WAITS_FOR_TARGET = Phrase(
    "正在等待同一对象（{target}）上的另一个变更结束。",
    "It waits for another change of the same target, {target}, to come to its end.",
)


def expired_phrase(proposal: Proposal) -> Phrase:
    """That a proposal expired, and when."""
    return _EXPIRED.filled(when=f"{proposal.expires_at:%H:%M} UTC")


@dataclass(frozen=True, slots=True)
class _Withdrawal:
    """Why what was approved is not run, as the audit names it and as people read it, and the votes that do not hold."""

    cause: Literal["forged", "not_confirmed", "frozen", "lost_right", "done_already"]
    said: Phrase
    votes: Sequence[Vote]


class Applying:
    def __init__(
        self, *, proposals: Proposals, directory: Directory, applier: Applier, policy: Policy, moves: ProposalMoves,
        cards: ProposalCards, lock: TargetLock, process: str, is_dead: IsDead, clock: Clock, seals: VoteSeals,
    ) -> None:  # fmt: skip
        """`process` names this process among those that share the store."""
        self._proposals = proposals
        self._directory = directory
        self._applier = applier
        self._policy = policy
        self._moves = moves
        self._cards = cards
        self._lock = lock
        self._process = process
        self._is_dead = is_dead
        self._clock = clock
        self._seals = seals
        self._running: set[str] = set()
        self._beside: set[asyncio.Task[None]] = set()

    async def run(self, approved: Proposal, on_wait: Callable[[], None] = lambda: None) -> None:
        """Bring an approved proposal to its end. Does nothing when it is being run already, here or elsewhere. `on_wait` is told
        if its target is busy."""
        if approved.id in self._running:
            return
        self._running.add(approved.id)
        try:
            with bound(session=approved.session, turn=approved.turn_id, proposal=approved.id):
                async with self._lock.held(approved, partial(self._say_waits, approved, on_wait)) as fence:
                    final = await self._claim_and_run(approved, fence)
                if final is not None:
                    await self._cards.settle(final)
        finally:
            self._running.discard(approved.id)

    async def _say_waits(self, approved: Proposal, on_wait: Callable[[], None]) -> None:
        on_wait()
        await self._cards.show_note(approved, _WAITS_FOR_TARGET.filled(target=approved.plan.target))

    async def _claim_and_run(self, approved: Proposal, fence: int | None) -> Proposal | None:
        """The proposal at its end; None when another process brings it there."""
        if fence is None:
            return await self._expired(approved, expired_phrase(approved))
        forged = self._seals.forged(approved)
        if forged:
            _log.error("proposal %s has approvals in the store that no bot counted", approved.id)
            return await self._withdrawn(approved, _Withdrawal("forged", _FORGED, forged))
        in_doubt = await self._proposals.get(approved.may_repeat)
        if (
            in_doubt is not None and in_doubt.state is ProposalState.APPLIED
        ):  # known since this one was asked for
            return await self._withdrawn(approved, _Withdrawal("done_already", _DONE_SINCE, ()))
        approver = await self._standing(approved)
        if isinstance(approver, _Withdrawal):
            return await self._withdrawn(approved, approver)
        claimed = await self._moves.move(
            approved, ProposalState.CLAIMED, approver, "claimed", {"process": self._process, "fence": fence},
            claimed_by=self._process, fence=fence,
        )  # fmt: skip
        if claimed is None:  # by the clock; where another process has it, this move is lost as well
            return await self._expired(approved, expired_phrase(approved))
        # The effect waits for no message.
        showing = asyncio.create_task(self._cards.show_quietly(claimed), name="card of a running change")
        try:
            applied = await self._applier.apply(claimed, approver, partial(self._still_holds, claimed))
            final = await self._finished_at_last(claimed, approver, applied)
        except BaseException:
            showing.cancel()
            raise
        await showing
        return final

    async def hindrance(self, approved: Proposal) -> Phrase | None:
        """Why `approved` would not be run now. Raises PlatformError while it cannot be asked who approved it."""
        found = await self._standing(approved)
        if isinstance(found, Person):
            return None
        if found.cause == "not_confirmed":
            raise PlatformError("It cannot be confirmed who approved it.")
        who = ", ".join(vote.person_name for vote in found.votes)
        return (_IS_FROZEN if found.cause == "frozen" else _NO_RIGHT).filled(who=who)

    async def _standing(self, approved: Proposal) -> Person | _Withdrawal:
        """The last of the approvers, when enough of them may still approve; otherwise why nothing may run."""
        subject, now = subject_of(approved), self._clock.now()
        standing: list[Person] = []
        lost: list[Vote] = []
        frozen_out: list[Vote] = []
        for vote in approved.votes:
            try:
                person = await self._voter(vote, approved)
            except PlatformError as error:
                _log.warning("who approved proposal %s cannot be confirmed: %s", approved.id, error)
                continue
            why = self._policy.may_approve(person, subject, now, break_glass=vote.break_glass, via=vote.via)
            if why is None:
                standing.append(person)
                continue
            _log.info("the approval of %s does not hold any more: %s", vote.person_id, why)
            could = self._policy.could_approve(person, subject, vote.via)
            (frozen_out if could else lost).append(vote)
        if standing and voices(person.id for person in standing) >= approved.quorum:
            return standing[-1]
        if lost:
            return _Withdrawal("lost_right", _NOT_ALLOWED_ANY_MORE, lost)
        if frozen_out:
            return _Withdrawal("frozen", _FROZEN_SINCE, frozen_out)
        return _Withdrawal("not_confirmed", _NOT_CONFIRMED, approved.votes)

    async def _voter(self, vote: Vote, proposal: Proposal) -> Person:
        """Who voted, with what they may now of what they voted with: at a terminal people may act with less."""
        today = await self._directory.person(vote.person_id, proposal.session.channel, fresh=True)
        return replace(today, role=lower(Role(vote.role), today.role))

    async def _still_holds(self, claimed: Proposal) -> bool:
        """Whether nobody took this process for dead since it claimed: asked last before the effect, which nobody could take back."""
        try:
            if not await self._lock.still_held(claimed):
                return False
            stored = await self._proposals.get(claimed.id)
        except StoreError as error:
            _log.warning("whether proposal %s is still to be run here cannot be asked: %s", claimed.id, error)
            return False
        return stored is not None and stored.revision == claimed.revision

    async def _finished_at_last(self, claimed: Proposal, person: Person, applied: Applied) -> Proposal | None:
        """As `_finished`; while the store is away it is tried again, since nobody else knows what came of the action."""
        deadline = self._clock.monotonic() + KEPT_SECONDS
        while True:
            try:
                return await self._finished(claimed, person, applied)
            except StoreError as error:
                if self._clock.monotonic() >= deadline:
                    raise
                _log.error("what came of proposal %s cannot be stored yet: %s", claimed.id, error)
                await asyncio.sleep(AGAIN_SECONDS)

    async def _finished(self, claimed: Proposal, person: Person, applied: Applied) -> Proposal | None:
        final = await self._ended(claimed, applied.state, person, applied)
        while final is None:
            stored = await self._proposals.get(claimed.id)
            if stored is None or stored.claimed_by != self._process:
                return None
            if (
                stored.state is not ProposalState.OUTCOME_UNKNOWN
                or applied.state is ProposalState.OUTCOME_UNKNOWN
            ):
                # The move that was lost may have been this one's own, whose answer did not arrive.
                said = _said(claimed, applied)
                return stored if (stored.state, stored.outcome_text) == (applied.state, said) else None
            # Another process took this one for dead; what this one saw is worth more, however often people move it meanwhile.
            _log.warning("proposal %s was given up by another process and comes to its end here", claimed.id)
            ran = applied.state is ProposalState.APPLIED
            to = ProposalState.APPLIED if ran else ProposalState.FAILED
            final = await self._ended(stored, to, person, applied)
        return final

    async def _ended(
        self, proposal: Proposal, to: ProposalState, person: Person, applied: Applied
    ) -> Proposal | None:
        keep_for = proposal.keep_for if to is ProposalState.APPLIED else None
        until = {} if keep_for is None else {"keep_until": self._clock.now() + keep_for}
        outcome: Mapping[str, object] = applied.content
        if applied.is_tampered:
            _log.error("proposal %s was changed in the store after it was shown; nothing ran", proposal.id)
        return await self._moves.move(
            proposal, to, person, "tampered" if applied.is_tampered else to.value, outcome,
            finished_at=self._clock.now(), outcome=outcome, outcome_text=_said(proposal, applied),
            **until,
        )  # fmt: skip

    async def expire(self, proposal: Proposal, why: Phrase) -> None:
        """Close a proposal that nobody may run any more, unless somebody was faster."""
        expired = await self._expired(proposal, why)
        if expired is not None:
            await self._cards.settle(expired)

    async def _expired(self, proposal: Proposal, why: Phrase) -> Proposal | None:
        return await self._moves.move(
            proposal, ProposalState.EXPIRED, NOBODY, "expired", {"why": why.en},
            outcome_text=why.said_in(language_of(proposal)),
        )  # fmt: skip

    async def _withdrawn(self, approved: Proposal, withdrawal: _Withdrawal) -> Proposal | None:
        who = ", ".join(vote.person_name for vote in withdrawal.votes)
        said = withdrawal.said.filled(who=who)
        voters = [vote.person_id for vote in withdrawal.votes]
        return await self._moves.move(
            approved, ProposalState.WITHDRAWN, NOBODY, "withdrawn",
            {"why": said.en, "cause": withdrawal.cause, "voters": voters},
            outcome_text=said.said_in(language_of(approved)),
        )  # fmt: skip

    async def sweep(self) -> None:
        """Close what nobody decided in time or could be run in time, settle what dead processes ran, and bring cards up to date
        that an edit did not reach."""
        now = self._clock.now()
        for proposal in await self._in_states(ProposalState.PENDING, ProposalState.APPROVED):
            if now >= proposal.expires_at:
                await self.expire(proposal, expired_phrase(proposal))
        await self._settle_abandoned()
        approved = await self._in_states(ProposalState.APPROVED)
        # Whose process died in the moment between.
        await self.run_beside([one for one in approved if now - _touched(one) > STALE_AFTER])
        for proposal in await self._proposals.with_stale_card():
            if proposal.state is not ProposalState.CLAIMED and now - _touched(proposal) > STALE_AFTER:
                await self._cards.catch_up(proposal)

    async def recover(self) -> None:
        """After a process died, this one's predecessor or another: settle what it ran, run what was approved, catch up on cards."""
        await self._settle_abandoned()
        await self.run_beside(await self._in_states(ProposalState.APPROVED))
        for proposal in await self._proposals.with_stale_card():
            if proposal.state is not ProposalState.CLAIMED:
                await self._cards.catch_up(proposal)

    async def rest(self, patience: float) -> None:
        """Let what a sweep or a recovery started come to its end, for so many seconds; the rest is cut off, as by a crash."""
        if self._beside:
            await asyncio.wait(self._beside, timeout=patience)
        await let_go([*self._beside])

    async def run_beside(self, approved: Sequence[Proposal]) -> None:
        """Run them beside all else, since one may wait for its target as long as it lives; those that run at once get a moment."""
        started = []
        for one in approved:
            gone_on = asyncio.Event()
            task = asyncio.create_task(self._run_telling(one, gone_on), name=f"run of {one.id}")
            self._beside.add(task)
            task.add_done_callback(self._is_over)
            started.append(gone_on)
        with suppress(TimeoutError):
            async with asyncio.timeout(MOMENT_SECONDS):
                for gone_on in started:
                    await gone_on.wait()

    async def _run_telling(self, approved: Proposal, gone_on: asyncio.Event) -> None:
        try:
            await self.run(approved, gone_on.set)
        finally:
            gone_on.set()

    def _is_over(self, task: asyncio.Task[None]) -> None:
        self._beside.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            _log.error("the %s failed", task.get_name(), exc_info=failure)

    async def _settle_abandoned(self) -> None:
        for proposal in await self._in_states(ProposalState.CLAIMED):
            if proposal.id not in self._running and await self._is_abandoned(proposal):
                await self._settle_by_reading(proposal)

    async def _is_abandoned(self, claimed: Proposal) -> bool:
        return claimed.claimed_by in ("", self._process) or await self._is_dead(claimed.claimed_by)

    async def _settle_by_reading(self, claimed: Proposal) -> None:
        with bound(session=claimed.session, turn=claimed.turn_id, proposal=claimed.id):
            person = await self._runner(claimed)
            final = await self._finished(claimed, person, await self._applier.recover(claimed, person))
            if final is not None:
                await self._cards.settle(final)

    async def _runner(self, claimed: Proposal) -> Person:
        """Who approved last, or, where nobody can say who that is, somebody of that id with no rights."""
        if not claimed.votes:
            return NOBODY
        vote = claimed.votes[-1]
        try:
            return await self._voter(vote, claimed)
        except PlatformError as error:
            _log.warning("who %s is cannot be asked: %s", vote.person_id, error)
            return Person(vote.person_id, vote.person_name, Role.GUEST)

    async def _in_states(self, *states: ProposalState) -> list[Proposal]:
        return await self._proposals.in_states(frozenset(states))


def _said(proposal: Proposal, applied: Applied) -> str:
    """What came of it, in the words of its card."""
    language = language_of(proposal)
    said = applied.summary.said_in(language)
    may_stand = applied.state is ProposalState.OUTCOME_UNKNOWN and proposal.keep_for is not None
    return f"{said} {_STANDS.said_in(language)}" if may_stand else said


def _touched(proposal: Proposal) -> datetime:
    """When the proposal last changed."""
    voted = [vote.at for vote in proposal.votes]
    return max(filter(None, [proposal.finished_at, proposal.decided_at, proposal.created_at, *voted]))
