"""Failover: when one model cannot begin to answer, another does, and people are told.

Only the first call of a turn is handed over, and only while it has yielded nothing. Later, a second model would begin
another answer in the middle of the first one, so the error passes through and what was found stands. A turn that was
handed over stays handed over; the next turn asks the primary first.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from chatops_bot.domain.errors import (
    ModelBroke,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelTooLong,
    ModelUnavailable,
)
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
    UserMessage,
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
        self._too_long: OrderedDict[_Question, None] = OrderedDict()

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
                if isinstance(failure, ModelTooLong) and self._is_new(question):
                    raise
                self._remember(question, failure)
        yield ModelNotice(_told(self._handed_over[question].phrase), is_first=True)
        async with aclosing(self._standby.stream(replace(request, is_standing_in=True))) as deltas:
            async for delta in deltas:
                if isinstance(delta, ModelNotice):
                    continue  # the standby's own would say that no model is configured
                if isinstance(delta, Finished):
                    delta = replace(delta, model=delta.model or self._standby.name)
                yield delta

    def _is_new(self, question: _Question) -> bool:
        """Whether this is the first time that this question came with too much before it; its asker tries once with less."""
        if question in self._too_long:
            del self._too_long[question]
            return False
        self._too_long[question] = None
        while len(self._too_long) > TURNS_REMEMBERED:
            self._too_long.popitem(last=False)
        return True

    def _remember(self, question: _Question, failure: ModelError) -> None:
        self._handed_over[question] = failure
        while len(self._handed_over) > TURNS_REMEMBERED:
            self._handed_over.popitem(last=False)


def _told(reason: Phrase) -> Phrase:
    """Both sentences; the words of a provider, which may end the first, need no full stop."""
    ends = (".", "。", "!", "！", "?", "？", "…")
    zh, en = (
        said if said.endswith(ends) else f"{said}{stop}"
        for said, stop in ((reason.zh, "。"), (reason.en, "."))
    )
    return Phrase(f"{zh}{_INSTEAD.zh}", f"{en} {_INSTEAD.en}")


def _question(request: ModelRequest) -> tuple[_Question, bool]:
    """The newest person's message and what the turn knew before the model's first word: the same in every round of it, however
    much is left out of what stands before. And whether that word is still to come."""
    messages = request.messages
    end = len(messages)
    while end and isinstance(messages[end - 1], AssistantMessage | ToolMessage | SystemMessage):
        end -= 1
    start = next((at for at in range(end - 1, -1, -1) if isinstance(messages[at], UserMessage)), 0)
    return messages[start:end], end == len(messages)
