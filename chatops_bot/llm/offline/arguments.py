"""The facts in a sentence: task names, ids, a window of time, a count.

Names are what only the asker can know, so they are taken out first and replaced by one placeholder character each
(`mask`); what is left is ordinary words, which the cue tables may read.
"""

import re
import unicodedata
from dataclasses import dataclass
from math import ceil
from typing import Literal

from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline import fillers
from chatops_bot.llm.offline.spelling import mended

SpanKind = Literal["name", "quote", "url", "other"]

_FIRST = 0xE000
_MOST_SPANS = 512
NAME_CHARS = 128
"""Length of a task's name at most (its column in the scheduler)."""

_QUOTED = regex(
    r"```(?P<block>[\s\S]*?)```|```(?P<unclosed>[\s\S]*)\Z|(?P<ticks>`+)(?!`)(?P<code>[^\n]+?)(?P=ticks)(?!`)|\"(?P<double>[^\"\n]+)\"|“(?P<curly>[^”\n]+)”"
    r"|「(?P<corner>[^」\n]+)」|『(?P<white>[^』\n]+)』|(?<![\w'])'(?P<single>[^'\n]+)'(?!\w)"
)
_CITED_LINE = regex(r"(?m)^[ \t]*(?:>|&gt;).*$")
"""Somebody else's words, as people cite them in chats."""
_URL = regex(r"https?://[^\s<>\"'`，。；、）]+", re.IGNORECASE)
_SHORTCODE = regex(r"(?<![\w:]):[A-Za-z][A-Za-z0-9_+-]*:(?!\w)")
"""`:pray:`, the way Slack writes an emoji."""
_PICTURES = frozenset({"So", "Sk", "Mn"})
"""Unicode categories of emoji, their skin tones and their variants."""
_SPACES = regex(r"[^\S\n]+")
_MENTION = regex(r"<[@#!][^<>\n]*>|(?<![\w.])(?:@[UWS]|#[CGD])[A-Z0-9]{7,}(?!\w)")
"""People, groups and channels by the platform's ids, in which `3H` is no time."""
_TOKEN = regex(r"(?<![A-Za-z0-9._-])[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)+(?![A-Za-z0-9])")
_ORDINARY_TOKEN = regex(
    r"(?:re-?run|un-?pause|re-?enable|kick-off|time-out|on-call|follow-up|up-to-date|long-running|e-mail|set-up|so-called|"
    r"(?:sun|mon|tue|wed|thu|fri|sat)-(?:sun|mon|tue|wed|thu|fri|sat)|real-time|day-to-day|ad-hoc|well-known|in-progress|e\.g|i\.e|a\.m|p\.m|\d+-(?:hour|hr|day|min|minute|week)s?)",
    re.IGNORECASE,
)
_JOINED = regex(r"\b(re|un)-(?=run|pause|enable)|\b(time)-(?=out)|\b(kick|set)-(?=off|up)")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text that was masked, as it was written."""

    kind: SpanKind
    text: str


@dataclass(frozen=True, slots=True)
class Masked:
    """`text` is NFKC, lower case, one placeholder for each of `spans`."""

    text: str
    spans: tuple[Span, ...]

    def spans_in(self, clause: str) -> list[Span]:
        places = (ord(character) - _FIRST for character in clause)
        return [self.spans[place] for place in places if 0 <= place < len(self.spans)]

    def names_in(self, clause: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(span.text for span in self.spans_in(clause) if span.kind == "name"))


def mask(text: str) -> Masked:
    """Take names, quotations and addresses out of any text. Never fails."""
    spans: list[Span] = []

    def put(kind: SpanKind, content: str) -> str:
        if len(spans) >= _MOST_SPANS:
            return " "
        spans.append(Span(kind, content))
        return f" {chr(_FIRST + len(spans) - 1)} "

    def quoted(match: re.Match[str]) -> str:
        content = next(part for part in match.groups()[::-1] if part is not None).strip()
        if match.group("unclosed") is not None:  # nobody knows where it would have ended
            return " "
        if match.group("block") is None and 0 < len(content) <= NAME_CHARS and not re.search(r"\s", content):
            return put("url" if _URL.fullmatch(content) else "name", content)
        return put("quote", content)

    def token(match: re.Match[str]) -> str:
        word = match.group()
        if _ORDINARY_TOKEN.fullmatch(word):
            return word
        if not any(character.isalpha() for character in word) or len(word) > NAME_CHARS:
            return word if not any(character.isalpha() for character in word) else put("other", word)
        return put("name", word)

    bare = "".join(" " if unicodedata.category(c) in ("Co", "Cs", "Cf") else c for c in text)
    bare = _CITED_LINE.sub(lambda match: put("quote", match.group()), bare)
    bare = _MENTION.sub(" ", _QUOTED.sub(quoted, bare))
    bare = _URL.sub(lambda match: put("url", match.group().rstrip(".,;:!?)")), bare)
    bare = unicodedata.normalize("NFKC", _SHORTCODE.sub(" ", bare)).replace("’", "'")
    bare = _TOKEN.sub(token, bare).lower()
    bare = _SPACES.sub(" ", "".join(" " if unicodedata.category(c) in _PICTURES else c for c in bare))
    bare = _JOINED.sub(lambda m: (m[1] or m[2] or "") + (f"{m[3]} " if m[3] else ""), bare)
    return Masked(mended(bare), tuple(spans))


_RUN_ID = regex(
    r"(?:\b(?:run|instance|execution)s?\s*(?:id\s*)?[:#]?\s*#?|(?:实例|运行记录|执行记录|运行|执行)\s*(?:id\s*)?[:#]?\s*#?|第\s*)(\d{1,18})(?!\d|\s*(?:个|次(?!运行|执行)|条|小时|分钟|天|h\b|m\b|:|hours?|min))"
)
_TASK_ID = regex(
    r"(?:\b(?:task|job)s?\s*(?:id\s*)?[:#]?\s*|任务\s*(?:id\s*)?[:#]?\s*|#\s*)(\d{1,18})(?!\d|\s*(?:个|次|条|小时|分钟|天))|(\d{1,18})\s*号任务"
)
_BARE_ID = regex(r"(?<![\w.:/-])(\d{1,18})(?![\w.:/%-])")


@dataclass(frozen=True, slots=True)
class Ids:
    runs: tuple[int, ...] = ()
    tasks: tuple[int, ...] = ()
    bare: tuple[int, ...] = ()
    """Numbers that nothing else explains."""


def ids_in(clause: str) -> Ids:
    """Run ids, task ids and lone numbers of a masked clause; `#12` and `task 12` are tasks, `run 12` is a run."""
    runs, rest = _taken(_RUN_ID, clause)
    tasks, rest = _taken(_TASK_ID, rest)
    bare, _ = _taken(_BARE_ID, _COUNT.sub(" ", _SPAN_OF_TIME.sub(" ", rest)))
    return Ids(runs, tasks, bare)


def _taken(pattern: re.Pattern[str], text: str) -> tuple[tuple[int, ...], str]:
    found = [int(next(group for group in match.groups() if group)) for match in pattern.finditer(text)]
    return tuple(dict.fromkeys(number for number in found if number > 0)), pattern.sub(" ", text)


_CHINESE_DIGITS = {
    "零": 0,
    "一": 1,
    "两": 2,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_ENGLISH_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twelve": 12, "half an": 1, "half a": 1, "couple of": 2, "few": 3,
}  # fmt: skip
NUMBER = r"\d{1,4}|[一二两三四五六七八九十]{1,3}"


def number_of(words: str) -> int | None:
    """`12`, `十二`, `二十` or `three` as a number; None for anything else."""
    words = words.strip()
    words = words.removeprefix("零") or words
    if words.isascii() and words.isdigit():
        return int(words)
    if words in _ENGLISH_NUMBERS:
        return _ENGLISH_NUMBERS[words]
    tens, ten, ones = words.partition("十")
    if not ten:
        return _CHINESE_DIGITS.get(words)
    if any(part and part not in _CHINESE_DIGITS for part in (tens, ones)):
        return None
    return _CHINESE_DIGITS.get(tens, 1) * 10 + _CHINESE_DIGITS.get(ones, 0)


_HOURS_PER = {"minute": 1 / 60, "hour": 1.0, "day": 24.0, "week": 168.0, "month": 720.0}
_UNITS = (
    ("minute", r"分钟|min(?:ute)?s?\b|m\b"),
    ("hour", r"个?半?小时|钟头|h(?:(?:ou)?rs?)?\b"),
    ("day", r"天|日(?!志)|d(?:ays?)?\b"),
    ("week", r"个?星期|周|weeks?\b|w\b"),
    ("month", r"个?月(?!\d)|months?\b"),
)
_SPAN_OF_TIME = regex(
    rf"(?P<amount>{NUMBER}|half an?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|(?:a )?couple of|(?:a )?few)?"
    r"(?:(?<![\s-])[\s-]++)?(?:" + "|".join(f"(?P<{unit}>{pattern})" for unit, pattern in _UNITS) + ")"
)
_RECENT_UNIT = regex(r"(?:last|past|previous|this|最近|过去|近|这|本|上|上个|这个|本个)\s*$")
_NAMED_WINDOWS: tuple[tuple[re.Pattern[str], int], ...] = (
    (regex(r"昨天|昨日|\byesterday\b"), 48),
    (regex(r"前天"), 72),
    (regex(r"今天|今日|今早|昨晚|\btoday\b|\blast night\b|\bthis morning\b|\bovernight\b"), 24),
)
LONGEST_HOURS = 24 * 90


def minutes_in(clause: str) -> int | None:
    """The span back from now that a masked clause names in so many words, in minutes; None when it names none."""
    for match in _SPAN_OF_TIME.finditer(clause):
        amount = match.group("amount")
        before = clause[: match.start()]
        if amount is None and not _RECENT_UNIT.search(before):
            continue
        if amount is not None and amount.isascii() and amount.isalpha() and re.search(r"\w$", before):
            continue
        number = 1 if amount is None else number_of(amount.removeprefix("a ") if " of" in amount else amount)
        if number is None:
            continue
        unit = next(unit for unit, _ in _UNITS if match.group(unit))
        is_half = "半小时" in match.group() or (amount or "").startswith("half")
        return max(1, round(number * _HOURS_PER[unit] * 60 * (0.5 if is_half else 1)))
    return None


def hours_in(clause: str) -> int | None:
    """The window that a masked clause names, in whole hours rounded up; None when it names none."""
    minutes = minutes_in(clause)
    if minutes is not None:
        return max(1, min(LONGEST_HOURS, ceil(minutes / 60)))
    return next((hours for pattern, hours in _NAMED_WINDOWS if pattern.search(clause)), None)


_COUNT = regex(
    rf"(?:最近|最新|近|前|上|过去)\s*的?\s*(?P<zh>{NUMBER})\s*(?:次|条|个|轮)|\b(?:last|latest|newest|recent|top|past)\s+(?P<en>\d{{1,3}})\s+(?!h|m|d|w)"
)


def count_in(clause: str) -> int | None:
    """How many rows a masked clause asks for (`last 10 runs`, `最近10次`), None when it does not say."""
    match = _COUNT.search(clause)
    return number_of(match.group("zh") or match.group("en")) if match else None


def plain_name_in(clause: str) -> str:
    """What is left of a masked clause without ordinary words: perhaps a name of plain words. Empty when nothing is left."""
    bare = re.sub(r"[\ue000-\uefff]|\d+\s*(?:am|pm|h|m)?\b", " ", clause)
    bare = fillers.CHINESE.sub(" ", bare)
    words = [word for word in re.findall(r"[^\W_]+(?:'[a-z]+)?", bare) if word not in fillers.ENGLISH]
    return " ".join(words[:4])[:NAME_CHARS]


@dataclass(frozen=True, slots=True)
class Target:
    """What an intent is about. `is_reference`: the sentence says "it" and the conversation has to say what that is."""

    names: tuple[str, ...] = ()
    task_ids: tuple[int, ...] = ()
    run_ids: tuple[int, ...] = ()
    is_reference: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.names or self.task_ids or self.run_ids or self.is_reference)


NOTHING = Target()


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows: a number of rows, a status; None or empty where the sentence does not say."""

    count: int | None = None
    status: str = ""
