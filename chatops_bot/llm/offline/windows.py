"""When: the stretch of time that a question is about, in the asker's zone.

"Last 3 hours" needs no clock. "Since yesterday 14:00", "昨晚" and dates need to know what time it is where the asker is;
without that they fall back to whole hours (see `arguments.hours_in`). The scheduler is only ever asked for whole hours
back from now, so a window also says which of the rows that come back are inside it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from math import ceil

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline.arguments import LONGEST_HOURS, NUMBER, hours_in, minutes_in, number_of
from chatops_bot.llm.offline.quoting import Reader, parse_time, zone_name
from chatops_bot.llm.offline.said_zone import said_zone_in

NIGHT_BEGINS, NIGHT_ENDS = 18, 8
"""Hours between which people mean "last night": what they find in the morning."""


@dataclass(frozen=True, slots=True)
class Window:
    """`hours` back from now, whole. Rows count from `since` on and before `until`, where those are set."""

    hours: int
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_exact(self) -> bool:
        """Whether rows that the scheduler returns for `hours` may still lie outside."""
        return self.since is not None or self.until is not None

    def holds(self, trigger_time: object) -> bool:
        """Whether a row with this time is inside; a row without one is, better one too many than one nobody sees."""
        moment = parse_time(trigger_time)
        if moment is None:
            return True
        return (self.since is None or moment >= self.since) and (self.until is None or moment < self.until)

    def label(self, reader: Reader) -> str:
        """`the last 24 hours`, `since 11-28 14:00 (UTC+08:00)`, as it stands in a sentence."""
        if self.since is None:
            plural = "the last hour" if self.hours == 1 else f"the last {self.hours} hours"
            return reader.say(f"最近 {self.hours} 小时内", plural)
        zone = zone_name(self.since.tzinfo, self.since)
        first = f"{self.since:%m-%d %H:%M}"
        if self.until is None:
            return reader.say(f"{first}（{zone}）以来", f"the time since {first} ({zone})")
        last = f"{self.until:%m-%d %H:%M}"
        return reader.say(f"{first} 至 {last}（{zone}）之间", f"the time from {first} to {last} ({zone})")

    def before(self) -> Phrase:
        """What lies before it, for what was not looked at."""
        if self.since is None:
            hours = "1 hour" if self.hours == 1 else f"{self.hours} hours"
            return Phrase(f"{self.hours} 小时以前的运行", f"runs older than {hours}")
        return Phrase(f"{self.since:%m-%d %H:%M} 以前的运行", f"runs before {self.since:%m-%d %H:%M}")


def window_in(clause: str, now: datetime | None) -> Window | None:
    """The window that a masked clause names, None when it names none. `now` carries the asker's zone, if that is known; a zone that
    the clause names counts instead."""
    zone, clause = said_zone_in(clause)
    if now is not None:
        now = now.astimezone(zone) if isinstance(zone, tzinfo) else now
        named = _span(clause, now) or _day_or_since(clause, now)
        if named is not None:
            return named
    hours = hours_in(clause)
    return Window(hours) if hours is not None else None


def _window(now: datetime, since: datetime, until: datetime | None = None) -> Window | None:
    if since >= now or (until is not None and until <= since):
        return None
    hours = ceil((now - since).total_seconds() / 3600)
    return Window(min(hours, LONGEST_HOURS), since, until if until is not None and until < now else None)


def _span(clause: str, now: datetime) -> Window | None:
    """`last 30 min`: less than whole hours, so rows have to be counted by the minute."""
    minutes = minutes_in(clause)
    if minutes is None or minutes % 60 == 0:
        return None
    return _window(now, now - timedelta(minutes=minutes))


_CLOCK = (
    rf"(?:(?P<part>凌晨|清晨|早上|早晨|早|上午|中午|下午|傍晚|晚上|晚间|夜里|夜间|深夜|半夜|晚|夜)?\s*(?P<hour>\d{{1,2}}|(?:{NUMBER})(?=\s*[点时]))"
    rf"\s*(?:(?P<mark>[:点时])\s*(?P<half>半)?(?P<minute>\d{{2}})?\s*分?)?\s*(?P<half_day>am|pm|a\.m\.?|p\.m\.?)?)"
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905 - twelve words
_WEEKDAYS = "mon tue wed thu fri sat sun".split()  # noqa: SIM905
_CHINESE_WEEKDAYS = "一二三四五六日"

Day = Callable[[re.Match[str], datetime], datetime | None]


def _midnight(now: datetime, days_ago: int = 0) -> datetime:
    return (now - timedelta(days=days_ago)).replace(hour=0, minute=0, second=0, microsecond=0)


def _dated(match: re.Match[str], now: datetime) -> datetime | None:
    groups = match.groupdict()
    month = groups.get("month") or ""
    number = _MONTHS.index(month[:3]) + 1 if month.isalpha() else int(month)
    year = int(groups["year"]) if groups.get("year") else now.year
    try:
        day = _midnight(now).replace(year=year, month=number, day=int(groups["day"]))
    except ValueError:
        return None
    return day.replace(year=year - 1) if day > now and not groups.get("year") else day


def _weekday(match: re.Match[str], now: datetime) -> datetime:
    word = match.group("weekday")
    wanted = (
        _WEEKDAYS.index(word[:3]) if word.isascii() else _CHINESE_WEEKDAYS.index(word.replace("天", "日"))
    )
    return _midnight(now, (now.weekday() - wanted) % 7)


def _ago(days: int) -> Day:
    return lambda _, now: _midnight(now, days)


_DAYS: tuple[tuple[re.Pattern[str], Day], ...] = tuple(
    (regex(pattern), day)
    for pattern, day in (
        (r"(?<!\d)(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})(?!\d)[日号]?", _dated),
        (r"(?<!\d)(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]?", _dated),
        (r"(?<![\d*/,-])(?P<month>0?[1-9]|1[0-2])[-/](?P<day>0?[1-9]|[12]\d|3[01])(?![\d*/,-])", _dated),
        (rf"\b(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)", _dated),
        (rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{'|'.join(_MONTHS)})[a-z]*\b", _dated),
        (r"大前天", _ago(3)),
        (r"前天|\bthe day before yesterday\b", _ago(2)),
        (r"昨天|昨日|昨(?=晚|夜|早|上|下|凌)|\byesterday\b|\blast night\b", _ago(1)),
        (r"今天|今日|今(?=早|晨|晚|上|下|凌)|\btoday\b|\bthis (?=morning)", _ago(0)),
        (rf"\b(?:last |this |on |since )(?P<weekday>{'|'.join(_WEEKDAYS)})[a-z]*\b", _weekday),
        (r"(?<!每)(?<!每个)(?:上|这|本)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _weekday),
    )
)  # fmt: skip
_SINCE = regex(r"\b(?:since|from|starting|after)\b|以来|之后|以后|开始|起|从|自")
_NIGHT = regex(r"昨晚|昨夜|\blast night\b|\bovernight\b")
_PARTS: tuple[tuple[re.Pattern[str], int, int], ...] = (
    (regex(r"凌晨|半夜"), 0, 6),
    (regex(r"早上|早晨|清晨|今早|上午|\bmorning\b"), 0, 12),
    (regex(r"下午|\bafternoon\b"), 12, 18),
    (regex(r"晚上|今晚|\bevening\b|\btonight\b"), 18, 24),
)
_FROM_TO = regex(
    rf"{_CLOCK}\s*(?:-|~|到|至|和|与|\bto\b|\band\b|\buntil\b|\btill\b)\s*"
    r"(?:昨天|昨日|昨|今天|今日|今|次日|第二天|(?:yesterday|today|this morning)(?: at)?)?\s*"
    + _CLOCK.replace("?P<", "?P<to_")
)
_AT = regex(rf"(?<![\d:]){_CLOCK}(?![\d:]|\s*(?:个|次|小时|分钟|天|h\b|hours?|min))")


_BARE_HOUR = regex(r"\b(?:at|after|since|from|around|about)\s*$")
"""What makes a number behind it a time, where the sentence says which part of the day is meant."""
_EVENING, _NOON = ("晚上", "晚间", "夜里", "夜间", "深夜", "半夜", "晚", "夜"), "中午"
_PART_SAID = (
    (regex(r"\b(?:last night|tonight|evening|at night)\b|昨晚|昨夜|今晚"), "晚上"),
    (regex(r"\bafternoon\b"), "下午"),
    (regex(r"\bmorning\b"), "早上"),
)
"""The part of a day that is said apart from its hour: "last night at 8"."""


def _day_or_since(clause: str, now: datetime) -> Window | None:
    found = next(((match, day) for pattern, day in _DAYS if (match := pattern.search(clause))), None)
    start = found[1](found[0], now) if found else None
    rest = clause if found is None else clause[: found[0].start()] + " " + clause[found[0].end() :]
    is_since = _SINCE.search(clause) is not None
    if found is not None and start is None:
        return None
    between = _FROM_TO.search(rest)
    if between is not None and (_has_clock(between) or _has_clock(between, "to_")):
        return _between(between, clause, start, now)
    is_night = _NIGHT.search(clause) is not None
    said = next((part for pattern, part in _PART_SAID if pattern.search(clause)), "")
    clock = next((match for match in _AT.finditer(rest) if _is_time(match, said)), None)
    time_of_day = _time(_spoken(clock), said) if clock is not None else None
    if is_since and time_of_day is not None:
        return _window(now, _last(start, _of_that_night(time_of_day, is_night), now))
    if is_night and not is_since:
        first = _midnight(now, 1).replace(hour=NIGHT_BEGINS)
        return _window(now, first, _midnight(now).replace(hour=NIGHT_ENDS))
    if start is None:
        return None
    if is_since:
        return _window(now, start + timedelta(hours=NIGHT_BEGINS) if is_night else start)
    part = next(((first, last) for pattern, first, last in _PARTS if pattern.search(clause)), None)
    if part is not None:
        return _window(now, start + timedelta(hours=part[0]), start + timedelta(hours=part[1]))
    return _window(now, start, start + timedelta(days=1))


def _of_that_night(time: timedelta, is_night: bool) -> timedelta:
    """A time of "last night" counts from yesterday's midnight: 2am of it is today."""
    return time + timedelta(days=1) if is_night and time < timedelta(hours=12) else time


def _last(day: datetime | None, time: timedelta, now: datetime) -> datetime:
    """The last moment before now that has this time of day; of a day that was named, that day's."""
    moment = (day or _midnight(now)) + time
    while moment >= now:
        moment -= timedelta(days=1)
    return moment


def _between(match: re.Match[str], clause: str, start: datetime | None, now: datetime) -> Window | None:
    """From one time to another. What only one of them says of the half of the day holds for both: "between 2 and 4am"."""
    said = next((part for pattern, part in _PART_SAID if pattern.search(clause)), "")
    begins, ends = _spoken(match), _spoken(match, "to_")
    first = _time(begins, said, ends.half_day)
    last = _time(ends, said or begins.part, begins.half_day)
    if first is None or last is None:
        return None
    half = timedelta(hours=12)
    if last <= first and not begins.says_half and ends.half_day and first >= half:
        first -= half  # between 10 and 2pm
    elif last <= first < last + half <= timedelta(days=1) and begins.says_half and not ends.says_half:
        last += half  # 上午十点到两点
    first = _of_that_night(first, _NIGHT.search(clause) is not None)
    while last <= first:
        last += timedelta(days=1)
    begun = _last(start, first, now)
    return _window(now, begun, begun + last - first)


def _has_clock(match: re.Match[str], prefix: str = "") -> bool:
    """A bare number is no time of day; `14:00`, `2pm`, `14点` and `下午 3` are."""
    return any(match.group(f"{prefix}{sign}") for sign in ("mark", "half_day", "part"))


def _is_time(match: re.Match[str], said: str) -> bool:
    """Where the sentence says which part of the day, "at 8" is a time too."""
    return _has_clock(match) or (said != "" and _BARE_HOUR.search(match.string, 0, match.start()) is not None)


@dataclass(frozen=True, slots=True)
class _Clock:
    """A time of day as it was said."""

    hour: int | None
    minute: int
    half_day: str
    part: str

    @property
    def says_half(self) -> bool:
        return bool(self.half_day or self.part)


def _spoken(match: re.Match[str], prefix: str = "") -> _Clock:
    minute = 30 if match.group(f"{prefix}half") else int(match.group(f"{prefix}minute") or 0)
    half_day = (match.group(f"{prefix}half_day") or "").replace(".", "")
    return _Clock(
        number_of(match.group(f"{prefix}hour")), minute, half_day, match.group(f"{prefix}part") or ""
    )


def _time(clock: _Clock, part: str = "", half_day: str = "") -> timedelta | None:
    """From midnight on, more than a day for what people still call the evening; the arguments hold where the clock says neither."""
    hour = clock.hour
    if hour is None or hour > 24 or clock.minute > 59:
        return None
    if not clock.says_half and hour <= 12:
        clock = replace(clock, part="" if half_day else part, half_day=half_day)
    if clock.half_day:
        hour = hour % 12 + (12 if clock.half_day == "pm" else 0)
    elif clock.part in _EVENING and hour <= 12:
        hour += 12 if hour >= 5 else 24  # 晚上两点 is two hours after midnight
    elif (clock.part in ("下午", "傍晚") and hour < 12) or (clock.part == _NOON and hour < 4):
        hour += 12
    elif clock.part == "凌晨":
        hour %= 12
    return timedelta(hours=hour, minutes=clock.minute)
