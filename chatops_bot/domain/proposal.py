"""The exact stored action that waits for people, and all that became of it.

A proposal moves only along `EDGES`. Each move is one compare-and-set on (id, state, revision) in the store, together with
its audit row; the effect comes after the move, the chat message after the effect. `claimed` means: one process has the
right to run the stored action, now. A crash in `claimed` leaves a question that only reading back can answer, and never a
second try; only the process that held the claim may still answer it, with what it saw itself. `withdrawn` means: it was
approved, and right before it ran that no longer held. An edge from a state to itself notes something on the proposal: an
approval of several, a reminder, why it was rejected, what was seen after it was applied, which proposal asks for the same
once more. Of what ran, or may have, the state stays what it is then.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.domain.tool import Plan, Verdict


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
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


EDGES: dict[ProposalState, frozenset[ProposalState]] = {
    ProposalState.PENDING: frozenset(
        {
            ProposalState.PENDING,
            ProposalState.APPROVED,
            ProposalState.REJECTED,
            ProposalState.EXPIRED,
            ProposalState.SUPERSEDED,
        }
    ),
    ProposalState.APPROVED: frozenset(
        {ProposalState.CLAIMED, ProposalState.EXPIRED, ProposalState.WITHDRAWN}
    ),
    ProposalState.CLAIMED: frozenset(
        {ProposalState.APPLIED, ProposalState.FAILED, ProposalState.OUTCOME_UNKNOWN, ProposalState.DRIFTED}
    ),
    ProposalState.APPLIED: frozenset({ProposalState.APPLIED}),
    ProposalState.FAILED: frozenset({ProposalState.FAILED}),
    ProposalState.OUTCOME_UNKNOWN: frozenset(
        {ProposalState.OUTCOME_UNKNOWN, ProposalState.APPLIED, ProposalState.FAILED}
    ),
    ProposalState.DRIFTED: frozenset({ProposalState.SUPERSEDED}),
    ProposalState.REJECTED: frozenset({ProposalState.REJECTED}),
    ProposalState.EXPIRED: frozenset({ProposalState.REJECTED, ProposalState.SUPERSEDED}),
    ProposalState.WITHDRAWN: frozenset({ProposalState.SUPERSEDED}),
    ProposalState.SUPERSEDED: frozenset(),
}

GUARDED_BY_EXPIRY = frozenset({ProposalState.PENDING, ProposalState.APPROVED, ProposalState.CLAIMED})
"""States that a proposal may enter only before `expires_at`. An approval of several enters `pending` once more; a late
reject is still a reject."""

ENDED = frozenset(ProposalState) - {ProposalState.PENDING, ProposalState.APPROVED, ProposalState.CLAIMED}
"""States in which an action will not be run any more."""

TRIED = frozenset({ProposalState.FAILED, ProposalState.OUTCOME_UNKNOWN})
"""States of an action that was tried, which it may say after it was asked for again."""

_RENEWABLE = TRIED | {ProposalState.DRIFTED, ProposalState.EXPIRED, ProposalState.WITHDRAWN}

CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 6
"""A code is read aloud and typed at night: no two of its letters look alike."""

Via = Literal["button", "code", "local"]
"""How a decision came: a press on the card, words in the thread, or this machine's command line."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's approval. `break_glass` is why they approved in spite of a freeze, empty when there was none.

    `seal` proves that this program counted it (`sealed_vote`).
    """

    person_id: str
    person_name: str
    role: str
    at: datetime
    via: Via
    break_glass: str = ""
    seal: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who opened all of a long card, and the seal that proves it."""

    person_id: str
    seal: str


@dataclass(frozen=True, slots=True)
class Check:
    """What the bot saw when it looked again after an action was applied."""

    at: datetime
    verdict: Verdict
    summary_zh: str
    summary_en: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A stored action with everything that its card shows.

    What `digest` seals never changes: `arguments` are the validated arguments as JSON values, `tool_hash` the contract of
    the tool that they were made for, `policy_version` the rules under which `quorum` people must approve. `code` is what a
    person types to decide. The rest is empty until there is something to say; only `CHANGEABLE` fields change, and only in
    a move. `card` is the message that shows it, as of `shown_revision`.

    `votes` are the approvals so far; `decided_*` is who rejected, or whose approval completed the quorum; `reason` is why they rejected.
    `read_by` are the people who opened all of a long card. `claimed_by` is the process that runs it, `fence` the
    number of its lease on the target. `may_repeat` is the earlier proposal of which nobody knows what came, and which this one
    may do a second time. `inverse_of` is the proposal that this one takes back, `undone_by` the one that takes
    this back, `taken_back_at` when it was seen that it did. `keep_for` is how long an applied action stands unless somebody keeps it (None: for good), `keep_until` the
    moment when that ends, and `kept_by_*` who kept it.
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
    tool_hash: str = ""
    policy_version: str = ""
    quorum: int = 1
    supersedes: str = ""
    may_repeat: str = ""
    inverse_of: str = ""
    keep_for: timedelta | None = None
    state: ProposalState = ProposalState.PENDING
    revision: int = 0
    card: MessageRef | None = None
    shown_revision: int = -1
    votes: tuple[Vote, ...] = ()
    read_by: tuple[Reader, ...] = ()
    asked_again_at: datetime | None = None
    escalated_at: datetime | None = None
    decided_by_id: str = ""
    decided_by_name: str = ""
    decided_by_role: str = ""
    decided_at: datetime | None = None
    reason: str = ""
    superseded_by: str = ""
    claimed_by: str = ""
    fence: int = 0
    finished_at: datetime | None = None
    outcome: Mapping[str, Any] | None = None
    outcome_text: str = ""
    checks: tuple[Check, ...] = field(default=())
    undone_by: str = ""
    taken_back_at: datetime | None = None
    keep_until: datetime | None = None
    kept_by_id: str = ""
    kept_by_name: str = ""

    @property
    def is_open(self) -> bool:
        return self.state is ProposalState.PENDING

    @property
    def may_be_asked_again(self) -> bool:
        """Whether the same may be proposed once more: it did not come to be, or nobody knows whether it did."""
        return self.state in _RENEWABLE and not self.superseded_by and not self.is_tampered

    @property
    def is_tampered(self) -> bool:
        """Whether it was found changed in the store when it was to run: what it holds is nobody's wish."""
        return bool((self.outcome or {}).get("tampered"))

    def moved(self, to: ProposalState, changes: Mapping[str, Any]) -> "Proposal":
        """Itself in the state `to`, a revision later, with `changes`; what a store writes when its compare-and-set wins.

        Raises ValueError for an edge that is not in the table and for a field that is not in `CHANGEABLE`.
        """
        if to not in EDGES[self.state]:
            raise ValueError(f"a proposal does not go from {self.state} to {to}")
        if not changes.keys() <= CHANGEABLE:
            raise ValueError(f"a move does not change {', '.join(sorted(changes.keys() - CHANGEABLE))}")
        return replace(self, state=to, revision=self.revision + 1, **changes)


CHANGEABLE = frozenset(
    {
        "votes", "read_by", "asked_again_at", "escalated_at", "decided_by_id", "decided_by_name", "decided_by_role",
        "decided_at", "reason", "superseded_by", "claimed_by", "fence", "finished_at", "outcome", "outcome_text", "checks",
        "undone_by", "taken_back_at", "keep_until", "kept_by_id", "kept_by_name",
    }
)  # fmt: skip
"""What a move may change, beside state and revision."""


def action_digest(proposal: Proposal) -> str:
    """SHA-256 over the canonical action: what will run, on what, for whom, resting on which facts and rules, until when.

    The whole plan is in it, so that what people were shown is what was sealed.
    """
    action = {
        "tool": proposal.tool,
        "tool_hash": proposal.tool_hash,
        "effect": proposal.effect,
        "arguments": dict(proposal.arguments),
        "plan": asdict(proposal.plan),
        "risk": proposal.risk,
        "requester": proposal.requester_id,
        "session": str(proposal.session),
        "policy_version": proposal.policy_version,
        "quorum": proposal.quorum,
        "expires_at": proposal.expires_at.isoformat(),
        "keep_for": None if proposal.keep_for is None else proposal.keep_for.total_seconds(),
    } | ({"may_repeat": proposal.may_repeat} if proposal.may_repeat else {})
    return hashlib.sha256(canonical_json(action).encode()).hexdigest()


def sealed_digest(key: bytes, proposal: Proposal) -> str:
    """HMAC-SHA256 over the proposal's id, code and action: whoever can write the store, but has not the key, makes none that runs."""
    message = f"{proposal.id}\0{proposal.code}\0{action_digest(proposal)}".encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest()
