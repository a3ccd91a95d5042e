"""One line of the audit: a tool call, or a decision about a proposal."""

from dataclasses import dataclass
from datetime import datetime

RESULT_VIEW_BYTES = 4096
"""How much of a result the audit keeps in clear (redacted); the digest covers the whole."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """`decision` is auto, proposed, approved, rejected, expired, refused or invalid; `result` is the redacted first 4 KiB."""

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
