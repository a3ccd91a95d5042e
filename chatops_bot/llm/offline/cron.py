"""Cron expressions that a person writes out: found in a text, and checked before anybody is asked to approve them.

Five numeric fields as the scheduler reads them: `*`, numbers, lists, ranges and steps, 7 is Sunday. The words for whole
schedules (`@daily`) and the names of days (`mon-fri`) have exact numeric forms and are put into them.
"""

import re

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.regex import regex

_FIELDS = (
    (Phrase("分钟", "minute"), 0, 59),
    (Phrase("小时", "hour"), 0, 23),
    (Phrase("日", "day of month"), 1, 31),
    (Phrase("月", "month"), 1, 12),
    (Phrase("星期", "day of week"), 0, 7),
)
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_DAY_NAMES = {name: str(day) for day, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_DAY = "|".join(_DAY_NAMES)
_ATOM = rf"(?:[\d*/?#-]|(?<![a-z])(?:{_DAY})(?![a-z]))+"
_FIELD = rf"{_ATOM}(?:,{_ATOM})*"
_WRITTEN = regex(rf"(?<![\w*/?#,-])(?P<fields>{_FIELD}(?:[ \t]+{_FIELD}){{3,6}})(?![\w*/-])")
_ALIAS = regex(r"@(?:" + "|".join(alias[1:] for alias in _ALIASES) + r")\b")
_ITEM = regex(r"(?:(?P<all>\*)|(?P<low>\d{1,2})(?:-(?P<high>\d{1,2}))?)(?:/(?P<step>\d{1,2}))?", re.ASCII)


def written_in(text: str) -> str | None:
    """The cron expression that lower-case `text` writes out, right or wrong, with single spaces; None when there is none."""
    alias = _ALIAS.search(text)
    if alias is not None:
        return _ALIASES[alias.group()]
    for match in _WRITTEN.finditer(text):
        fields = match.group("fields").split()
        # Numbers alone, such as a date and a time, are no cron expression.
        if any(field.startswith("*") for field in fields):
            return " ".join([*fields[:4], *(_numbered(field) for field in fields[4:])])
    return None


def _numbered(field: str) -> str:
    return re.sub(_DAY, lambda match: _DAY_NAMES[match.group()], field)


def problem_of(expression: str) -> Phrase | None:
    """Why the scheduler would not take `expression`, None when it would."""
    parts = expression.split()
    if len(parts) != len(_FIELDS):
        fields = "1 field" if len(parts) == 1 else f"{len(parts)} fields"
        return Phrase(f"需要 5 段，这里有 {len(parts)} 段", f"it has {fields} and needs 5")
    for part, (name, low, high) in zip(parts, _FIELDS, strict=True):
        for item in part.split(","):
            problem = _problem_of_item(item, name, low, high)
            if problem is not None:
                return problem
    return None


def _problem_of_item(item: str, name: Phrase, low: int, high: int) -> Phrase | None:
    match = _ITEM.fullmatch(item)
    if match is None:
        return Phrase(
            f"{name.zh}字段 {item} 无法识别", f"{name.en} {item} is not a number, range, list, step or *"
        )
    if match["step"] is not None and int(match["step"]) == 0:
        return Phrase(f"{name.zh}字段 {item} 的步长为零", f"{name.en} {item} has a step of zero")
    if match["all"]:
        return None
    first, last = int(match["low"]), int(match["high"] or match["low"])
    if match["step"] is not None and match["high"] is None:
        return Phrase(
            f"{name.zh}字段 {item} 只含一个数字却带步长，请写成 */{match['step']} 或 {first}-{high}/{match['step']}",
            f"{name.en} {item} is one number with a step; write */{match['step']} or {first}-{high}/{match['step']}",
        )
    if not low <= first <= last <= high:
        return Phrase(f"{name.zh}字段 {item} 超出 {low}-{high}", f"{name.en} {item} is outside {low}-{high}")
    return None
