"""`OfflineModel`: the rules behind the same port as a language model, so that one loop runs both."""

import asyncio
import hashlib
import math
from collections.abc import AsyncGenerator

from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelNotice,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
)
from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline import phrases
from chatops_bot.llm.offline.conversation import read
from chatops_bot.llm.offline.desk import Answer
from chatops_bot.llm.offline.plan import respond

_PIECE = regex(r"[\u2e80-\u9fff\uf900-\ufaff]{1,4}|[^\s\u2e80-\u9fff\uf900-\ufaff]{1,24}\s?|\s+")

LONGEST_SHOW = 2.5
"""Seconds that an answer may take to grow: the whole of it was there before its first word."""


class OfflineModel:
    """Answers by rules, from tool results alone; reaches nothing.

    `pace`: seconds between two pieces of text, so that an answer is seen to grow; 0 sends it at once. A long answer comes in
    larger pieces, so that nobody waits for the show. Equal requests give equal deltas.
    """

    def __init__(self, pace: float = 0.0) -> None:
        self._pace = pace

    @property
    def name(self) -> str:
        return "offline"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """The port's contract. Never raises a ModelError: nothing can be down."""
        conversation = read(request)
        if conversation.is_first_call:
            yield ModelNotice(phrases.NO_MODEL)
        response = respond(conversation)
        text, calls = (response.text, response.changes) if isinstance(response, Answer) else ("", response)
        for piece in pieces(text, self._pace):
            yield TextDelta(piece)
            if self._pace > 0:
                await asyncio.sleep(self._pace)
        for index, call in enumerate(calls):
            yield ToolCallDelta(index, _call_id(request, index), call.tool, call.arguments)
        yield Finished(FinishReason.TOOL_CALLS if calls else FinishReason.STOP)


def pieces(text: str, pace: float) -> list[str]:
    """Words, or as many of them at a time as it takes to say all within `LONGEST_SHOW` with pauses of `pace` seconds."""
    words = _PIECE.findall(text)
    together = max(1, math.ceil(len(words) * pace / LONGEST_SHOW))
    return ["".join(words[at : at + together]) for at in range(0, len(words), together)]


def _call_id(request: ModelRequest, index: int) -> str:
    """An id that is the same for the same request and different for every other."""
    digest = hashlib.sha256(repr(request.messages).encode("utf-8", "backslashreplace")).hexdigest()
    return f"offline_{digest[:16]}_{index}"
