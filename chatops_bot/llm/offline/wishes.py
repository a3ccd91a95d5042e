"""Which changes a message asks for, whether or not the rules themselves would make them."""

from chatops_bot.llm.offline.cues import WRITES, Hold
from chatops_bot.llm.offline.understanding import understand

_NOT_ASKED = (Hold.NEGATED, Hold.REPORTED)


def changes_asked(text: str) -> frozenset[str]:
    """The kinds of change, such as `pause`: with a condition, for later and for many tasks too, since a language model can talk about
    those; not what is forbidden, what was done, and what somebody else said."""
    kinds = (
        intent.held if intent.hold and intent.hold not in _NOT_ASKED else intent.kind
        for intent in understand(text)
    )
    return frozenset(kind.value for kind in kinds if kind in WRITES)
