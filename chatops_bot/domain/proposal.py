"""The exact stored action that waits for a person.

A proposal moves only along `EDGES`. Each move is one compare-and-set on (id, state, revision) in the store; the effect
comes after the move, the chat message after the effect. `claimed` means: one process has the right to run the stored
action, now. A crash in `claimed` leaves a question that only reading back can answer, and never a second try.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.domain.tool import Plan


class ProposalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    CLAIMED = "claimed"
    APPLIED = "applied"
    FAILED = "failed"
    OUTCOME_UNKNOWN = "outcome_unknown"
    DRIFTED = "drifted"
    REJECTED = "rejected"
    EXPIRED = "expired"


EDGES: dict[ProposalState, frozenset[ProposalState]] = {
    ProposalState.PENDING: frozenset({ProposalState.APPROVED, ProposalState.REJECTED, ProposalState.EXPIRED}),
    ProposalState.APPROVED: frozenset({ProposalState.CLAIMED, ProposalState.EXPIRED}),
    ProposalState.CLAIMED: frozenset(
        {ProposalState.APPLIED, ProposalState.FAILED, ProposalState.OUTCOME_UNKNOWN, ProposalState.DRIFTED}
    ),
    ProposalState.APPLIED: frozenset(),
    ProposalState.FAILED: frozenset(),
    ProposalState.OUTCOME_UNKNOWN: frozenset(),
    ProposalState.DRIFTED: frozenset(),
    ProposalState.REJECTED: frozenset(),
    ProposalState.EXPIRED: frozenset(),
}

GUARDED_BY_EXPIRY = frozenset({ProposalState.APPROVED, ProposalState.CLAIMED})
"""States that a proposal may enter only before `expires_at`; a late reject is still a reject."""

CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 6
"""A code is read aloud and typed at night: no two of its letters look alike."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A stored action with everything that its card shows.

    `arguments` are the validated arguments as JSON values; `code` is what a person types to decide; `digest` binds the
    decision to exactly this action. `decided_*` and `outcome` are empty until there is something to say. `card` is the message that shows it, as
    of `shown_revision`.
    """

    id: str
    code: str
    session: SessionKey
    turn_id: str
    call_id: str
    tool: str
    effect: Effect
    arguments: Mapping[str, Any]
    plan: Plan
    risk: Risk
    requester_id: str
    requester_name: str
    language: str
    created_at: datetime
    expires_at: datetime
    digest: str
    state: ProposalState = ProposalState.PENDING
    revision: int = 0
    card: MessageRef | None = None
    shown_revision: int = -1
    decided_by_id: str = ""
    decided_by_name: str = ""
    decided_by_role: str = ""
    decided_at: datetime | None = None
    finished_at: datetime | None = None
    outcome: Mapping[str, Any] | None = None
    outcome_text: str = ""

    @property
    def is_open(self) -> bool:
        return self.state is ProposalState.PENDING


_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def canonical_json(value: object) -> str:
    """One spelling per value: sorted keys, no spaces, text unescaped. Equal values give equal text whatever the key order."""
    return _CANONICAL(value)


def action_digest(
    *,
    tool: str,
    arguments: Mapping[str, Any],
    plan: Plan,
    requester_id: str,
    session: SessionKey,
    expires_at: datetime,
) -> str:
    """SHA-256 over the canonical action: what will run, on what, for whom, resting on which facts, until when."""
    action = {
        "tool": tool,
        "arguments": dict(arguments),
        "target": plan.target,
        "preconditions": dict(plan.preconditions),
        "requester": requester_id,
        "session": str(session),
        "expires_at": expires_at.isoformat(),
    }
    return hashlib.sha256(canonical_json(action).encode()).hexdigest()
