"""One line of the audit: a tool call, or a decision about a proposal."""

from dataclasses import dataclass
from datetime import datetime

RESULT_VIEW_BYTES = 4096
"""How much of a result the audit keeps in clear (redacted); the digest covers the whole."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """`result` is the redacted first 4 KiB.

    `decision` of a call: auto (it ran), proposed, known (the same change waits already), asked (it became a form), refused,
    invalid, failed (a write that could not be proposed) or stopped. Of a proposal: approved (once a vote) or refused, and the
    state that it came to; `status` is the state after it. Of a form: filled.
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
