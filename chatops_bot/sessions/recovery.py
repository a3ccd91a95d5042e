"""At start: turns that were cut off by the end of the last process are closed as interrupted, with what they had found.

A turn that had come to rest, and died before people could see it, is shown as it rested. Messages are found by their key,
so that one which was posted in the last moment is brought to its end and not left saying "working" for ever.
"""

import logging

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.language import Language
from chatops_bot.domain.session import RunningTurn, TurnOutcome
from chatops_bot.domain.transcript import TurnRested
from chatops_bot.ports import Clock, Place, Platform, Store
from chatops_bot.rendering.turn_view import TurnView
from chatops_bot.sessions.answer import page_key

_log = logging.getLogger(__name__)


async def close_interrupted_turns(store: Store, platform: Platform, clock: Clock) -> int:
    """End every turn that began and never rested; returns how many there were."""
    running = await store.turns.running()
    for turn in running:
        view = _view_of(turn, platform)
        view.interrupted()
        outcome = view.outcome or TurnOutcome.INTERRUPTED
        entries = await store.transcripts.load(turn.session)
        ends = [entry for entry in entries if isinstance(entry, TurnRested) and entry.turn_id == turn.id]
        if not ends:
            body = "" if outcome is TurnOutcome.INTERRUPTED else view.visible_text
            await store.transcripts.append(turn.session, [TurnRested(turn.id, clock.now(), outcome, body)])
        try:
            await _show(turn, view, platform)
        except PlatformError as error:
            _log.warning("turn %s: its end could not be shown: %s", turn.id, error)
            continue
        await store.turns.end(turn.id, outcome)
    return len(running)


def _view_of(turn: RunningTurn, platform: Platform) -> TurnView:
    """The answer so far; an empty one where it was kept by a version that wrote it another way."""
    try:
        return TurnView.restore(turn.snapshot)
    except ValueError:
        _log.warning("turn %s: what it had shown cannot be read", turn.id)
        language: Language = "zh" if turn.language == "zh" else "en"
        return TurnView(language, platform.limits.text_chars, stop_value=turn.id)


async def _show(turn: RunningTurn, view: TurnView, platform: Platform) -> None:
    place = Place(turn.session.channel, turn.session.thread)
    pages = view.pages()
    for number, page in enumerate(pages):
        key = page_key(turn.id, number)
        message = await platform.find(place, key)
        if message is None and number == len(pages) - 1:
            message = turn.message
        if message is None:
            await platform.post(place, page, key=key)
        else:
            await platform.finish(message, page)
