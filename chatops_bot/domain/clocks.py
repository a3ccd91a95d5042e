"""Two clocks: that of the person who names a time of day, and that of the scheduler, which reads cron fields in its own zone.

"Every night at 2" is meant on the person's clock. It becomes a cron expression only where five fields on the scheduler's clock
say exactly the same, today and in a year: daylight saving in one of the two zones, or a day of month that falls on the day
before or after, may leave none. What has no time of day, such as "every two hours", is the same on both clocks.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import groupby

from chatops_bot.domain.zones import zone_named

_DAYS_AHEAD = 400
"""Longer than a year, in which daylight saving comes and goes."""
_LAST_DAY_OF_EVERY_MONTH = 28


@dataclass(frozen=True, slots=True)
class Clocks:
    """The zone of the person and that in which the scheduler reads cron."""

    person: tzinfo = UTC
    scheduler: tzinfo = UTC

    @classmethod
    def named(cls, person: str, scheduler: str) -> "Clocks":
        """From IANA names; an empty or unknown one is UTC."""
        return cls(*((name and zone_named(name)) or UTC for name in (person, scheduler)))

    def differ(self, now: datetime) -> bool:
        """Whether they show different times, now or within a year."""
        return any(
            moment.astimezone(self.person).utcoffset() != moment.astimezone(self.scheduler).utcoffset()
            for moment in _days_from(now)
        )

    def schedule(self, expression: str, now: datetime) -> str | None:
        """The cron expression on the scheduler's clock for a valid one on the person's; None where no five fields are the same."""
        minute, hour, day, month, weekday = expression.split()
        if not self.differ(now) or (hour.startswith("*") and not minute.isdecimal()):
            return expression
        if hour == "*" and (day, month, weekday) == ("*", "*", "*"):
            minutes = {at.minute for _, at in self._shown(time(0, int(minute)), now)}
            return f"{minutes.pop()} * * * *" if len(minutes) == 1 else None
        if hour.startswith("*"):
            return expression  # an interval
        hours = hour.split(",")
        if not (minute.isdecimal() and all(each.isdecimal() for each in hours)):
            return None
        shown = [at for each in hours for at in self._shown(time(int(each), int(minute)), now)]
        is_daily = (day, month, weekday) == ("*", "*", "*")  # then it does not matter on which day it falls
        if len(shown) != len(hours) or len({(is_daily or days, at.minute) for days, at in shown}) != 1:
            return None
        (days, at), there = shown[0], ",".join(map(str, sorted(at.hour for _, at in shown)))
        shifted = (
            _shifted_day(day, days),
            month if days == 0 or month == "*" else None,
            _shifted(weekday, days),
        )
        return None if None in shifted else f"{at.minute} {there} {' '.join(map(str, shifted))}"

    def shown_at(self, expression: str, now: datetime) -> Sequence[tuple[int, time]]:
        """For an expression with one time of day: what the scheduler's clock shows then, within a year, with the days that it is off."""
        minute, hour, *_ = expression.split()
        if not (minute.isdecimal() and hour.isdecimal()):
            return ()
        return self._shown(time(int(hour), int(minute)), now)

    def _shown(self, at: time, now: datetime) -> list[tuple[int, time]]:
        """Each time once."""
        found: dict[tuple[int, time], None] = {}
        for moment in _days_from(now.astimezone(self.person)):
            local = datetime.combine(moment.date(), at, self.person)
            there = local.astimezone(self.scheduler)
            found[(there.date() - local.date()).days, there.time()] = None
        return list(found)


ONE_CLOCK = Clocks()


def zone_label(zone: tzinfo) -> str:
    """`UTC`, `Asia/Shanghai`."""
    return "UTC" if str(zone) in ("UTC", "Etc/UTC") else str(zone)


def _days_from(now: datetime) -> Iterator[datetime]:
    return (now + timedelta(days=days) for days in range(_DAYS_AHEAD))


def _shifted_day(field: str, days: int) -> str | None:
    """A day of month `days` later; None where it is another day in one month than in the next."""
    if days == 0 or field == "*":
        return field
    if not field.isdecimal():
        return None
    day = int(field)
    is_safe = day + days >= 1 and max(day, day + days) <= _LAST_DAY_OF_EVERY_MONTH
    return str(day + days) if is_safe else None


def _shifted(weekdays: str, days: int) -> str | None:
    """Days of the week `days` later; None for a field with steps."""
    if days == 0 or weekdays == "*":
        return weekdays
    if "/" in weekdays:
        return None
    return _listed(sorted({(day + days) % 7 for item in weekdays.split(",") for day in _span(item)}))


def _span(item: str) -> range:
    first, _, last = item.partition("-")
    return range(int(first), int(last or first) + 1)


def _listed(days: Iterable[int]) -> str:
    """`0,6`, `1-5`: three in a row or more are a range."""
    rows = (
        [day for _, day in row] for _, row in groupby(enumerate(days), key=lambda each: each[1] - each[0])
    )
    return ",".join(f"{row[0]}-{row[-1]}" if len(row) > 2 else ",".join(map(str, row)) for row in rows)
