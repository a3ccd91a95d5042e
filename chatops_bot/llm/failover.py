"""Failover: when one model cannot begin to answer, another does, and people are told.

Only a call that has yielded nothing is handed over. Once a person has seen the beginning of an answer, a second model
would start another one in the middle of it, so from then on the error passes through. For a short while after a failure
the primary is left alone: the next rounds of the same turn must not wait for it again.
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from chatops_bot.domain.errors import ModelBroke, ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from chatops_bot.domain.model import ModelDelta, ModelNotice, ModelRequest
from chatops_bot.ports import LLM

HANDED_OVER = (ModelUnavailable, ModelTimeout, ModelRefused, ModelBroke)
"""A blocked answer is not among them: the provider did answer, and asking elsewhere would walk around its filter."""

REST_SECONDS = 10.0
"""How long a primary that failed is not asked: longer than a turn's rounds are apart, shorter than people take to ask again."""


class FailoverModel:
    """An `LLM` that asks `primary`, and `standby` when the primary fails before its first delta."""

    def __init__(
        self, primary: LLM, standby: LLM, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._primary = primary
        self._standby = standby
        self._monotonic = monotonic
        self._failure: ModelError | None = None
        self._rests_until = 0.0

    @property
    def name(self) -> str:
        return self._primary.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`. The notice with the primary's sentence comes before the standby's first delta."""
        if self._failure is None or self._monotonic() >= self._rests_until:
            begun = False
            try:
                async with aclosing(self._primary.stream(request)) as deltas:
                    async for delta in deltas:
                        begun = True
                        yield delta
                self._failure = None
                return
            except HANDED_OVER as failure:
                if begun:
                    raise
                self._failure = failure
                self._rests_until = self._monotonic() + REST_SECONDS
        yield ModelNotice(self._failure.phrase)
        async with aclosing(self._standby.stream(request)) as deltas:
            async for delta in deltas:
                yield delta
