"""The times and counts that Slack enforces, in one value, so that a test can shorten them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults are Slack's documented figures; all durations are seconds."""

    ack_seconds: float = 3.0
    """An event or interaction not acknowledged within this time counts as failed."""
    redelivery_delays: tuple[float, ...] = (0.0, 60.0, 300.0)
    """Waits before retry_attempt 1, 2 and 3 of an event, each counted from the failure before it."""
    trigger_seconds: float = 3.0
    """Life of a trigger_id."""
    response_url_uses: int = 5
    response_url_seconds: float = 1800.0
    status_seconds: float = 120.0
    """A thread status vanishes by itself after this time."""
    ticket_seconds: float = 30.0
    """A Socket Mode URL can be opened once within this time."""
    calls_kept: int = 5000
    """How many of the bot's API calls `/sim/calls` remembers (our own bound)."""
