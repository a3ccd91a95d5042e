"""Which scope a method needs of the bot's token; what is not granted is `missing_scope`."""

from collections.abc import Mapping

from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import Channel

GRANTED = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:join",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "reactions:write",
    "team:read",
    "usergroups:read",
    "users:read",
)
"""What the bot's token has unless the workspace is started with other scopes."""

OF_A_CHANNEL: Mapping[str, str] = {
    "conversations.history": "history",
    "conversations.info": "read",
    "conversations.members": "read",
    "conversations.replies": "history",
}
"""`channels:` or `im:`, as the channel is, before these."""
OF_A_METHOD: Mapping[str, tuple[str, ...]] = {
    "assistant.threads.setStatus": ("chat:write", "assistant:write"),
    "bots.info": ("users:read",),
    "chat.appendStream": ("chat:write",),
    "chat.delete": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.startStream": ("chat:write",),
    "chat.stopStream": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.join": ("channels:join",),
    "conversations.list": ("channels:read", "groups:read", "im:read"),
    "conversations.open": ("im:write",),
    "reactions.add": ("reactions:write",),
    "reactions.remove": ("reactions:write",),
    "team.info": ("team:read",),
    "usergroups.list": ("usergroups:read",),
    "usergroups.users.list": ("usergroups:read",),
    "users.conversations": ("channels:read", "groups:read", "im:read"),
    "users.info": ("users:read",),
    "users.list": ("users:read",),
}
"""One of them suffices."""


def check_method(method: str, granted: tuple[str, ...]) -> None:
    """Raises missing_scope with `needed` and `provided`."""
    _check(OF_A_METHOD.get(method, ()), granted)


def check_channel(method: str, channel: Channel, granted: tuple[str, ...]) -> None:
    """As `check_method`, for methods whose scope depends on the kind of channel."""
    if method in OF_A_CHANNEL:
        family = "im" if channel.kind == "im" else "channels"
        _check((f"{family}:{OF_A_CHANNEL[method]}",), granted)


def _check(needed: tuple[str, ...], granted: tuple[str, ...]) -> None:
    if needed and not set(needed) & set(granted):
        details = {"needed": ",".join(needed), "provided": ",".join(granted)}
        raise SlackError("missing_scope", details=details)
