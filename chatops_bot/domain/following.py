"""For how long a change that was run is followed: it is looked at again, taken back if nobody keeps it, and seen to be taken back.

Whoever sweeps reads what is followed alone, so that the history of years costs nothing.
"""

from datetime import UTC, datetime, timedelta

from chatops_bot.domain.proposal import Proposal, ProposalState

LOOKS = (timedelta(minutes=1), timedelta(minutes=5))
"""After the action."""
LOOKED_AT_WITHIN = timedelta(hours=1)
"""What happened longer ago says little about the action, and many others may have changed the same thing since."""
WATCHED = frozenset({ProposalState.APPLIED, ProposalState.OUTCOME_UNKNOWN})
UNTIL_DONE = datetime.max.replace(tzinfo=UTC)


def due_since(proposal: Proposal, now: datetime) -> datetime | None:
    """When the look was due that is to be made now; None while there is nothing to look at."""
    finished = proposal.finished_at
    if proposal.state not in WATCHED or finished is None or now - finished > LOOKED_AT_WITHIN:
        return None
    looked = proposal.checks[-1].at if proposal.checks else finished
    due = [finished + after for after in LOOKS if looked < finished + after <= now]
    return due[-1] if due else None


def followed_until(proposal: Proposal) -> datetime | None:
    """Until when somebody has to come back to `proposal`; `UNTIL_DONE` where that is not a matter of time, None where nobody has."""
    finished = proposal.finished_at
    if proposal.state not in WATCHED or finished is None:
        return None
    may_be_due = proposal.keep_until is not None and not proposal.kept_by_id
    if (may_be_due or proposal.undone_by) and proposal.taken_back_at is None:
        return UNTIL_DONE
    is_seen = bool(proposal.checks) and proposal.checks[-1].at >= finished + LOOKS[-1]
    return None if is_seen else finished + LOOKED_AT_WITHIN
