"""The one seam where Slack's refusals and the network's failures become ours.

No message holds a token: Slack's own error code, the method and what to do are all it needs.
"""

from collections.abc import Mapping
from typing import Any

from chatops_bot.domain.errors import MessageGone, PlatformError, PlatformUnavailable

_GONE = frozenset(
    {"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive", "block_mismatch"}
)
_BLOCKS = frozenset(
    {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text"}
)
_TRANSIENT = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
)
_ADVICE = {
    "invalid_auth": "check the {token} token",
    "not_authed": "set the {token} token",
    "account_inactive": "install the app again: its bot user was deactivated",
    "token_revoked": "install the app again and configure its new token",
    "token_expired": "configure a fresh token",
    "not_allowed_token_type": "use the xoxb- token for the bot and the xapp- token for the socket",
    "not_in_channel": "invite the bot to the channel",
    "channel_not_found": "invite the bot to the channel, or correct the channel id",
    "is_archived": "the channel is archived; name another one",
}
_WITH_APP_TOKEN = frozenset({"apps.connections.open"})
"""The methods that take the app-level token; all others take the bot's."""
DEFAULT_RETRY_AFTER = 10.0


class RateLimited(PlatformUnavailable):
    """Slack did not do it and says when to ask again: `retry_after` in seconds."""

    def __init__(self, method: str, retry_after: float) -> None:
        super().__init__(
            f"Slack limits {method}; it may be called again in {retry_after:g} s.", "ratelimited"
        )
        self.retry_after = retry_after


class Unanswered(PlatformUnavailable):
    """The request left and no verdict came back: Slack may or may not have done it."""


class BlocksRefused(PlatformError):
    """Slack does not accept the message's blocks or length. The message names each block that it complained about."""


def from_answer(method: str, status: int, headers: Mapping[str, str], body: Any) -> PlatformError:
    """Ours for an answer that is no `ok: true`; `body` is the decoded JSON, or None when there was none."""
    answer = body if isinstance(body, dict) else {}
    code = str(answer.get("error") or f"http_{status}")
    if status == 429 or code in ("ratelimited", "rate_limited"):
        return RateLimited(method, _seconds(headers.get("Retry-After")))
    if code in _GONE:
        return MessageGone(f"Slack can no longer edit this message ({code}).", code)
    if code in _BLOCKS:
        details = answer.get("response_metadata", {}).get("messages", [])
        return BlocksRefused(f"Slack refused {method}: {code} {'; '.join(map(str, details))}".strip(), code)
    if code in _TRANSIENT or not answer:
        return Unanswered(f"Slack could not say whether {method} worked ({code}).", code)
    if code == "missing_scope":
        return PlatformError(
            f"Slack refused {method}: add the scope {answer.get('needed', '?')} to the app and install it again.",
            code,
        )
    advice = _ADVICE.get(code, "").format(token="app" if method in _WITH_APP_TOKEN else "bot")
    return PlatformError(f"Slack refused {method}: {code}{f'; {advice}' if advice else ''}.", code)


def _seconds(header: str | None) -> float:
    try:
        return max(0.0, float(header)) if header else DEFAULT_RETRY_AFTER
    except ValueError:
        return DEFAULT_RETRY_AFTER
