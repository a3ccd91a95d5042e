"""What a text speaks of by number or name: tasks, runs, things with technical names, codes of proposals.

By their shape alone. What is told to a model as a fact needs a digit, an underscore, or a word in front that says what it is; a word
that has but a hyphen is of a kind of its own, since it may be an ordinary one. Nothing is decided by any of it: it tells what two
texts have in common, and gives a model the numbers that it would otherwise have to look for.
"""

import re
from collections.abc import Mapping

from chatops_bot.domain.proposal import CODE_LENGTH, CODE_LETTERS
from chatops_bot.domain.regex import regex

READ_CHARS = 2_000
"""Of a longer text only the beginning is read."""
MOST = 8
"""Values of one kind that are kept, in the order of the text."""
WORD = "word"
"""The kind of a word that may be a name: it has hyphens, and nothing else speaks for it."""

_UNIT = (
    r"[%％个条遍秒]|次(?!日)|天(?!天)|分钟|小时|毫秒|点(?![击开了评])|周(?![报期末一二三四五六日])|月(?![报底初末度])|年(?![报底度])"
    r"|(?:ms|[smhd]|sec(?:ond)?s?|min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?|months?|years?|times?|percent"
    r"|(?:more |other |failed )?(?:tasks|jobs|runs|instances))\b"
)
"""Behind a number it says how long or how many; the number names nothing."""
_NUMBER = (
    r"\s{0,3}(?:(?:id|编号)\s{0,3}[#:：=]?|[#:：=])?\s{0,3}(?P<value>\d{1,12})(?!\d|[.:-]\d|[\s-]{0,3}(?:"
    + _UNIT
    + "))"
)
_COUNTED = r"(?<![\d月.:-])(?P<value>\d{1,12})\s?号\s?"
_NUMBERS = {
    "task": (
        regex(rf"(?:\b(?:task|job)(?:_id)?|任务|作业){_NUMBER}", re.IGNORECASE),
        regex(rf"{_COUNTED}(?:任务|作业)"),
    ),
    "run": (
        regex(rf"(?:\b(?:run|instance)(?:_id)?|运行|实例|执行){_NUMBER}", re.IGNORECASE),
        regex(rf"{_COUNTED}(?:运行|实例)"),
    ),
}
"""With what says in front of the number what it is of, and with what says it behind."""
_BARE = re.compile(r"(?<![\w#])#(?P<value>\d{1,12})\b")
_NAME = re.compile(
    r"(?<![A-Za-z0-9._/@-])(?P<value>[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)*(?:[_-][A-Za-z0-9]{3,}|[A-Za-z-]\d+))(?![A-Za-z0-9@/])"
)
_CODE = re.compile(rf"\b(?=[A-Z]*\d)(?P<value>[{CODE_LETTERS}]{{{CODE_LENGTH}}})\b")
_SAYS_NAME = regex(
    r"(?:(?:\b(?:task|job|named|called)\s{1,3}|(?:任务|作业|名为|叫)\s{0,3})[\"'`“「]?|[\"`“「])\Z",
    re.IGNORECASE,
)
_SAID_BEFORE = 12
"""How far in front of a word that is looked for."""
_NO_NUMBERED = re.compile(r"(?:utf|ascii|iso|sha|md|ipv|top|http|tls)-?\d+", re.IGNORECASE)
_COMPOUND = """
a ad all as at back based built by call case cross date day deep depth double down early edge end even ever fail fast first follow for
free full go good half hand hands hard high hot hour in inter is just key known large last late left less level life like line lived load
long looking low made main mid mis multi near new next no non not of off old on once one only opt or out over part per pre
priority progress range re read ready real related right root run running safe self semi short side single so start state step sub super
than the third through time to trade two un under up user warm week well wide work world worst write year
"""
_ORDINARY = frozenset(_COMPOUND.split())
"""Parts of ordinary compounds: a word of which at least half are such (`read-only`, `up-to-date`) is no name."""


def entities_in(text: str) -> Mapping[str, tuple[str, ...]]:
    """The values by kind (`task`, `run`, `number`, `name`, `WORD`, `code`), kinds in this order; one without any is left out."""
    read, taken, found = text[:READ_CHARS], set[str](), dict[str, tuple[str, ...]]()
    names, words = _names_in(read)
    by_kind = {
        **{kind: _numbers_in(read, *patterns) for kind, patterns in _NUMBERS.items()},
        "number": [match["value"] for match in _BARE.finditer(read)],
        "name": names,
        WORD: words,
        "code": [match["value"] for match in _CODE.finditer(read)],
    }
    for kind, values in by_kind.items():
        if kept := [value for value in dict.fromkeys(values) if value not in taken][:MOST]:
            found[kind] = tuple(kept)
            taken.update(kept)
    return found


def _numbers_in(text: str, before: re.Pattern[str], behind: re.Pattern[str]) -> list[str]:
    matches = [*before.finditer(text), *(behind.finditer(text) if "号" in text else ())]
    return [match["value"] for match in sorted(matches, key=lambda match: match.start("value"))]


def _names_in(text: str) -> tuple[list[str], list[str]]:
    """Names, and words that may be some."""
    names: list[str] = []
    words: list[str] = []
    for match in _NAME.finditer(text):
        value, start = match["value"], match.start()
        if not _may_be_a_name(value):
            continue
        is_plain = value.replace("-", "").isalpha()
        said = not is_plain or _SAYS_NAME.search(text[max(0, start - _SAID_BEFORE) : start])
        (names if said else words).append(value)
    return names, words


def _may_be_a_name(value: str) -> bool:
    if "_" in value:
        return True
    if any(map(str.isdigit, value)):
        return _NO_NUMBERED.fullmatch(value) is None
    parts = value.casefold().split("-")
    return 2 * sum(part in _ORDINARY for part in parts) < len(parts)
