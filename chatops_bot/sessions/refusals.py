"""Messages that the platform refuses to show or to change: tried again more and more rarely, and given up after a day.

A channel was archived, or the bot removed from it: no number of edits helps. That the platform cannot be reached is no refusal.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from chatops_bot.domain.errors import PlatformError, PlatformUnavailable
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.ports import Clock

FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
GIVEN_UP_AFTER = timedelta(days=1)


@dataclass(slots=True)
class _Refused:
    since: datetime
    pause: timedelta
    until: datetime


class Refusals:
    """Kept in memory: after a restart each is tried once more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._refused: dict[str, _Refused] = {}

    def rests(self, record_id: str) -> bool:
        """Whether it is too early to try again."""
        known = self._refused.get(record_id)
        return known is not None and self._clock.now() < known.until

    def note(self, record_id: str, error: PlatformError) -> bool:
        """The platform did not show a record; True when there is no sense in trying again."""
        if isinstance(error, PlatformUnavailable):
            return False
        now = self._clock.now()
        known = self._refused.setdefault(record_id, _Refused(now, FIRST_PAUSE, now))
        known.until, known.pause = now + known.pause, min(2 * known.pause, LONGEST_PAUSE)
        if now - known.since < GIVEN_UP_AFTER:
            return False
        self.forget(record_id)
        return True

    def forget(self, record_id: str) -> None:
        """It was shown."""
        self._refused.pop(record_id, None)


def shown_nowhere(card: MessageRef | None, session: SessionKey) -> MessageRef:
    """What a store remembers for a card that was given up: the message that stays behind, or none."""
    return card or MessageRef(session.channel, "")
