"""A filled form, or one that was answered in words, is answered by the one call that it is for."""

from collections.abc import Mapping
from typing import Any

from chatops_bot.llm.offline.desk import Answer, Desk, Told


def call_with(tool: str, arguments: Mapping[str, Any], desk: Desk, saying: str = "") -> Answer:
    """The call with exactly these arguments, `saying` something with it; once it was made, what came of it."""
    try:
        return desk.propose(saying, tool, **arguments)
    except Told as told:
        return Answer(told.text)
