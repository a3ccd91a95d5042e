"""The zone that a time is said in: `02:00 UTC`, `9am in the scheduler's zone`, `北京时间早上9点`."""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Literal

from chatops_bot.domain.regex import regex
from chatops_bot.domain.zones import zone_named

SaidZone = tzinfo | Literal["asker", "scheduler", "unknown"]

_OFFSET = regex(
    r"\b(?:in\s+)?(?:utc|gmt)(?:\s?(?P<sign>[+-])\s?(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?)?(?![\w:])"
    r"|(?:协调)?世界时间?"
)
_IANA = regex(
    r"\b(?:in\s+)?(?P<zone>(?:africa|america|antarctica|asia|atlantic|australia|europe|indian|pacific|etc)"
    r"/[a-z_+\-0-9]+(?:/[a-z_\-]+)?)(?!\w)"
)
_CALLED = (
    (regex(r"(?:北京|上海|中国)时间|\b(?:in\s+)?(?:beijing|shanghai|china)(?: standard)? time\b"), "Asia/Shanghai"),
    (regex(r"(?:东京|日本)时间|\b(?:in\s+)?(?:(?:tokyo|japan) time|jst)\b"), "Asia/Tokyo"),
    (regex(r"(?:首尔|韩国)时间|\b(?:in\s+)?(?:(?:seoul|korea) time|kst)\b"), "Asia/Seoul"),
    (regex(r"(?:伦敦|英国)时间|\b(?:in\s+)?(?:london|uk) time\b"), "Europe/London"),
    (regex(r"(?:柏林|德国)时间|\b(?:in\s+)?(?:(?:berlin|paris|central european)(?: summer)? time|ces?t)\b"), "Europe/Berlin"),
    (regex(r"纽约时间|\b(?:in\s+)?(?:new york|eastern|us eastern) time\b"), "America/New_York"),
    (regex(r"\b(?:in\s+)?(?:san francisco|pacific|us pacific) time\b"), "America/Los_Angeles"),
)  # fmt: skip
_CLOCK_FOLLOWS = r"(?=\s*(?:每|凌晨|清晨|早|上午|中午|下午|傍晚|晚|夜|\d|[零一二三四五六七八九十两]))"
_BESIDE = r"(?:\b(?:in|on|by)\s+|(?<=[\dm])\s+)"
"""Only beside a time: a task may well be about the clock of a server."""
_SCHEDULERS = regex(
    _BESIDE + r"(?:the\s+)?(?:scheduler|server)(?:'?s)?\s+(?:own\s+)?(?:time\s?zone|zone|clock|time)\b"
    r"|[按用以](?:调度器|调度服务|服务器)的?(?:时间|时区|时钟)|(?:调度器|调度服务|服务器)的?(?:时间|时区|时钟)"
    + _CLOCK_FOLLOWS
)
_ASKERS = regex(
    _BESIDE + r"(?:my|our|local)\s+(?:time\s?zone|zone|clock|time)\b"
    r"|[按用以](?:本地|当地|我的|我这边的?)(?:时间|时区)|(?:本地|当地)时间" + _CLOCK_FOLLOWS
)
_OTHER = regex(r"(?<=[\dm])\s*(?:est|edt|cst|cdt|mst|mdt|pst|pdt|bst|ist|msk|aest|aedt|sgt|hkt)\b")
"""Abbreviations that stand for several zones, or for one half of the year."""


def said_zone_in(text: str) -> tuple[SaidZone | None, str]:
    """The zone that masked text names, None for none, and the text without it."""
    if found := _SCHEDULERS.search(text):
        return "scheduler", _without(text, found)
    if found := _ASKERS.search(text):
        return "asker", _without(text, found)
    for pattern, name in _CALLED:
        if found := pattern.search(text):
            return zone_named(name) or "unknown", _without(text, found)
    if found := _IANA.search(text):
        name = "/".join(part.title() for part in found["zone"].split("/"))
        return zone_named(name) or "unknown", _without(text, found)
    if found := _OFFSET.search(text):
        return _offset(found), _without(text, found)
    if found := _OTHER.search(text):
        return "unknown", _without(text, found)
    return None, text


def _offset(found: re.Match[str]) -> SaidZone:
    if not found["hours"]:
        return UTC
    minutes = int(found["hours"]) * 60 + int(found["minutes"] or 0)
    if minutes > 14 * 60:
        return "unknown"
    return timezone(timedelta(minutes=minutes if found["sign"] == "+" else -minutes))


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"
