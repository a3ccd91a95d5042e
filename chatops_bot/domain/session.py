"""Where a conversation lives. A thread is a session; its key names platform, workspace, channel and thread."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

IsDead = Callable[[str], Awaitable[bool]]
"""Whether a process, by its name, runs no more and will never write again. Raises StoreError."""


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Identity of a session. `thread` is the platform's id of the thread's first message."""

    platform: str
    workspace: str
    channel: str
    thread: str

    def __str__(self) -> str:
        return f"{self.platform}:{self.workspace}:{self.channel}:{self.thread}"

    @classmethod
    def parse(cls, text: str) -> "SessionKey":
        """The key that `str(key)` came from. Raises ValueError on anything else."""
        platform, workspace, channel, thread = text.split(":")
        return cls(platform, workspace, channel, thread)


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A message that the bot posted and may edit: the channel and the platform's message id."""

    channel: str
    id: str


class TurnOutcome(StrEnum):
    """How a turn came to rest."""

    ANSWERED = "answered"
    WAITING = "waiting"  # for people: proposals to decide on, forms to fill in
    CAPPED = "capped"  # the cap on rounds was reached
    STOPPED = "stopped"  # a person pressed Stop
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the process died in the middle


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn that the store knows as running: what recovery needs to end it after a crash."""

    id: str
    session: SessionKey
    message: MessageRef | None
    language: str
    snapshot: str
    """The answer view so far as JSON (see `rendering.turn_view`), empty before the first edit."""
    input: str = ""
    """What starts the turn, as JSON (see `sessions.mailbox`), so that one that never started can start after a restart."""
