"""Whose approvals make a quorum: different people, each counted once."""

from collections.abc import Iterable

from chatops_bot.domain.proposal import Proposal, Vote
from chatops_bot.domain.voice import voice


def voices(person_ids: Iterable[str]) -> int:
    """How many different voices these people are."""
    return len(set(map(voice, person_ids)))


def vote_of(proposal: Proposal, person_id: str) -> Vote | None:
    """The approval that this voice has given already."""
    return next((vote for vote in proposal.votes if voice(vote.person_id) == voice(person_id)), None)
