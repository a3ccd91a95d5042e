"""Untrusted values as safe, short Markdown, and times as people read them at night."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from chatops_bot.domain.language import Language, Phrase

LONGEST_QUOTE = 300
"""Characters of an error line that a report quotes; the whole stays in the scheduler."""

_NOTHING = "—"
_ZONE = Phrase("（时间：{zone}）", "(Times in {zone}.)")
_DAY_AND_ZONE = Phrase("（时间：{day}，{zone}）", "(Times on {day}, {zone}.)")


def one_line(text: str, limit: int = LONGEST_QUOTE) -> str:
    """`text` with every line break, control and invisible character turned into a space, cut to `limit` characters."""
    shown = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text[: limit * 8])
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip() + "…"


def code(value: object, limit: int = LONGEST_QUOTE) -> str:
    """`value` as a code span that nothing inside it can close."""
    shown = one_line(str(value), limit)
    if not shown:
        return _NOTHING
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", shown)), default=0))
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(text: str, lines: int, limit: int) -> str:
    """The last `lines` lines of `text`, at most `limit` characters, as a code block that nothing inside it can close."""
    shown = [one_line(line, limit) for line in text[-limit * 8 :].splitlines()]
    kept: list[str] = []
    room = limit
    for line in reversed([line for line in shown if line][-lines:]):
        room -= len(line) + 1
        if room < 0:
            break
        kept.insert(0, line)
    if not kept:
        return ""
    return _fenced("\n".join(kept))


def script(text: str, limit: int) -> str:
    """`text` line by line with its indents, cut to `limit` characters, as a code block that nothing inside it can close."""
    shown = text.strip("\r\n")[:limit].splitlines()
    cut = ["…"] if len(text.strip("\r\n")) > limit else []
    return _fenced("\n".join([*map(_visible, shown), *cut]))


def _visible(line: str) -> str:
    return "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in line).rstrip()


def _fenced(inside: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", inside)), default=0))
    return f"{fence}\n{inside}\n{fence}"


def fact(value: object) -> str:
    """A number or yes/no as it is, an absent value as a dash, anything else as code."""
    if value is None or value == "":
        return _NOTHING
    if isinstance(value, bool | int | float):
        return str(value)
    return code(value, 120)


def parse_time(value: object) -> datetime | None:
    """An RFC 3339 time; None for anything else, and for the year 1 by which the scheduler means "never"."""
    if not isinstance(value, str):
        return None
    # Go writes nanoseconds, of which Python reads six digits.
    trimmed = re.sub(r"(\.\d{6})\d+", r"\1", value.strip().replace("Z", "+00:00"))
    try:
        moment = datetime.fromisoformat(trimmed)
    except ValueError:
        return None
    if moment.year <= 1 or moment.year >= 9999:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def zone_name(zone: tzinfo | None, at: datetime) -> str:
    """`UTC+08:00`, the offset that `zone` has `at` that time."""
    offset = (zone.utcoffset(at) if zone else None) or timedelta()
    if not offset:
        return "UTC"
    minutes = int(offset.total_seconds()) // 60
    return f"UTC{'+' if minutes > 0 else '-'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: the language, the zone that times are shown in (None: the one that they come with), and the name of that which
    schedules are read in, where its clock shows another time."""

    language: Language
    zone: tzinfo | None = None
    schedules: str = ""

    def say(self, zh: str, en: str) -> str:
        return zh if self.language == "zh" else en

    def times(self, *values: object) -> "Times":
        return Times(values, self)


def schedule(row: Mapping[str, object], reader: Reader) -> str:
    """A task's cron expression, with the zone that it is read in where that is not the reader's."""
    zone = str(row.get("timezone") or reader.schedules)
    expression = fact(row.get("cron_expr"))
    return f"{expression} ({one_line(zone, 40)})" if zone and expression != _NOTHING else expression


class Times:
    """The times of one report: one zone, one day where they share it, both said once at the end."""

    def __init__(self, values: Iterable[object], reader: Reader) -> None:
        moments = [moment for moment in map(parse_time, values) if moment is not None]
        self._language = reader.language
        self._zone: tzinfo = reader.zone or (moments[0].tzinfo if moments else None) or UTC
        self._first = moments[0].astimezone(self._zone) if moments else None
        self._is_one_day = len({moment.astimezone(self._zone).date() for moment in moments}) == 1

    def show(self, value: object) -> str:
        """`02:00:05` where all times share a day, else `11-29 02:00`; a dash when there is no time."""
        moment = parse_time(value)
        if moment is None:
            return _NOTHING
        return moment.astimezone(self._zone).strftime("%H:%M:%S" if self._is_one_day else "%m-%d %H:%M")

    def note(self) -> str:
        """The zone (and the day), empty when the report has no time."""
        if self._first is None:
            return ""
        zone = zone_name(self._zone, self._first)
        if not self._is_one_day:
            return _ZONE.filled(zone=zone).said_in(self._language)
        return _DAY_AND_ZONE.filled(day=self._first.date().isoformat(), zone=zone).said_in(self._language)
