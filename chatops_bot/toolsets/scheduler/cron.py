"""Five numeric cron fields, read as the scheduler reads them, and the times they stand for.

`*`, numbers, lists, ranges and steps; 7 is Sunday; no names and no `@daily`. Day of month and day of week are joined by
OR when both are restricted. A lone number with a step (`0/15`) means just that number to the service and every 15 to
most people, so it is refused with the spelling that means what they want.

A local minute that daylight saving skips becomes the next one that exists; one that comes twice counts once.
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from chatops_bot.domain.language import Phrase
from chatops_bot.toolsets.scheduler.formatting import counted

_FIELDS = (
    (Phrase("分钟", "minute"), 0, 59),
    (Phrase("小时", "hour"), 0, 23),
    (Phrase("日", "day of month"), 1, 31),
    (Phrase("月", "month"), 1, 12),
    (Phrase("星期", "day of week"), 0, 7),
)
_ITEM = re.compile(
    r"(?:(?P<all>\*)|(?P<low>\d{1,2})(?:-(?P<high>\d{1,2}))?)(?:/(?P<step>\d{1,2}))?", re.ASCII
)
_LONGEST_EXPRESSION = 64
_YEARS_SEARCHED = 8  # 29 February can be eight years away


class BadCron(ValueError):
    """The text is no such expression; `phrase` names the field and the reason."""

    def __init__(self, zh: str, en: str) -> None:
        super().__init__(en)
        self.phrase = Phrase(zh, en)


def next_times(expression: str, after: datetime, zone: tzinfo, count: int) -> list[datetime]:
    """The first `count` times strictly after `after`, in `zone`. Raises BadCron, also for one that never comes (30 February)."""
    from croniter import (  # a start needs none of it, and it takes long to import
        CroniterBadDateError,
        croniter,
    )

    walk = croniter(
        _spelled_out(expression),
        after.astimezone(zone).replace(tzinfo=None),
        ret_type=datetime,
        max_years_between_matches=_YEARS_SEARCHED,
    )
    times: list[datetime] = []
    while len(times) < count:
        try:
            moment = _placed(walk.get_next(), zone)
        except CroniterBadDateError as error:
            raise BadCron(f"{expression!r} 永远不会到点", f"{expression!r} never comes due") from error
        if moment > (times[-1] if times else after):
            times.append(moment)
    return [moment.astimezone(zone) for moment in times]


def _spelled_out(expression: str) -> str:
    """The expression with every field as a plain list, which leaves croniter nothing to read differently."""
    parts = expression.split()
    if len(expression) > _LONGEST_EXPRESSION:
        raise BadCron(
            f"超过 {_LONGEST_EXPRESSION} 个字符", f"it is longer than {_LONGEST_EXPRESSION} characters"
        )
    if len(parts) != len(_FIELDS):
        raise BadCron(
            f"{expression!r} 有 {len(parts)} 段，需要五段，例如 '0 2 * * *'",
            f"{expression!r} has {counted(len(parts), 'field')}, five are needed, such as '0 2 * * *'",
        )
    return " ".join(_field_spelled_out(part, *field) for part, field in zip(parts, _FIELDS, strict=True))


def _field_spelled_out(part: str, name: Phrase, low: int, high: int) -> str:
    values: set[int] = set()
    for item in part.split(","):
        values.update(_values_of(item, name, low, high))
    if high == 7:
        values = {value % 7 for value in values}
    size = 7 if high == 7 else high - low + 1
    return "*" if len(values) == size else ",".join(map(str, sorted(values)))


def _values_of(item: str, name: Phrase, low: int, high: int) -> range:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise BadCron(
            f"{name.zh}字段 {item!r} 不是数字、范围、列表、步长或 *",
            f"{name.en} {item!r} is not a number, range, list, step or *",
        )
    step = int(match["step"] or 1)
    if step == 0:
        raise BadCron(f"{name.zh}字段 {item!r} 的步长为零", f"{name.en} {item!r} has a step of zero")
    if match["all"]:
        return range(low, (6 if high == 7 else high) + 1, step)
    first, last = int(match["low"]), int(match["high"] or match["low"])
    if match["step"] and match["high"] is None:
        raise BadCron(
            f"{name.zh}字段 {item!r} 只有一个数字却带步长，请写成 '*/{step}' 或 '{first}-{high}/{step}'",
            f"{name.en} {item!r} is one number with a step; write '*/{step}' or '{first}-{high}/{step}'",
        )
    if not low <= first <= last <= high:
        raise BadCron(
            f"{name.zh}字段 {item!r} 超出 {low}-{high} 或前后颠倒",
            f"{name.en} {item!r} is outside {low}-{high} or runs backwards",
        )
    return range(first, last + 1, step)


def _placed(local: datetime, zone: tzinfo) -> datetime:
    """The moment, in UTC, at which clocks in `zone` show `local`, or the first minute after it that they do show."""
    while True:
        moment = local.replace(tzinfo=zone).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None, fold=0) == local:
            return moment
        local += timedelta(minutes=1)
