"""Freezes: hours in which nothing is approved, unless somebody who may breaks the glass and says why.

A window is meant as a wall clock shows it. When clocks are put back, an hour is shown twice: a window begins the first time
and ends the last, so that it is never interrupted. When they are put forward, a time that is skipped is the moment after.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from chatops_bot.domain.policy_rules import Scope, Who

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WRITTEN = re.compile(r"(?:(Mon|Tue|Wed|Thu|Fri|Sat|Sun) |(\d{4}-\d\d-\d\d)[ T])?(\d{1,2}):(\d\d)")
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of day: of every day, of one day of the week (0 is Monday), or of one date."""

    at: time
    weekday: int | None = None
    date: datetime | None = None

    @classmethod
    def parse(cls, text: str) -> "Moment":
        """From `Fri 18:00`, `22:00` or `2026-12-24 18:00`. Raises ValueError."""
        written = _WRITTEN.fullmatch(text.strip())
        if written is None:
            raise ValueError("write `Fri 18:00`, `22:00` or `2026-12-24 18:00`, in quotes")
        day, date, hour, minute = written.groups()
        at = time(int(hour), int(minute))
        return cls(
            at, DAYS.index(day) if day else None, datetime.combine(datetime.fromisoformat(date), at) if date else None
        )  # fmt: skip

    @property
    def period(self) -> timedelta | None:
        """After what time it comes again."""
        if self.date is not None:
            return None
        return timedelta(days=1 if self.weekday is None else 7)

    def __str__(self) -> str:
        if self.date is not None:
            return f"{self.date:%Y-%m-%d %H:%M}"
        return f"{self.at:%H:%M}" if self.weekday is None else f"{DAYS[self.weekday]} {self.at:%H:%M}"


@dataclass(frozen=True, slots=True)
class Freeze:
    """From `start` until `end`, on the clocks of `zone`, for the changes in `scope`. `break_glass` are who may, all the same.

    Raises ValueError for two moments of different kinds, and for a window without length.
    """

    start: Moment
    end: Moment
    zone: ZoneInfo
    scope: Scope = field(default_factory=Scope)
    break_glass: Who = field(default_factory=Who)

    def __post_init__(self) -> None:
        if self.start.period != self.end.period:
            raise ValueError("from and to must be of one kind: both of a day, both of a week, or both dates")
        is_empty = self.start == self.end
        if self.start.date is not None and self.end.date is not None:
            is_empty = self.start.date >= self.end.date
        if is_empty:
            raise ValueError("to must come after from; the window has no length")

    def is_on(self, now: datetime) -> bool:
        """Whether it holds at `now` (with a zone). Its first moment is in it, its last is not."""
        return any(_first(start, self.zone) <= now < _last(end, self.zone) for start, end in self._near(now))

    def _near(self, now: datetime) -> Iterator[tuple[datetime, datetime]]:
        """The windows that could hold at `now`, as a wall clock shows their ends."""
        if self.start.date is not None and self.end.date is not None:
            yield self.start.date, self.end.date
            return
        period = self.start.period or timedelta(days=1)
        today = datetime.combine(now.astimezone(self.zone).date(), self.start.at)
        if self.start.weekday is not None:
            today -= timedelta(days=(today.weekday() - self.start.weekday) % 7)
        length = _offset(self.end) - _offset(self.start)
        length = length if length > timedelta() else length + period
        for start in (today - period, today, today + period):
            yield start, start + length

    @property
    def until(self) -> str:
        """When it ends, as people of its zone say it."""
        return f"{self.end} {self.zone.key}"


def _offset(moment: Moment) -> timedelta:
    return timedelta(days=moment.weekday or 0, hours=moment.at.hour, minutes=moment.at.minute)


def _first(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first instant at which the clocks of `zone` show `wall`, or, where they skip it, what comes after."""
    return min(_shown(wall, zone))


def _last(wall: datetime, zone: ZoneInfo) -> datetime:
    """The last instant at which they come to show it. Set back from 03:00 to 02:00 they do not come to 02:00, they were past it."""
    earlier, later = _shown(wall, zone)
    comes_again = (later - _MINUTE).astimezone(zone).replace(tzinfo=None) < wall
    return later if comes_again else earlier


def _shown(wall: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    earlier, later = sorted(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if earlier.astimezone(zone).replace(tzinfo=None) == wall:
        return earlier, later
    while earlier.astimezone(zone).replace(tzinfo=None) < wall:  # skipped: the clocks jump between the two
        earlier += _MINUTE
    return earlier, earlier
