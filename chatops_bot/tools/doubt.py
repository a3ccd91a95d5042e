"""Whether an action may have been done already: nobody knows what came of the last one like it."""

from datetime import timedelta

from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.ports import Proposals

IN_DOUBT_FOR = timedelta(days=1)
"""How long people are reminded of a change of which nobody knows what came. By then somebody has looked."""


async def in_doubt(proposals: Proposals, draft: Proposal) -> str:
    """The newest proposal that did the same to the same target, as far as anybody knows; empty where there is none."""
    unknown = await proposals.in_states(frozenset({ProposalState.OUTCOME_UNKNOWN}))
    since = draft.created_at - IN_DOUBT_FOR
    for one in reversed(unknown):
        is_same = (one.tool, one.plan.target) == (draft.tool, draft.plan.target)
        if is_same and (one.finished_at or one.created_at) > since and not await _is_applied(proposals, one):
            return one.id
    return ""


async def _is_applied(proposals: Proposals, proposal: Proposal) -> bool:
    """Whether it, or what was proposed in its place, was done."""
    newer: Proposal | None = proposal
    while newer is not None:
        proposal = newer
        newer = await proposals.get(proposal.superseded_by)
    return proposal.state is ProposalState.APPLIED
