"""An HMAC over each approval and each reading: whoever can write the store, but has not the key, approves nothing.

A seal holds for one proposal, with the action that it held, one person and all that stands on their vote.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import replace

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.proposal import Proposal, Reader, Vote, sealed_digest


class VoteSeals:
    """`keys` are those with which actions are sealed: the first one seals, each verifies."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys

    def vote(self, proposal: Proposal, vote: Vote) -> Vote:
        """`vote` with its seal, good for this proposal alone."""
        return replace(vote, seal=_sealed(self._keys[0], _of_vote(proposal, vote)))

    def reader(self, proposal: Proposal, person_id: str) -> Reader:
        """That this person opened all of the proposal's action."""
        return Reader(person_id, _sealed(self._keys[0], _of_reader(proposal, person_id)))

    def covers(self, proposal: Proposal) -> bool:
        """Whether this program stored the action as it stands, and counted each of its votes, of which there are some."""
        is_sealed = any(
            hmac.compare_digest(
                sealed_digest(key, proposal).encode(), proposal.digest.encode(errors="surrogatepass")
            )
            for key in self._keys
        )
        return is_sealed and bool(proposal.votes) and not self.forged(proposal)

    def forged(self, proposal: Proposal) -> list[Vote]:
        """The stored votes of which this program made none, or not for this proposal, or not as they stand."""
        return [vote for vote in proposal.votes if not self._holds(vote.seal, _of_vote(proposal, vote))]

    def has_read(self, proposal: Proposal, person_id: str) -> bool:
        """Whether it is on record, and truly, that this person opened all of it."""
        said = _of_reader(proposal, person_id)
        return any(one.person_id == person_id and self._holds(one.seal, said) for one in proposal.read_by)

    def _holds(self, seal: str, message: bytes) -> bool:
        return any(
            hmac.compare_digest(seal.encode(errors="surrogatepass"), _sealed(key, message).encode())
            for key in self._keys
        )


def _of_vote(proposal: Proposal, vote: Vote) -> bytes:
    said = (vote.person_id, vote.person_name, vote.role, vote.at.isoformat(), vote.via, vote.break_glass)
    return canonical_json(["vote", proposal.id, proposal.digest, *said]).encode(errors="surrogatepass")


def _of_reader(proposal: Proposal, person_id: str) -> bytes:
    return canonical_json(["read", proposal.id, proposal.digest, person_id]).encode(errors="surrogatepass")


def _sealed(key: bytes, message: bytes) -> str:
    return hmac.new(key, message, hashlib.sha256).hexdigest()
