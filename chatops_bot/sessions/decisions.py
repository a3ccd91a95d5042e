"""Who decided what: a press on a card or a typed code becomes a vote, a rejection, or an honest no to whoever tried.

The right is asked for each time. A decision moves the proposal by one compare-and-set, so of many who decide at once each
counts once, and who came too late is told who was faster. A button proves by its seal that this program made it; what it
says about the action is nothing: the action under an id never changes.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState, Via, Vote
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.sealed_button import opened_button
from chatops_bot.domain.sealed_vote import VoteSeals
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.voting import vote_of
from chatops_bot.ports import Clock, Proposals
from chatops_bot.rendering.card import needs_reading
from chatops_bot.rendering.card_notices import HEADINGS, READ_FIRST_REFUSED
from chatops_bot.rendering.escapes import exact
from chatops_bot.sessions.applying import Applying, expired_phrase
from chatops_bot.sessions.commands import Verdict
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards, language_of
from chatops_bot.sessions.telling import Telling
from chatops_bot.tools.drafting import subject_of
from chatops_bot.tools.proposal_moves import ProposalMoves

REASON_CHARS = 500
"""Of a reason; a sentence or two. That of a rejection the model gets as well."""

_UNKNOWN = Phrase(
    "此处没有这个提案，未执行任何操作；请核对卡片上的代码。",
    "There is no such proposal here, so nothing was run; check the code on the card.",
)
_NOT_OURS = Phrase(
    "这个按钮不属于此处的任何提案，未执行任何操作；请输入卡片上的代码，或重新发起请求。",
    "This button belongs to no proposal here, so nothing was run; type the code on the card, or ask for the change again.",
)
_VOTED = Phrase(
    "您的批准已计入（{when}），每人只计一次；还需要 {missing} 位其他人批准。",
    "Your approval counts already (since {when}), and once a person; it takes {missing} more by other people.",
)
_WHICH = Phrase("请输入{typed}，或按卡片上的按钮。", "Type {typed}, or press the button on the card.")
_COUNTED = Phrase(
    "您的批准已计入；还需要 {missing} 位其他人批准。",
    "Your approval counts; it takes {missing} more by other people.",
)
_NOT_UNDERSTOOD: dict[Verdict, Phrase] = {
    "approve": Phrase(
        "没有决定任何事：批准只能单独输入“批准 {code}”；冻结期内为“批准 {code} 紧急: 原因”。",
        "Nothing was decided: an approval takes no words behind its code. Type “approve {code}” alone, or, in a freeze, "
        "“approve {code} break-glass: reason”.",
    ),
    "reject": Phrase(
        "没有决定任何事：请输入“拒绝 {code}”，后面可以写理由。",
        "Nothing was decided: type “reject {code}”, and behind it, if you like, why.",
    ),
}
_OR = Phrase("或", " or ")
_COMMANDS: dict[Verdict, Phrase] = {
    "approve": Phrase("批准", "approve"),
    "reject": Phrase("拒绝", "reject"),
}
_REJECTED = Phrase("已拒绝，未执行任何操作。", "Rejected; nothing was run.")
_REJECTED_LATE = Phrase(
    "过期（{when}）之后被拒绝，未执行任何操作。", "Rejected, after it had expired at {when}; nothing was run."
)


@dataclass(frozen=True, slots=True)
class How:
    """How somebody decided; of a press, the revision that its card showed."""

    via: Via
    revision: int | None = None

    def told(self) -> Mapping[str, object]:
        return {"via": self.via} | ({} if self.revision is None else {"revision": self.revision})


class Decisions:
    """`keys` are those of buttons: the first one seals, each opens."""

    def __init__(
        self, *, proposals: Proposals, telling: Telling, policy: Policy, moves: ProposalMoves, cards: ProposalCards,
        applying: Applying, redactor: Redactor, clock: Clock, keys: Sequence[bytes], seals: VoteSeals,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._telling = telling
        self._policy = policy
        self._moves = moves
        self._cards = cards
        self._applying = applying
        self._redactor = redactor
        self._clock = clock
        self._keys = keys
        self._seals = seals

    async def waiting(self, session: SessionKey, requester: Person | None = None) -> list[Proposal]:
        """The session's proposals, or those of one person in it, that may be decided on now, oldest first."""
        pending = await self._proposals.in_states(frozenset({ProposalState.PENDING}))
        here = [one for one in pending if one.session == session and one.expires_at > self._clock.now()]
        return [one for one in here if requester is None or one.requester_id == requester.id]

    async def ask_which(
        self, waiting: Sequence[Proposal], person: Person, verdict: Verdict, language: Language
    ) -> None:
        """Tell somebody who gave a verdict without a code what to type: a word alone decides nothing."""
        command = _COMMANDS[verdict].said_in(language)
        typed = _OR.said_in(language).join(f"“{command} {one.code}”" for one in waiting)
        await self._telling.at(waiting[0].session, person, _WHICH.filled(typed=typed), language)

    async def knows(self, session: SessionKey, code: str) -> bool:
        """Whether a proposal of the session has this code."""
        return await self._proposals.by_code(session, code.upper()) is not None

    async def not_understood(
        self, session: SessionKey, code: str, person: Person, verdict: Verdict, language: Language
    ) -> None:
        """Tell somebody whose typed verdict on a code decides nothing what to type instead."""
        is_known = await self.knows(session, code)
        said = not_understood(verdict, code) if is_known else _UNKNOWN
        await self._telling.at(session, person, said, language)

    async def by_code(
        self, session: SessionKey, code: str, person: Person, verdict: Verdict, language: Language,
        *, reason: str = "", via: Via = "code",
    ) -> None:  # fmt: skip
        """A typed `approve <code>` or `reject <code>`, in the thread of the card.

        `reason` is why they reject, or why they approve in spite of a freeze.
        """
        proposal = await self._proposals.by_code(session, code.upper())
        if proposal is None:
            await self._telling.at(session, person, _UNKNOWN, language)
            return
        if verdict == "approve":
            is_to_be_told = await self.approve(proposal, person, How(via), break_glass=reason)
        else:
            is_to_be_told = await self.reject(proposal, person, How(via), reason=reason)
        if is_to_be_told and via == "code":
            await self._answer_typed(proposal, person)

    async def _answer_typed(self, before: Proposal, person: Person) -> None:
        """Say below a typed decision what came of it: the card may be screens above."""
        after = await self._proposals.get(before.id) or before
        if after.is_open:
            told = _COUNTED.filled(missing=after.quorum - len(after.votes))
        else:
            summary = self._redactor.text(exact(after.plan.summary.said_in(language_of(after))))
            told = HEADINGS[after.state.value].filled(summary=summary)
        await self._telling.about(after, person, told, "info")

    async def press(self, event: ControlUsed) -> None:
        """A press on Approve or Reject."""
        found = await self.opened(event)
        if found is None:
            return
        proposal, how = found
        if event.control == "approve":
            await self.approve(proposal, event.person, how)
        else:
            await self.reject(proposal, event.person, how)

    async def opened(self, event: ControlUsed) -> tuple[Proposal, How] | None:
        """The proposal that a card's button is about. None when the button is forged, or of another card or installation:
        whoever pressed it is told, and the audit notes it."""
        opened = opened_button(self._keys, event.control, event.value)
        proposal = None if opened is None else await self._proposals.get(opened[0])
        if (
            opened is None
            or proposal is None
            or proposal.session != event.session
            or opened[1] > proposal.revision
        ):
            await self._moves.refuse_press(event, _NOT_OURS)
            await self._telling.at(event.session, event.person, _NOT_OURS, None)
            return None
        return proposal, How("button", opened[1])

    async def approve(self, proposal: Proposal, person: Person, how: How, break_glass: str = "") -> bool:
        """Count the approval of somebody who may; with the last one that it takes, run the stored action. Returns whether it counts:
        otherwise they have been told why not."""
        return await self._until_moved(
            proposal, person, how, lambda latest: self._vote(latest, person, how, break_glass)
        )

    async def reject(self, proposal: Proposal, person: Person, how: How, reason: str = "") -> bool:
        """Reject for somebody who may, in time or not: a late no is a no. `reason` goes on the record, and to the model; whoever
        rejected without one may say it afterwards, once. Returns whether it counts and they have not been told anything yet."""
        said = self.reason_kept(reason)
        return await self._until_moved(
            proposal, person, how, lambda latest: self._reject(latest, person, how, said)
        )

    def reason_kept(self, reason: str) -> str:
        """What is kept of a reason that somebody gave."""
        return self._redactor.text(reason.strip())[:REASON_CHARS]

    async def explain(
        self, rejected: Proposal, person: Person, how: How, reason: str
    ) -> Proposal | Phrase | None:
        """Keep why somebody rejected, and show it to nobody yet. Returns the proposal with the reason; why they may not; or None
        when they have given one meanwhile. `reason` is as `reason_kept` gives it, and not empty."""
        refusal = self._policy.may_reject(person, subject_of(rejected))
        if refusal is not None:
            await self._moves.refuse(rejected, person, refusal, how.told())
            return refusal
        return await self._explained(rejected, person, how, reason)

    async def _until_moved(
        self,
        proposal: Proposal,
        person: Person,
        how: How,
        decide: Callable[[Proposal], Awaitable[bool | None]],
    ) -> bool:
        """Decide on the proposal as it is now, and again as often as somebody else moves it meanwhile.

        `decide` returns None when its move was lost, otherwise whether something is left to be told.
        """
        with bound(session=proposal.session, turn=proposal.turn_id, proposal=proposal.id):
            while (is_to_be_told := await decide(proposal)) is None:
                newer = await self._proposals.get(proposal.id)
                if newer is None or newer.revision == proposal.revision:
                    # Nobody was faster, so its time was over when the store came to it.
                    await self._too_late(proposal, person, how)
                    return False
                proposal = newer
            return is_to_be_told

    async def _vote(self, proposal: Proposal, person: Person, how: How, break_glass: str) -> bool | None:
        now = self._clock.now()
        if not proposal.is_open:
            await self._telling.decided(proposal, person)
            return False
        if now >= proposal.expires_at:
            await self._too_late(proposal, person, how)
            return False
        refusal = self._policy.may_approve(
            person, subject_of(proposal), now, break_glass=break_glass, via=how.via
        )
        if refusal is not None:
            return await self._refused(proposal, person, refusal, how)
        if not self._seals.has_read(proposal, person.id) and needs_reading(proposal, self._redactor.text):
            return await self._refused(proposal, person, READ_FIRST_REFUSED, how)
        is_frozen = self._policy.frozen(subject_of(proposal), now) is not None
        why = self._redactor.text(break_glass.strip())[:REASON_CHARS] if is_frozen else ""
        earlier = vote_of(proposal, person.id)
        if earlier is not None:
            missing = proposal.quorum - len(proposal.votes)
            told = _VOTED.filled(when=f"{earlier.at:%H:%M} UTC", missing=missing)
            await self._telling.about(proposal, person, told)
            return False
        vote = self._seals.vote(proposal, Vote(person.id, person.name, person.role.value, now, how.via, why))
        votes = (*proposal.votes, vote)
        is_last = len(votes) >= proposal.quorum
        moved = await self._moves.move(
            proposal, ProposalState.APPROVED if is_last else ProposalState.PENDING, person, "broke_glass" if why else "approved",
            {**how.told(), "votes": len(votes), "quorum": proposal.quorum, "digest": proposal.digest}
            | ({"break_glass": why} if why else {}),
            votes=votes, **(_decided_by(person, vote) if is_last else {}),
        )  # fmt: skip
        if moved is None:
            return None
        if is_last:
            await self._applying.run(moved)
        else:
            await self._cards.show_quietly(moved)
        return True

    async def _reject(self, proposal: Proposal, person: Person, how: How, reason: str) -> bool | None:
        is_explained = bool(reason) and lacks_reason_of(proposal, person)
        if proposal.state not in (ProposalState.PENDING, ProposalState.EXPIRED) and not is_explained:
            await self._telling.decided(proposal, person)
            return False
        refusal = self._policy.may_reject(person, subject_of(proposal))
        if refusal is not None:
            return await self._refused(proposal, person, refusal, how)
        if is_explained:
            return await self._explain(proposal, person, how, reason)
        now = self._clock.now()
        is_late = now >= proposal.expires_at
        said = _REJECTED_LATE.filled(when=f"{proposal.expires_at:%H:%M} UTC") if is_late else _REJECTED
        rejected = await self._moves.move(
            proposal, ProposalState.REJECTED, person, "rejected",
            {**how.told(), "after_expiry": is_late, "reason": reason},
            decided_by_id=person.id, decided_by_name=person.name, decided_by_role=person.role.value, decided_at=now,
            reason=reason, outcome_text=said.said_in(language_of(proposal)),
        )  # fmt: skip
        if rejected is None:
            return None
        await self._cards.settle(rejected)
        if is_late:
            await self._telling.about(proposal, person, said)
        return not is_late

    async def _explain(self, rejected: Proposal, person: Person, how: How, reason: str) -> bool | None:
        explained = await self._explained(rejected, person, how, reason)
        if explained is None:
            return None
        await self._cards.settle(explained)
        return True

    async def _explained(self, rejected: Proposal, person: Person, how: How, reason: str) -> Proposal | None:
        content = {**how.told(), "reason": reason}
        return await self._moves.move(
            rejected, ProposalState.REJECTED, person, "reason_given", content, reason=reason
        )

    async def _too_late(self, proposal: Proposal, person: Person, how: How) -> None:
        await self._moves.refuse(proposal, person, expired_phrase(proposal), how.told())
        await self._applying.expire(proposal, expired_phrase(proposal))
        await self._telling.about(proposal, person, expired_phrase(proposal))

    async def _refused(self, proposal: Proposal, person: Person, why: Phrase, how: How) -> bool:
        await self._moves.refuse(proposal, person, why, how.told())
        await self._telling.about(proposal, person, why)
        return False


def not_understood(verdict: Verdict, code: str) -> Phrase:
    """That words behind a verdict made it none, and what to type instead."""
    return _NOT_UNDERSTOOD[verdict].filled(code=code.upper())


def lacks_reason_of(proposal: Proposal, person: Person) -> bool:
    """Whether `person` rejected it and has not said why."""
    is_theirs = proposal.decided_by_id == person.id
    return proposal.state is ProposalState.REJECTED and is_theirs and not proposal.reason


def _decided_by(person: Person, vote: Vote) -> Mapping[str, object]:
    return {
        "decided_by_id": person.id,
        "decided_by_name": person.name,
        "decided_by_role": person.role.value,
        "decided_at": vote.at,
    }
