"""Failover: when one model cannot begin to answer, another does, and people are told.

Only the first call of a turn is handed over, and only while it has yielded nothing. Later, a second model would begin
another answer in the middle of the first one, so the error passes through and what was found stands. A turn that was
handed over stays handed over; the next turn asks the primary first.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from chatops_bot.domain.errors import ModelBroke, ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import (
    AssistantMessage,
    Finished,
    Message,
    ModelDelta,
    ModelNotice,
    ModelRequest,
    SystemMessage,
    ToolMessage,
)
from chatops_bot.ports import LLM

HANDED_OVER = (ModelUnavailable, ModelTimeout, ModelRefused, ModelBroke)
"""A blocked answer is not among them: the provider did answer, and asking elsewhere would walk around its filter."""

TURNS_REMEMBERED = 256
"""More turns than run at once; an older one that still runs would only ask its primary again."""

_INSTEAD = Phrase("本轮由固定规则代答。", "Fixed rules answer this time.")

_Question = tuple[Message, ...]


class FailoverModel:
    """An `LLM` that asks `primary`, and `standby` when the primary fails before its first delta."""

    def __init__(self, primary: LLM, standby: LLM) -> None:
        self._primary = primary
        self._standby = standby
        self._handed_over: OrderedDict[_Question, ModelError] = OrderedDict()

    @property
    def name(self) -> str:
        return self._primary.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`. The notice with the primary's sentence comes before the standby's first delta."""
        question, is_first = _question(request)
        if is_first or question not in self._handed_over:
            begun = False
            try:
                async with aclosing(self._primary.stream(request)) as deltas:
                    async for delta in deltas:
                        begun = True
                        yield delta
                return
            except HANDED_OVER as failure:
                if begun or not is_first:
                    raise
                self._remember(question, failure)
        reason = self._handed_over[question].phrase
        yield ModelNotice(Phrase(f"{reason.zh}{_INSTEAD.zh}", f"{reason.en} {_INSTEAD.en}"))
        async with aclosing(self._standby.stream(request)) as deltas:
            async for delta in deltas:
                if isinstance(delta, ModelNotice):
                    continue  # the standby's own would say that no model is configured
                if isinstance(delta, Finished):
                    delta = replace(delta, model=delta.model or self._standby.name)
                yield delta

    def _remember(self, question: _Question, failure: ModelError) -> None:
        self._handed_over[question] = failure
        while len(self._handed_over) > TURNS_REMEMBERED:
            self._handed_over.popitem(last=False)


def _question(request: ModelRequest) -> tuple[_Question, bool]:
    """What was said before the model's first word of this turn, the same in every round of it, and whether that is all. The
    system text is no part of it, since it changes when a tool comes on offer."""
    last = len(request.messages)
    while last and isinstance(request.messages[last - 1], AssistantMessage | ToolMessage | SystemMessage):
        last -= 1
    said = (message for message in request.messages[:last] if not isinstance(message, SystemMessage))
    return tuple(said), last == len(request.messages)
