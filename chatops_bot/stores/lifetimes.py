"""How long every store keeps what nobody needs for ever: Redis by itself, a file while it is written to."""

CONTROLS_KEPT_SECONDS = 30 * 24 * 3600
"""A button that is older is no longer valid, and says so."""

CLAIMS_KEPT_SECONDS = 7 * 24 * 3600
"""No platform delivers an event again after that."""

ENDED_KEPT_SECONDS = 7 * 24 * 3600
"""How long it is known who had a turn that is over, for a process that was paused with it."""
