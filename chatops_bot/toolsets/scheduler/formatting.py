"""How values are written in results and plans: times, cut texts, names."""

from collections.abc import Sequence
from datetime import UTC, datetime

from chatops_bot.domain.language import Phrase


def cut(text: str, limit: int) -> str:
    """`text` within `limit` characters, the last one an ellipsis when something is missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_line(text: str) -> str:
    return " ".join(text.split())


def stamp(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC to the second, None for a time that is not set."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def task_title(name: str, task_id: int) -> str:
    return f"{one_line(name)} (#{task_id})"


def counted(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(titles: Sequence[str], *, most: int = 5) -> Phrase:
    """The first `most` titles in one line, and how many more there are."""
    more = len(titles) - most
    zh, en = "、".join(titles[:most]), ", ".join(titles[:most])
    return Phrase(f"{zh} 等 {len(titles)} 个", f"{en} and {more} more") if more > 0 else Phrase(zh, en)
