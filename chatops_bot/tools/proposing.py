"""A call that changes the world becomes a proposal: planned by reading, stored, shown; not run.

The same call that waits in this conversation already gets no second card. A call of another turn for the same target with
other arguments replaces the older card, as long as nobody has approved that one: two cards that contradict each other
would leave it to chance which of them somebody presses. Where nobody knows what came of the last such change of the target, the
card says that this may be its second time.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import Told, Words
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import Clock, Proposals, WriteTool
from chatops_bot.tools.drafting import Drafter
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation
from chatops_bot.tools.proposal_moves import ProposalMoves


class Proposer:
    """Turns write calls into stored proposals."""

    def __init__(self, proposals: Proposals, moves: ProposalMoves, drafter: Drafter, clock: Clock) -> None:
        self._proposals = proposals
        self._moves = moves
        self._drafter = drafter
        self._clock = clock

    def proposed(self, words: Words, inner: Handler) -> Handler:
        """`words` is what the model is told of what waits."""

        async def propose(invocation: Invocation) -> Dispatched:
            if invocation.tool.spec.effect is Effect.READ:
                return await inner(invocation)
            return await self._propose(invocation, words)

        return propose

    async def _propose(self, invocation: Invocation, words: Words) -> Dispatched:
        started = self._clock.monotonic()
        tool, context = cast("WriteTool", invocation.tool), invocation.context
        waiting = await waiting_here(self._proposals, context.session, tool.spec.name, self._clock.now())
        same = same_call(waiting, invocation.arguments.model_dump(mode="json"))
        if same is not None:
            return Dispatched(
                _waits_already(same, words(Told("waits_already"), invocation.language)), "known"
            )
        draft = await self._drafter.draft(
            tool, invocation.arguments, context, call_id=invocation.call.id, language=invocation.language
        )
        draft = replace(draft, supersedes=await self._supersede(waiting, draft, context.person))
        milliseconds = round((self._clock.monotonic() - started) * 1000)
        result = _waits(draft, words(Told("waits_for_approval"), invocation.language))
        await self._moves.add(draft, context.person, result.content, milliseconds, by_turn=context.turn_id)
        return Dispatched(result, "proposed", draft)

    async def _supersede(self, waiting: list[Proposal], draft: Proposal, person: Person) -> str:
        """Replace what waits for the same target since an earlier turn; returns the id of the newest that was replaced.

        Before the new one is stored: who looks in between finds one card too few, never two that contradict each other.
        """
        newest = ""
        for one in waiting:
            if one.plan.target == draft.plan.target and one.turn_id != draft.turn_id and not one.votes:
                replaced = await self._moves.supersede(one, draft, person, by_turn=draft.turn_id)
                newest = newest if replaced is None else one.id
        return newest


async def waiting_here(proposals: Proposals, session: SessionKey, tool: str, now: datetime) -> list[Proposal]:
    """The proposals of a tool that may be decided on in a conversation, oldest first."""
    pending = await proposals.in_states(frozenset({ProposalState.PENDING}))
    return [one for one in pending if one.session == session and one.tool == tool and one.expires_at > now]


def same_call(waiting: list[Proposal], arguments: Mapping[str, Any]) -> Proposal | None:
    """The one of `waiting` that has exactly these arguments."""
    wanted = canonical_json(arguments)
    return next((one for one in waiting if canonical_json(one.arguments) == wanted), None)


def _waits(proposal: Proposal, said: str) -> ToolResult:
    return ToolResult(
        status="waits",
        content={"status": said, **_told(proposal)},
        summary=Phrase(f"等待批准 {proposal.code}", f"waits for approval as {proposal.code}"),
    )


def _waits_already(proposal: Proposal, said: str) -> ToolResult:
    return ToolResult(
        status="waits",
        content={"status": said, **_told(proposal)},
        summary=Phrase(f"已在等待批准 {proposal.code}", f"waits for approval already, as {proposal.code}"),
    )


def _told(proposal: Proposal) -> Mapping[str, Any]:
    return {
        "proposal": proposal.code,
        "target": proposal.plan.target,
        "expires_at": proposal.expires_at.isoformat(timespec="seconds"),
    }
