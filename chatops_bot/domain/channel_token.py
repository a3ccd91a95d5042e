"""How a text of ours names a channel whose name only the platform knows: `⟨#C0123⟩`, which each platform shows in its own way.

What comes from outside has those brackets escaped on cards; elsewhere it could at most name a channel, which calls nobody.
"""

import re
from collections.abc import Callable

_TOKEN = re.compile("⟨#([CG][A-Z0-9]*)⟩")


def channel_token(channel_id: str) -> str:
    """The token of a channel; its bare id where that does not look like one."""
    token = f"⟨#{channel_id}⟩"
    return token if _TOKEN.fullmatch(token) else channel_id


def channels_in(text: str) -> list[str]:
    """The ids of the channels that `text` names, in order."""
    return _TOKEN.findall(text)


def parted(text: str) -> tuple[str, ...]:
    """`text` in turns of plain text and the id of a channel; begins and ends with text, which may be empty."""
    return tuple(_TOKEN.split(text))


def with_channels(text: str, shown: Callable[[str], str]) -> str:
    """`text` with each token as what `shown` makes of its id."""
    return _TOKEN.sub(lambda match: shown(match[1]), text)
