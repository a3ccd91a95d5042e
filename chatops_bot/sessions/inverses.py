"""Which proposal takes an applied one back, and how the applied one comes to point to it."""

from collections.abc import Mapping

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.ports import Proposals
from chatops_bot.sessions.telling import Telling
from chatops_bot.tools.proposal_moves import ProposalMoves

UNDER_WAY = frozenset({ProposalState.APPROVED, ProposalState.CLAIMED, ProposalState.APPLIED})
"""An inverse in one of these has taken its change back, or is about to."""
IN_THE_WAY = UNDER_WAY | {ProposalState.PENDING}
"""Beside an inverse in one of these no second one is proposed."""

_UNDONE_ALREADY = Phrase("已提出撤销（{code}）。", "An undo was proposed already, as {code}.")
_BEING_UNDONE = Phrase("已有人正在提出撤销。", "Somebody is proposing an undo at this moment.")


async def newest_inverse(proposals: Proposals, applied: Proposal) -> Proposal | None:
    """The proposal that takes `applied` back, or the one that was asked for again in its place; None where there is none."""
    found = await proposals.get(applied.undone_by)
    while found is not None:
        newer = await proposals.get(found.superseded_by)
        if newer is None or newer.inverse_of != applied.id:
            return found
        found = newer
    return None


async def is_in_the_way(proposals: Proposals, applied: Proposal) -> bool:
    """Whether `applied` was taken back, may still be, or points to a proposal that somebody is just storing."""
    inverse = await newest_inverse(proposals, applied)
    return bool(applied.undone_by) if inverse is None else inverse.state in IN_THE_WAY


async def pointed(
    proposals: Proposals,
    moves: ProposalMoves,
    telling: Telling,
    applied: Proposal,
    draft: Proposal,
    person: Person,
    how: Mapping[str, object],
) -> Proposal | None:
    """`applied` once it points to `draft`, on behalf of `person`; None when another inverse is in the way, which they are told."""
    latest: Proposal | None = applied
    while latest is not None and not await is_in_the_way(proposals, latest):
        noted = await moves.move(
            latest,
            ProposalState.APPLIED,
            person,
            "undone",
            {**how, "undone_by": draft.id},
            undone_by=draft.id,
        )
        if noted is not None:
            return noted
        latest = await proposals.get(applied.id)
    other = None if latest is None else await newest_inverse(proposals, latest)
    said = _BEING_UNDONE if other is None else _UNDONE_ALREADY.filled(code=other.code)
    await telling.about(applied, person, said, "info")
    return None
