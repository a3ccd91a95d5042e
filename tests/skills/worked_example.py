"""A model that plays the worked example of a skill: the calls in order, with what earlier results said."""

import json
from collections.abc import AsyncGenerator
from typing import Any

from chatops_bot.context.fence import unfence
from chatops_bot.context.worked_example import Example, filled, kept_of
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
    ToolMessage,
)


class ExamplePlayer:
    """Makes one call a step, then gives the answer. A reference to what no result held is a KeyError."""

    name = "example"

    def __init__(self, example: Example) -> None:
        self._example = example
        self._kept: dict[str, Any] = {}
        self._at = 0
        self.results: list[dict[str, Any]] = []
        self.answer = ""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        if self._at:
            self._take(request.messages[-1])
        if self._at < len(self._example.steps):
            step = self._example.steps[self._at]
            self._at += 1
            yield ToolCallDelta(0, f"call_{self._at}", step.call, json.dumps(self.filled(step.arguments)))
            yield Finished(FinishReason.TOOL_CALLS)
        else:
            self.answer = self.filled(self._example.ends.answer)
            yield TextDelta(self.answer)
            yield Finished(FinishReason.STOP)

    def filled(self, value: Any) -> Any:
        return filled(value, self._kept)

    def _take(self, message: object) -> None:
        assert isinstance(message, ToolMessage)
        result = json.loads(unfence(message.text))
        self.results.append(result)
        self._kept |= kept_of(self._example.steps[self._at - 1], result)
