"""Which records of the audit somebody wants to see."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import get_args

from chatops_bot.domain.audit import AuditRecord, Decision
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.proposal import CODE_LENGTH, CODE_LETTERS

_AGO = re.compile(r"(?P<count>[1-9][0-9]{0,5})(?P<unit>[smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """An empty field asks for nothing. `person` is an id or a name, `session` any part of a session's key."""

    proposal: str = ""
    person: str = ""
    session: str = ""
    tool: str = ""
    decision: str = ""
    since: datetime | None = None

    def takes(self, record: AuditRecord) -> bool:
        person = self.person.casefold()
        return (
            self.proposal in ("", record.proposal_id)
            and person in ("", record.person_id.casefold(), record.person_name.casefold())
            and self.session in record.session
            and self.tool in ("", record.tool)
            and self.decision in ("", record.decision)
            and (self.since is None or record.at >= self.since)
        )


def known_decision(text: str) -> str:
    """Raises ConfigInvalid for a word that no record has as its decision."""
    if text and text not in get_args(Decision):
        raise ConfigInvalid(f"{text!r} is no decision of a record; they are {', '.join(get_args(Decision))}.")
    return text


def is_code(proposal: str) -> bool:
    """Whether somebody named a proposal by the code on its card, and not by its id."""
    return len(proposal) == CODE_LENGTH and set(proposal.upper()) <= set(CODE_LETTERS)


def proposes(record: AuditRecord, code: str) -> bool:
    """Whether the record tells how the proposal with this code came to be."""
    return record.decision == "proposed" and f'"proposal":{canonical_json(code)}' in record.result


def moment(text: str, now: datetime) -> datetime:
    """A time such as `2026-03-02T14:00` (UTC unless it says otherwise), or how long ago, such as `90m`, `2h` or `7d`."""
    if match := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[match["unit"]]: int(match["count"])})
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigInvalid(
            f"{text!r} is no time; give one such as 2026-03-02T14:00, or how long ago, such as 2h or 7d."
        ) from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)
