"""Failover: when one model cannot begin to answer, another does, and people are told.

Only a call that has yielded nothing is handed over. Once a person has seen the beginning of an answer, a second model
would start another one in the middle of it, so from then on the error passes through.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from chatops_bot.domain.errors import ModelBroke, ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from chatops_bot.domain.model import ModelDelta, ModelNotice, ModelRequest
from chatops_bot.ports import LLM

HANDED_OVER = (ModelUnavailable, ModelTimeout, ModelRefused, ModelBroke)
"""A blocked answer is not among them: the provider did answer, and asking elsewhere would walk around its filter."""


class FailoverModel:
    """An `LLM` that asks `primary`, and `standby` when the primary fails before its first delta."""

    def __init__(self, primary: LLM, standby: LLM) -> None:
        self._primary = primary
        self._standby = standby

    @property
    def name(self) -> str:
        return self._primary.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`. The notice with the primary's sentence comes before the standby's first delta."""
        begun = False
        try:
            async with aclosing(self._primary.stream(request)) as deltas:
                async for delta in deltas:
                    begun = True
                    yield delta
            return
        except HANDED_OVER as failure:
            if begun:
                raise
            reason: ModelError = failure
        yield ModelNotice(reason.phrase)
        async with aclosing(self._standby.stream(request)) as deltas:
            async for delta in deltas:
                yield delta
