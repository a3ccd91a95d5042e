"""What a text speaks of by number or name: tasks, runs, things with technical names, codes of proposals.

By their shape alone, so a word may be taken for a name. Nothing is decided by it: it tells what two texts have in common,
and gives a model the numbers that it would otherwise have to look for.
"""

import re
from collections.abc import Mapping

from chatops_bot.domain.proposal import CODE_LENGTH, CODE_LETTERS

READ_CHARS = 2_000
"""Of a longer text only the beginning is read."""
MOST = 8
"""Values of one kind that are kept, in the order of the text."""

_NUMBER = r"\s{0,3}(?:id|编号)?\s{0,3}[#:：=]?\s{0,3}(?P<value>\d{1,12})(?!\d|[.:-]\d)"
_ORDINARY = r"(?!(?:on-call|long-running|well-known|real-time|day-to-day|re-[a-z]+|un-[a-z]+)\b)"
_KINDS = {
    "task": re.compile(rf"(?:\b(?:task|job)(?:_id)?|任务|作业){_NUMBER}", re.IGNORECASE),
    "run": re.compile(rf"(?:\b(?:run|instance)(?:_id)?|运行|实例|执行){_NUMBER}", re.IGNORECASE),
    "number": re.compile(r"(?<![\w#])#(?P<value>\d{1,12})\b"),
    "name": re.compile(
        rf"(?<![A-Za-z0-9._/@-]){_ORDINARY}(?P<value>[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)*(?:[_-][A-Za-z0-9]{{3,}}|[A-Za-z-]\d+))"
        r"(?![A-Za-z0-9@/])"
    ),
    "code": re.compile(rf"\b(?=[A-Z]*\d)(?P<value>[{CODE_LETTERS}]{{{CODE_LENGTH}}})\b"),
}


def entities_in(text: str) -> Mapping[str, tuple[str, ...]]:
    """The values by kind (`task`, `run`, `number`, `name`, `code`), kinds in this order; a kind without any is left out."""
    read, taken, found = text[:READ_CHARS], set[str](), dict[str, tuple[str, ...]]()
    for kind, pattern in _KINDS.items():
        values = dict.fromkeys(match["value"] for match in pattern.finditer(read))
        if kept := [value for value in values if value not in taken][:MOST]:
            found[kind] = tuple(kept)
            taken.update(kept)
    return found
