"""At start: turns that were cut off by the end of the last process are closed as interrupted, with what they had found."""

import logging

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.session import RunningTurn, TurnOutcome
from chatops_bot.domain.transcript import TurnRested
from chatops_bot.ports import Clock, Place, Platform, Store
from chatops_bot.rendering.turn_view import TurnView

_log = logging.getLogger(__name__)


async def close_interrupted_turns(store: Store, platform: Platform, clock: Clock) -> int:
    """End every turn that began and never rested; returns how many there were."""
    running = await store.turns.running()
    for turn in running:
        entries = await store.transcripts.load(turn.session)
        ends = [entry for entry in entries if isinstance(entry, TurnRested) and entry.turn_id == turn.id]
        if not ends:
            interrupted = TurnRested(turn.id, clock.now(), TurnOutcome.INTERRUPTED, "")
            await store.transcripts.append(turn.session, [interrupted])
        try:
            await _show_interrupted(turn, platform)
        except PlatformError as error:
            _log.warning("turn %s: its interruption could not be shown: %s", turn.id, error)
            continue
        await store.turns.end(turn.id, TurnOutcome.INTERRUPTED)
    return len(running)


async def _show_interrupted(turn: RunningTurn, platform: Platform) -> None:
    view = TurnView.restore(turn.snapshot)
    view.interrupted()
    last = view.pages()[-1]
    if turn.message is None:
        await platform.post(Place(turn.session.channel, turn.session.thread), last)
    else:
        await platform.finish(turn.message, last)
