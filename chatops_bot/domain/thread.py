"""What stood in a thread before the bot was spoken to there: other people's words, read once."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class EarlierMessage:
    """One message as people saw it: text, blocks and attachments as plain text. `author` is a name, chosen by its bearer."""

    author: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class ThreadExcerpt:
    """The newest messages that fit, oldest first. `left_out` counts the others; `is_partial`: the platform gave only a part."""

    messages: tuple[EarlierMessage, ...] = ()
    left_out: int = 0
    is_partial: bool = False
