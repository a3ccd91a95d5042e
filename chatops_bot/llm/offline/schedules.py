"""Times in words to the scheduler's cron: five numeric fields, in the scheduler's own zone.

Only what five fields can say exactly is translated; "every 7 minutes" has no such form (`*/7` starts anew each hour), so
the answer is None and the asker is asked for an expression.
"""

import re
from collections.abc import Callable

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline import cron
from chatops_bot.llm.offline.arguments import NUMBER, number_of

_ENGLISH_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_CHINESE_WEEKDAYS = "日一二三四五六"
_ENGLISH_DAY = r"\b(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:days?)?\b"
_ENGLISH_DAYS = rf"(?P<days>{_ENGLISH_DAY}(?:\s*(?:,|and|&|,\s*and)\s*{_ENGLISH_DAY})*)"
_CHINESE_DAYS = (
    r"(?P<days>[一二三四五六日天](?:\s*[,、和及与]?\s*(?:周|星期|礼拜)?[一二三四五六日天](?![点时号月]))*)"
)
_N = rf"零?(?:{NUMBER})|零"
_PART_ZH = r"(?P<part>凌晨|清晨|早上|早晨|上午|中午|正午|下午|傍晚|晚上|夜里|夜间|深夜|午夜|半夜|早|晚)?"
_CLOCK_ZH = (
    rf"{_PART_ZH}\s*(?:的)?(?:(?P<hour>{_N})\s*(?::\s*(?P<colon>\d{{2}})|[点时]\s*(?:整|钟)?"
    rf"(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>{_N})\s*分?)?))?"
)
_HOUR_EN = (
    r"(?:(?P<named>midnight|noon)|(?P<hour>\d{1,2})(?::(?P<colon>\d{2}))?\s*(?:o'?clock)?\s*"
    r"(?P<half_day>am\b|pm\b|a\.m\.?|p\.m\.?)?)"
)
_CLOCK_EN = (
    rf"(?:\s*,?\s*(?:in the )?(?P<part2>morning|afternoon|evening|night))?\s*(?:,|at|@)?\s*{_HOUR_EN}"
    r"(?:\s*(?:in the|at) (?P<part3>morning|afternoon|evening|night))?"
)
_CLOCK_FIRST_EN = rf"(?:\bat\s+|@\s*)?(?<![\d:]){_HOUR_EN}(?:\s*in the (?P<part3>morning|afternoon|evening))?\s*,?\s+(?:on\s+)?"
_AND = r"\s*(?:,|、|和|及|与|以及|&|\band\b)\s*(?:\band\s+)?"
_MORE_ZH = regex(
    rf"{_AND}{_PART_ZH}\s*(?P<hour>{_N})\s*(?::\s*(?P<colon>\d{{2}})|[点时]\s*(?:整|钟)?"
    rf"(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>{_N})\s*分?)?)"
)
_MORE_EN = regex(
    rf"{_AND}(?:at\s+)?(?:(?P<named>midnight|noon)|(?P<hour>\d{{1,2}})(?::(?P<colon>\d{{2}}))?\s*(?P<half_day>am\b|pm\b|a\.m\.?|p\.m\.?))"
)
_MORE_BEFORE = regex(r"(?:\d|[ap]\.?m\.?|noon|midnight|[点时半])\s*(?:,|、|和|及|与|&|\band\b)\s*\Z")
_NAMES_CLOCK = regex(r"\d\s*(?:[ap]\.?m\b|:\d\d|[点时])|[一二三四五六七八九十两]\s*[点时]")
_NEAR = 24
"""Letters in front of a clock that are looked at for another one."""
_MONDAY_TO_FRIDAY_EN = (
    r"(?:every weekday|(?:on )?weekdays|(?:every )?mon(?:day)?(?: to | ?- ?| through )fri(?:day)?)"
)
_WEEKEND_EN = r"(?:every weekend|(?:on )?weekends)"
_EVERY_DAY_EN = (
    r"(?:(?:every|each)\s+(?:single )?(?P<part>day|night|morning|evening|afternoon)|daily|nightly)"
)


def cron_in(text: str) -> str | None:
    """The valid cron expression that `text` (masked or plain, lower case) writes out or says in words; None if there is none."""
    written = cron.written_in(text)
    if written is not None:
        return written if cron.problem_of(written) is None else None
    for pattern, build in _PHRASES:
        match = pattern.search(text)
        if match is not None:
            return build(match)
    return None


def wrong_cron_in(text: str) -> tuple[str, Phrase] | None:
    """A cron expression that `text` writes out and the scheduler would refuse, with the reason; None otherwise."""
    written = cron.written_in(text.lower())
    problem = cron.problem_of(written) if written is not None else None
    return (written, problem) if written is not None and problem is not None else None


def mentions_time(text: str) -> bool:
    """Whether `text` says something about when, though perhaps nothing that cron can express."""
    return re.search(r"每|工作日|\bevery\b|\bdaily\b|\bhourly\b|\bweekly\b|\bcron\b|定时", text) is not None


def names_clock(text: str) -> bool:
    """Whether `text` names a time of day, be it one that could be read or not."""
    return _NAMES_CLOCK.search(text) is not None


def impossible_clock_in(text: str) -> str:
    """The first time of day in `text` that no clock shows, as it is written; empty when there is none."""
    for match in re.finditer(r"(?<![\d:])(\d{1,2}):(\d{2})(?![\d:])", text):
        if int(match[1]) > 23 or int(match[2]) > 59:
            return match[0]
    return ""


def _clock(match: re.Match[str]) -> tuple[int, int] | None:
    """Hour and minute of a matched clock, None when it has none or an impossible one."""
    groups = match.groupdict()
    part = groups.get("part") or groups.get("part2") or groups.get("part3") or ""
    if groups.get("named") == "midnight" or (part in ("午夜", "半夜") and not groups.get("hour")):
        return 0, 0
    if groups.get("named") == "noon" or (part in ("中午", "正午") and not groups.get("hour")):
        return 12, 0
    hour = number_of(groups.get("hour") or "")
    if hour is None:
        return None
    quarters = {"一": 15, "三": 45}.get(groups.get("quarter") or "")
    minute = (
        30
        if groups.get("half")
        else quarters or number_of(groups.get("colon") or groups.get("minute") or "0")
    )
    half_day = (groups.get("half_day") or "").replace(".", "")
    if half_day:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half_day == "pm" else 0)
    else:
        hour = _by_part_of_day(part, hour)
    return (hour, minute) if hour <= 23 and minute is not None and minute <= 59 else None


def _by_part_of_day(part: str, hour: int) -> int:
    if part in ("晚上", "晚") and 1 <= hour < 5:
        return hour  # 晚上两点 is two hours after midnight
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
        times = _times(match)
        return f"{times} {days}" if times else None

    return build


def _times(match: re.Match[str]) -> str | None:
    """The minute and hour fields for the clock of a match and those that follow it: "at 2am and 2pm". None when two fields cannot
    hold them all, or when more of them stand before it."""
    first, text, at = _clock(match), match.string, match.end()
    if first is None or _MORE_BEFORE.search(text[max(0, match.start() - _NEAR) : match.start()]):
        return None
    clocks = [first]
    said = match.groupdict()
    is_bare = said.get("hour") and first[0] <= 12 and not (said.get("half_day") or said.get("colon"))
    while more := _MORE_EN.match(text, at) or _MORE_ZH.match(text, at):
        clock = _clock(more)
        if clock is None or (more.groupdict().get("half_day") and is_bare):
            return None  # "at 2 and 3pm": which two?
        clocks.append(clock)
        at = more.end()
    minutes = {minute for _, minute in clocks}
    hours = ",".join(map(str, sorted({hour for hour, _ in clocks})))
    return f"{minutes.pop()} {hours}" if len(minutes) == 1 else None


def _on_weekdays(match: re.Match[str]) -> str | None:
    times = _times(match)
    if times is None:
        return None
    words = match.group("days")
    chinese = [_CHINESE_WEEKDAYS.index(c.replace("天", "日")) for c in words if c in _CHINESE_WEEKDAYS + "天"]
    english = [_ENGLISH_WEEKDAYS.index(word[:3]) for word in re.findall(_ENGLISH_DAY, words)]
    days = sorted(set(chinese + english))
    return f"{times} * * {','.join(map(str, days))}"


def _on_day_of_month(match: re.Match[str]) -> str | None:
    times, day = _times(match), number_of(match.group("day"))
    return f"{times} {day} * *" if times and day and day <= 31 else None


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
    (regex(pattern), build)
    for pattern, build in (
        (rf"每隔?\s*(?P<step>{NUMBER})\s*分钟", _every(60, "{} * * * *")),
        (rf"每隔?\s*(?P<step>{NUMBER})\s*个?小时", _every(24, "0 {} * * *")),
        (r"every\s+(?P<step>\d{1,2})\s*(?:m\b|mins?\b|minutes?\b)", _every(60, "{} * * * *")),
        (r"every\s+(?P<step>\d{1,2})\s*(?:h\b|hrs?\b|hours?\b)", _every(24, "0 {} * * *")),
        (r"每分钟|every minute|each minute", lambda _: "* * * * *"),
        (r"每半个?小时|every half(?: an)? hour|every half-hour", lambda _: "*/30 * * * *"),
        (r"每刻钟|每一刻钟|every quarter(?: of an)? hour", lambda _: "*/15 * * * *"),
        (r"every other hour", lambda _: "0 */2 * * *"),
        (rf"每个?小时(?:的)?(?:第?\s*(?P<minute>{_N})\s*分)?", _hourly),
        (r"(?:every hour|\bhourly\b)(?:\s+at\s+(?:minute\s+|:)(?P<minute>\d{1,2}))?", _hourly),
        (rf"(?:工作日|每?(?:周|星期)一(?:到|至|-|~)(?:周|星期)?五)(?:的)?每?天?\s*{_CLOCK_ZH}", _at("* * 1-5")),
        (rf"(?:每个?)?周末(?:的)?每?天?\s*{_CLOCK_ZH}", _at("* * 0,6")),
        (rf"{_MONDAY_TO_FRIDAY_EN}{_CLOCK_EN}", _at("* * 1-5")),
        (rf"{_WEEKEND_EN}{_CLOCK_EN}", _at("* * 0,6")),
        (rf"每个?(?:周|星期|礼拜)(?:的)?{_CHINESE_DAYS}(?:的)?\s*{_CLOCK_ZH}", _on_weekdays),
        (rf"(?:every|on|each)\s+{_ENGLISH_DAYS}{_CLOCK_EN}", _on_weekdays),
        (rf"每个?月(?:的)?\s*(?P<day>{NUMBER})\s*[号日](?:的)?\s*{_CLOCK_ZH}", _on_day_of_month),
        (rf"(?:(?:every month|monthly) on the|on the|every)\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)(?:\s+of\s+(?:each|every|the)\s+month)?{_CLOCK_EN}",
         _on_day_of_month),
        (rf"(?:每天|每日|每(?=晚)|天天)(?:的)?\s*{_CLOCK_ZH}", _at("* * *")),
        (rf"{_EVERY_DAY_EN}{_CLOCK_EN}", _at("* * *")),
        # The clock first: "at 2am every day".
        (rf"{_CLOCK_FIRST_EN}{_MONDAY_TO_FRIDAY_EN}", _at("* * 1-5")),
        (rf"{_CLOCK_FIRST_EN}{_WEEKEND_EN}", _at("* * 0,6")),
        (rf"{_CLOCK_FIRST_EN}(?:every|on|each)\s+{_ENGLISH_DAYS}", _on_weekdays),
        (rf"{_CLOCK_FIRST_EN}{_EVERY_DAY_EN}", _at("* * *")),
    )
)  # fmt: skip
