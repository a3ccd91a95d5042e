"""Five numeric cron fields: a strict check first, croniter for the arithmetic after it.

The language is the Go service's: `*`, numbers, lists, ranges, steps; 7 is Sunday; no names, no `@daily`. Day of month
and day of week are joined by OR when both are restricted. A field that covers every value counts as `*`.

`0/15` means just minute 0 to the Go service and every 15 minutes to croniter, so it is refused with a hint.

Local time is walked without a zone and placed into the zone afterwards: a minute that daylight saving skips runs at
the next minute that exists, a minute that happens twice runs once, the first time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import CroniterBadDateError, croniter

from chatops_bot.scheduler.clock import from_datetime, to_datetime


class BadCron(ValueError):
    """The expression isn't one; the text names the field and the reason."""


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int


FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12),
    _Field("day of week", 0, 7),
)

_ITEM = re.compile(r"(?P<star>\*)|(?P<low>[0-9]{1,2})(?:-(?P<high>[0-9]{1,2}))?")
_YEARS_SEARCHED = 8  # 29 February can be eight years away (1896 to 1904, 2096 to 2104)


@dataclass(frozen=True, slots=True)
class CronExpression:
    """A checked expression. `canonical` spells every list out, so that croniter has nothing left to interpret."""

    text: str
    canonical: str

    def next_after(self, moment: int, zone: str = "UTC") -> int:
        """The first run strictly after `moment` (microseconds, UTC), with the fields read in `zone` (IANA name).

        Raises BadCron when no such time exists (30 February) or the zone is unknown.
        """
        where = load_zone(zone)
        local = to_datetime(moment).astimezone(where).replace(tzinfo=None)
        walk = croniter(self.canonical, local, ret_type=datetime, max_years_between_matches=_YEARS_SEARCHED)
        while True:
            try:
                candidate = walk.get_next(datetime)
            except CroniterBadDateError as error:
                raise BadCron(f"cron_expr: {self.text!r} never comes due") from error
            placed = from_datetime(_place(candidate, where))
            if placed > moment:
                return placed


def load_zone(name: str) -> ZoneInfo:
    """The zone of an IANA name. Raises BadCron when there is none of that name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadCron(f"timezone: {name!r} is no IANA zone name") from error


def parse(text: str) -> CronExpression:
    """Check an expression of five fields. Raises BadCron with the field and the reason."""
    parts = text.split()
    if text.startswith("@"):
        raise BadCron(f"cron_expr: {text!r} is not supported, write five fields such as '0 2 * * *'")
    if len(parts) != len(FIELDS):
        raise BadCron(f"cron_expr: five fields are needed, got {len(parts)}")
    spelled = [_canonical(part, field) for part, field in zip(parts, FIELDS, strict=True)]
    return CronExpression(text=" ".join(parts), canonical=" ".join(spelled))


def values(part: str, field: _Field) -> frozenset[int]:
    """The numbers that one field allows; day of week 7 becomes 0. Raises BadCron."""
    allowed: set[int] = set()
    for item in part.split(","):
        allowed.update(_item_values(item, field))
    if field.high == 7:
        allowed = {value % 7 for value in allowed}
    return frozenset(allowed)


def _canonical(part: str, field: _Field) -> str:
    allowed = values(part, field)
    size = 7 if field.high == 7 else field.high - field.low + 1
    return "*" if len(allowed) == size else ",".join(str(value) for value in sorted(allowed))


def _item_values(item: str, field: _Field) -> range:
    body, slash, step_text = item.partition("/")
    match = _ITEM.fullmatch(body)
    if match is None:
        raise BadCron(f"cron_expr: {field.name} {item!r} is not a number, range, list, step or *")
    step = _step(step_text, item, field) if slash else 1
    if match["star"]:
        top = 6 if field.high == 7 else field.high
        return range(field.low, top + 1, step)
    low, high = int(match["low"]), int(match["high"] or match["low"])
    if slash and match["high"] is None:
        raise BadCron(f"cron_expr: {field.name} {item!r} is one number with a step, did you mean '*/{step}'?")
    if not field.low <= low <= field.high or not field.low <= high <= field.high:
        raise BadCron(f"cron_expr: {field.name} {item!r} is outside {field.low}-{field.high}")
    if low > high:
        raise BadCron(f"cron_expr: {field.name} {item!r} runs backwards")
    return range(low, high + 1, step)


def _step(text: str, item: str, field: _Field) -> int:
    if not re.fullmatch(r"[0-9]{1,2}", text) or int(text) == 0:
        raise BadCron(f"cron_expr: {field.name} {item!r} has no positive number as its step")
    return int(text)


def _place(local: datetime, zone: ZoneInfo) -> datetime:
    """The UTC moment of a local wall time; a skipped one moves on to the first minute that exists."""
    while True:
        moment = local.replace(tzinfo=zone).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None, fold=0) == local:
            return moment
        local += timedelta(minutes=1)
