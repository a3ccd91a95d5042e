"""What the end of another process cut off is brought to an end, and what it never started is started.

A turn that had begun is closed as interrupted, with what it had found. One that had come to rest, and died before people
could see it, is shown as it rested. One that was accepted and never started is handed back, to run now. Messages are found
by their key, so that one which was posted in the last moment is brought to its end and not left saying "working" for ever.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.language import Language
from chatops_bot.domain.people import lower
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.session import IsDead, RunningTurn, TurnOutcome
from chatops_bot.domain.transcript import Entry, FormFilled, TurnRested, UserSaid
from chatops_bot.ports import Clock, Directory, Place, Platform, Store
from chatops_bot.rendering.turn_view import TurnView
from chatops_bot.sessions.answer import page_key
from chatops_bot.sessions.mailbox import TurnInput, restored_input
from chatops_bot.sessions.resting import store_rest

_log = logging.getLogger(__name__)

RESUMED_WITHIN = timedelta(hours=1)
"""An older question that never started is closed as interrupted: its asker has moved on, and can ask again."""


async def recover_turns(
    store: Store,
    platform: Platform,
    directory: Directory,
    policy: Policy,
    clock: Clock,
    is_dead: IsDead | None = None,
) -> tuple[int, list[TurnInput]]:
    """Take over what dead processes left: how many turns were closed as interrupted, and those that are to start now, in the
    order in which they were asked."""
    closed, waiting = 0, []
    for turn in await store.turns.take_over(is_dead):
        entries = await store.transcripts.load(turn.session)
        resumed = await _resumed(turn, entries, directory, policy, clock)
        if resumed is not None:
            waiting.append(resumed)
        else:
            await _close(turn, entries, store, platform, clock)
            closed += 1
    return closed, waiting


async def resume_unheard(
    turns: Sequence[RunningTurn], store: Store, directory: Directory, policy: Policy, clock: Clock
) -> list[TurnInput]:
    """Those of this process's own turns that never started, since the word that handed them here was lost."""
    found = [
        await _resumed(turn, await store.transcripts.load(turn.session), directory, policy, clock)
        for turn in turns
    ]
    return [turn for turn in found if turn is not None]


async def _resumed(
    turn: RunningTurn, entries: list[Entry], directory: Directory, policy: Policy, clock: Clock
) -> TurnInput | None:
    """The input of a turn that never started, its author with what they may today of what they asked with; None for any other turn."""
    if not turn.input or any(
        isinstance(e, UserSaid | FormFilled | TurnRested) and e.turn_id == turn.id for e in entries
    ):
        return None
    try:
        if TurnView.restore(turn.snapshot).outcome is not None:
            return None  # taken back while it waited
        asked = restored_input(turn.input)
        if asked.at is None or clock.now() - asked.at > RESUMED_WITHIN:
            return None
        today = await directory.person(asked.author.id, turn.session.channel)
        author = replace(today, role=lower(asked.author.role, today.role))
        return replace(asked, author=author, resumed=True) if policy.may_speak(author) is None else None
    except ValueError:
        _log.warning("turn %s: what was asked cannot be read", turn.id)
    except PlatformError as error:
        _log.warning("turn %s: who asked cannot be confirmed: %s", turn.id, error)
    return None


async def _close(
    turn: RunningTurn, entries: list[Entry], store: Store, platform: Platform, clock: Clock
) -> None:
    view = _view_of(turn, platform)
    view.interrupted()
    outcome = view.outcome or TurnOutcome.INTERRUPTED
    if not any(isinstance(entry, TurnRested) and entry.turn_id == turn.id for entry in entries):
        body = "" if outcome is TurnOutcome.INTERRUPTED else view.visible_text
        await store_rest(store, turn.session, turn.id, outcome, body, clock)
    try:
        await _show(turn, view, platform)
    except PlatformError as error:
        _log.warning("turn %s: its end could not be shown: %s", turn.id, error)
        return
    await store.turns.end(turn.id, outcome)


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
