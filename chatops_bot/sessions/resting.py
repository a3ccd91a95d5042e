"""How the end of a turn is stored, whoever brings it about: its conductor, or recovery at the next start."""

from chatops_bot.context.history import NEVER_STORED, unanswered
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.transcript import Entry, ToolReturned, TurnRested
from chatops_bot.ports import Clock, Store

_CUT_SHORT = frozenset({TurnOutcome.STOPPED, TurnOutcome.FAILED, TurnOutcome.INTERRUPTED})


async def store_rest(
    store: Store, session: SessionKey, turn_id: str, outcome: TurnOutcome, body: str, clock: Clock
) -> None:
    """Append the end of a turn. Where it was cut short, calls without a result get one, so that no call stands alone."""
    left: list[Entry] = []
    if outcome in _CUT_SHORT:
        calls = unanswered(await store.transcripts.load(session), turn_id)
        left = [
            ToolReturned(turn_id, clock.now(), call.id, call.name, "error", NEVER_STORED) for call in calls
        ]
    await store.transcripts.append(session, [*left, TurnRested(turn_id, clock.now(), outcome, body)])
