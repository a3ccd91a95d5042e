"""One line of the audit: what somebody asked, what was shown, a tool call, or a decision."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

RESULT_VIEW_BYTES = 4096
"""How much of a result the audit keeps in clear (redacted); the digest covers the whole."""

Decision = Literal[
    "asked",
    "auto", "proposed", "known", "asked_back", "refused", "invalid", "failed", "stopped",
    "shown",
    "read", "approved", "broke_glass", "rejected", "claimed", "applied", "outcome_unknown", "drifted", "tampered", "expired",
    "withdrawn",
    "superseded", "proposed_again", "asked_again", "escalated", "reason_given", "looked_again", "undone", "undo_lost", "undo_ended",
    "kept", "reverting", "taken_back", "not_reverted",
    "filled", "cancelled",
    "imported",
]  # fmt: skip
"""What a record tells of:

- a question: asked, when its turn began.
- a call: auto (it ran), proposed, known (the same change waits already), asked_back (it became a form), refused, invalid,
  failed (a write that could not be proposed) or stopped.
- a card of a proposal or a form: shown, once for each revision that a message shows.
- a proposal: read (to its last page), approved (once a vote; broke_glass when it was in spite of a freeze, to be reviewed) or
  refused (with who and why), and each state that it came to; asked_again and escalated, with whom it called;
  tampered, when what was approved is not what is stored, so that nothing ran, to be reviewed;
  proposed_again, after it was tried and failed, or nobody knows; reason_given, by whoever rejected it before; looked_again, at what came of it;
  undone, with the proposal that takes it back (undo_lost: that was never made; undo_ended: that ended
  and took nothing back); kept; reverting or not_reverted at its time, and taken_back once it was.
- a form: filled, refused, or the state in which it was closed.
- the chain: imported, before the records of a version that had none.
"""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """`decision` is one of `Decision`, `status` what came of it. `result` is the redacted first 4 KiB. `proposal_id` is the
    proposal, or the form, that the record is about; it is empty for a question, and for a call that became none.
    """

    at: datetime
    person_id: str
    person_name: str
    role: str
    session: str
    turn_id: str
    tool: str
    arguments: str
    decision: str
    status: str
    result: str
    result_sha256: str
    proposal_id: str = ""
    milliseconds: int = 0
