"""When an answer that is still growing may be edited again.

Two rules hold at once. A message is edited at most once in `per_message` seconds, the first time soon after it was
posted. And all messages of a workspace share one allowance, a leaky bucket: each edit takes `spacing` seconds of it, and
up to `burst` edits may run ahead. With N messages growing, each is therefore edited about every `N * spacing` seconds.

Progress asks for a slot and waits for it, first come, first served. A final edit waits for nobody: it is charged to the
allowance, and later progress makes up for it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds, but for `burst`. Defaults: Slack's 50 edits a minute for a whole workspace (chat.update is Tier 3)."""

    first_after: float = 0.3
    per_message: float = 1.0
    spacing: float = 1.2
    burst: int = 5


def next_edit_at(pace: Pace, posted_at: float, edited_at: float | None) -> float:
    """The earliest time for the next edit of one message, by its own rule."""
    return posted_at + pace.first_after if edited_at is None else edited_at + pace.per_message


@dataclass(frozen=True, slots=True)
class Allowance:
    """The shared bucket. It is full again at `full_at`; times are of any clock that never goes back."""

    pace: Pace
    full_at: float = 0.0

    def reserve(self, earliest: float) -> tuple[float, "Allowance"]:
        """The next free slot at `earliest` or later, and the allowance without it."""
        slot = max(earliest, self.full_at - self.pace.burst * self.pace.spacing)
        return slot, self.charge(slot)

    def charge(self, at: float) -> "Allowance":
        """The allowance after an edit at `at` that did not wait for a slot."""
        return Allowance(self.pace, max(self.full_at, at) + self.pace.spacing)
