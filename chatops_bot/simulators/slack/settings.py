"""The times and counts that Slack enforces, in one value, so that a test can shorten them."""

from dataclasses import dataclass
from typing import Literal

from chatops_bot.simulators.slack.scopes import GRANTED


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
    stream_seconds: float = 300.0
    """A streamed message cannot be appended to when it is older than this (seen in the field)."""
    stream_bytes: int = 11_000
    """UTF-8 bytes that one streamed message takes (seen in the field)."""
    ticket_seconds: float = 30.0
    """A Socket Mode URL can be opened once within this time."""
    calls_kept: int = 5000
    """How many of the bot's API calls `/sim/calls` remembers (our own bound)."""
    versions_kept: int = 200
    """How many states of one message `/sim/versions` remembers, the newest (our own bound)."""
    versions_kept_in_all: int = 20_000
    rate_limits: Literal["slack", "off"] = "slack"
    """`off` lets the bot call as often as it likes."""
    distributed: bool = False
    """Whether the app counts as sold outside the Marketplace: one read of a conversation a minute, of 15 messages."""
    bot_scopes: tuple[str, ...] = GRANTED
    sockets_most: int = 10
    """Socket Mode connections that an app may have at a time."""
