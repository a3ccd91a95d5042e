"""Asking again for what did not come to be: the same call, planned anew for whoever presses, on a card of its own.

The old proposal makes way first, by compare-and-set, so that two presses make one new card. One that was tried keeps saying
what came of it; where nobody knows that, the new card says that it may be done a second time.
"""

from typing import cast

from chatops_bot.domain.errors import ToolError, ToolFailed
from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.secret_argument import references_in
from chatops_bot.ports import Clock, Proposals, ToolContext, WriteTool
from chatops_bot.sessions.decisions import Decisions, How
from chatops_bot.sessions.inverses import pointed
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards, language_of
from chatops_bot.sessions.telling import Telling
from chatops_bot.tools.apply import called
from chatops_bot.tools.drafting import Drafter
from chatops_bot.tools.proposal_moves import ProposalMoves
from chatops_bot.tools.proposing import same_call, waiting_here
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.validation import stored_arguments

_WAITS_ALREADY = Phrase(
    "同一变更已在等待批准（{code}），没有再次提出。",
    "The same change waits for approval already, as {code}; it was not proposed a second time.",
)
_SECRET_IS_GONE = Phrase(
    "表单里填写的机密已删除；请重新发起请求并再次填写。",
    "what was typed into its form is deleted; ask for the change again and fill it in anew.",
)
_CANNOT = Phrase("无法重新提出：{why_zh}", "It cannot be proposed again: {why_en}")


class Renewals:
    def __init__(
        self, *, proposals: Proposals, registry: Registry, drafter: Drafter, policy: Policy, moves: ProposalMoves,
        cards: ProposalCards, decisions: Decisions, telling: Telling, redactor: Redactor, clock: Clock,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._registry = registry
        self._drafter = drafter
        self._policy = policy
        self._moves = moves
        self._cards = cards
        self._decisions = decisions
        self._telling = telling
        self._redactor = redactor
        self._clock = clock

    async def press(self, event: ControlUsed) -> None:
        """A press on Propose again."""
        found = await self._decisions.opened(event)
        if found is not None:
            old, how = found
            with bound(session=old.session, turn=old.turn_id, proposal=old.id):
                await self.renew(old, event.person, how)

    async def renew(self, old: Proposal, person: Person, how: How) -> None:
        """Propose the same call anew for `person`, who may ask for it, as things are now."""
        if not old.may_be_asked_again:
            await self._telling.decided(old, person)
            return
        refusal = self._policy.may_ask(person, old.tool, old.effect, old.session.channel)
        if refusal is not None:
            await self._moves.refuse(old, person, refusal, how.told())
            await self._telling.about(old, person, refusal)
            return
        waiting = await waiting_here(self._proposals, old.session, old.tool, self._clock.now())
        same = same_call(waiting, old.arguments)
        if same is not None:
            await self._telling.about(old, person, _WAITS_ALREADY.filled(code=same.code))
            return
        try:
            draft = await self._draft(old, person)
        except ToolError as error:
            why = self._redactor.phrase(error.phrase)
            await self._telling.about(old, person, _CANNOT.filled(why_zh=why.zh, why_en=why.en))
            return
        taken_back = await self._proposals.get(old.inverse_of)
        if taken_back is not None:
            taken_back = await pointed(
                self._proposals, self._moves, self._telling, taken_back, draft, person, how.told()
            )
            if taken_back is None:
                return
        superseded = await self._moves.supersede(old, draft, person)
        if superseded is None:
            newer = await self._proposals.get(old.id)
            await self._telling.decided(newer or old, person)
            return
        await self._moves.add(draft, person, how.told())
        if await self._is_the_only_one(draft, person):
            await self._cards.show_new(draft)
        if taken_back is not None:
            await self._cards.show_quietly(taken_back)

    async def _is_the_only_one(self, draft: Proposal, person: Person) -> bool:
        """Whether `draft` stands. Two old cards of one call may be pressed at once, and neither press saw the other's proposal
        before it stored its own: the later one gives way, whichever of the two presses sees it, unless somebody approved it."""
        waiting = await waiting_here(self._proposals, draft.session, draft.tool, self._clock.now())
        others = [one for one in waiting if one.id != draft.id]
        other = same_call(others, draft.arguments)
        if other is None:
            return True
        first, later = sorted((draft, other), key=lambda one: (not one.votes, one.created_at, one.id))
        replaced = await self._moves.supersede(later, first, person)
        if replaced is not None:
            await self._cards.settle(replaced)
        if first is other:
            await self._telling.about(draft, person, _WAITS_ALREADY.filled(code=other.code))
        return first is draft

    async def _draft(self, old: Proposal, person: Person) -> Proposal:
        if references_in(old.arguments):
            raise ToolFailed(_SECRET_IS_GONE)
        tool = cast("WriteTool", self._registry.find(old.tool))
        arguments = stored_arguments(old.arguments, tool.spec.arguments)
        context = ToolContext(person, old.session, old.turn_id)
        drafting = self._drafter.draft(
            tool,
            arguments,
            context,
            call_id=old.call_id,
            language=language_of(old),
            supersedes=old.id,
            may_repeat=old.id if old.state is ProposalState.OUTCOME_UNKNOWN else old.may_repeat,
            inverse_of=old.inverse_of,
        )
        return await called(tool.spec, drafting)
