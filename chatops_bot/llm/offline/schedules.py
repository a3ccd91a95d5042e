"""Times in words to the scheduler's cron: five numeric fields, in the scheduler's own zone.

Only what five fields can say exactly is translated; "every 7 minutes" has no such form (`*/7` starts anew each hour), so
the answer is None and the asker is asked for an expression.
"""

import re
from collections.abc import Callable

from chatops_bot.llm.offline.arguments import NUMBER, number_of

_FIELD = r"(?:\*|\d{1,2}(?:-\d{1,2})?)(?:/\d{1,2})?(?:,(?:\*|\d{1,2}(?:-\d{1,2})?)(?:/\d{1,2})?)*"
_CRON = re.compile(rf"(?<![\w*/,-])({_FIELD}(?:[ \t]+{_FIELD}){{4}})(?![\w*/-]|,[\d*])")

_WEEKDAYS = {
    "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 0,
    "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 0, "天": 0,
}  # fmt: skip
_ENGLISH_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_PART_ZH = r"(?P<part>凌晨|清晨|早上|早晨|上午|中午|正午|下午|傍晚|晚上|夜里|夜间|深夜|午夜|半夜|零点|早|晚)?"
_CLOCK_ZH = (
    rf"{_PART_ZH}\s*(?:的)?(?:(?P<hour>{NUMBER})\s*(?::\s*(?P<colon>\d{{2}})|[点时]\s*(?:整|钟)?"
    rf"(?:(?P<half>半)|(?P<minute>{NUMBER})\s*分?)?))?"
)
_CLOCK_EN = (
    r"(?:\s*,?\s*(?:in the )?(?P<part2>morning|afternoon|evening|night))?\s*(?:,|at|@)?\s*"
    r"(?:(?P<named>midnight|noon)|(?P<hour>\d{1,2})(?::(?P<colon>\d{2}))?\s*(?:o'?clock)?\s*(?P<half_day>am|pm|a\.m\.?|p\.m\.?)?)"
    r"(?:\s*in the (?P<part3>morning|afternoon|evening))?"
)


def cron_in(text: str) -> str | None:
    """The cron expression that `text` (masked or plain, lower case) states outright or in words; None if it states none."""
    literal = _CRON.search(text)
    if literal is not None:
        return " ".join(literal.group(1).split())
    for pattern, build in _PHRASES:
        match = pattern.search(text)
        if match is not None:
            return build(match)
    return None


def mentions_time(text: str) -> bool:
    """Whether `text` says something about when, though perhaps nothing that cron can express."""
    return re.search(r"每|工作日|\bevery\b|\bdaily\b|\bhourly\b|\bweekly\b|\bcron\b|定时", text) is not None


def _clock(match: re.Match[str]) -> tuple[int, int] | None:
    """Hour and minute of a matched clock, None when it has none or an impossible one."""
    groups = match.groupdict()
    part = groups.get("part") or groups.get("part2") or groups.get("part3") or ""
    if groups.get("named") == "midnight" or (part in ("午夜", "零点", "半夜") and not groups.get("hour")):
        return 0, 0
    if groups.get("named") == "noon" or (part in ("中午", "正午") and not groups.get("hour")):
        return 12, 0
    hour = number_of(groups.get("hour") or "")
    if hour is None:
        return None
    minute = 30 if groups.get("half") else number_of(groups.get("colon") or groups.get("minute") or "0")
    half_day = (groups.get("half_day") or "").replace(".", "")
    if half_day:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half_day == "pm" else 0)
    else:
        hour = _by_part_of_day(part, hour)
    return (hour, minute) if hour <= 23 and minute is not None and minute <= 59 else None


def _by_part_of_day(part: str, hour: int) -> int:
    if part in ("下午", "傍晚", "晚上", "晚", "afternoon", "evening") and hour < 12:
        return hour + 12 if hour > 0 else hour
    if part in ("晚上", "晚", "夜里", "夜间", "深夜", "半夜", "午夜", "night", "凌晨") and hour == 12:
        return 0
    # "Every night at 10" is the evening, "every night at 2" is after midnight.
    if part in ("夜里", "夜间", "深夜", "night") and 6 <= hour < 12:
        return hour + 12
    if part in ("中午", "正午") and 1 <= hour <= 2:
        return hour + 12
    return hour


def _at(days: str) -> Callable[[re.Match[str]], str | None]:
    """Builds `minute hour` plus the fixed last three fields."""

    def build(match: re.Match[str]) -> str | None:
        clock = _clock(match)
        return f"{clock[1]} {clock[0]} {days}" if clock else None

    return build


def _on_weekday(match: re.Match[str]) -> str | None:
    clock = _clock(match)
    return f"{clock[1]} {clock[0]} * * {_WEEKDAYS[match.group('day')]}" if clock else None


def _on_day_of_month(match: re.Match[str]) -> str | None:
    clock, day = _clock(match), number_of(match.group("day"))
    return f"{clock[1]} {clock[0]} {day} * *" if clock and day and day <= 31 else None


def _every(unit_range: int, template: str) -> Callable[[re.Match[str]], str | None]:
    def build(match: re.Match[str]) -> str | None:
        step = number_of(match.group("step"))
        if step is None or step < 1 or unit_range % step or step == unit_range:
            return None
        return template.format("*" if step == 1 else f"*/{step}")

    return build


def _hourly(match: re.Match[str]) -> str | None:
    minute = number_of(match.groupdict().get("minute") or "0")
    return f"{minute} * * * *" if minute is not None and minute <= 59 else None


_PHRASES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]], ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"每隔?\s*(?P<step>{NUMBER})\s*分钟", _every(60, "{} * * * *")),
        (rf"每隔?\s*(?P<step>{NUMBER})\s*个?小时", _every(24, "0 {} * * *")),
        (r"every\s+(?P<step>\d{1,2})\s*(?:m\b|mins?\b|minutes?\b)", _every(60, "{} * * * *")),
        (r"every\s+(?P<step>\d{1,2})\s*(?:h\b|hrs?\b|hours?\b)", _every(24, "0 {} * * *")),
        (r"每分钟|every minute|each minute", lambda _: "* * * * *"),
        (r"每半个?小时|every half(?: an)? hour", lambda _: "*/30 * * * *"),
        (rf"每个?小时(?:的)?(?:第?\s*(?P<minute>{NUMBER})\s*分)?", _hourly),
        (r"every hour(?:\s+at\s+(?:minute\s+|:)(?P<minute>\d{1,2}))?|\bhourly\b", _hourly),
        (rf"(?:工作日|每?周一(?:到|至|-|~)(?:周)?五)(?:的)?每?天?\s*{_CLOCK_ZH}", _at("* * 1-5")),
        (rf"(?:every weekday|weekdays|(?:every )?mon(?:day)?(?: to |-| through )fri(?:day)?){_CLOCK_EN}", _at("* * 1-5")),
        (rf"每(?:周|星期|礼拜)(?P<day>[一二三四五六日天])(?:的)?\s*{_CLOCK_ZH}", _on_weekday),
        (rf"(?:every|on|each)\s+(?P<day>{_ENGLISH_DAY})s?{_CLOCK_EN}", _on_weekday),
        (rf"每个?月(?:的)?\s*(?P<day>{NUMBER})\s*[号日](?:的)?\s*{_CLOCK_ZH}", _on_day_of_month),
        (rf"(?:every month on the|on the|every)\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)(?:\s+of\s+(?:each|every|the)\s+month)?{_CLOCK_EN}",
         _on_day_of_month),
        (rf"(?:每天|每日|每(?=晚)|天天)(?:的)?\s*{_CLOCK_ZH}", _at("* * *")),
        (rf"(?:every\s+(?P<part>day|night|morning|evening|afternoon)|daily|nightly|each day){_CLOCK_EN}", _at("* * *")),
    )
)  # fmt: skip
