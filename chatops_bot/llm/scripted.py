"""A model that plays a script: what tests give the loop, and the twin that keeps the `LLM` contract honest.

A step is what one call yields, written as deltas, with an error at its end if it is to fail:

    ScriptedModel([
        calls(("query_tasks", {"status": "failed"})),
        says("Two tasks ", "failed."),
        fails(ModelBroke(phrase), after=[TextDelta("Let me")]),
    ])
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from chatops_bot.domain.errors import ModelError
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)

Step = Sequence[ModelDelta | ModelError]

NUMBERED = "<numbered>"
"""An id that the model replaces by `call_<step>_<call>`, both counted from 1, so that ids are unique in a script."""


_ENDS = (Finished, ModelError)


class ScriptExhausted(AssertionError):
    """The model was called more often than its script foresees."""


class ScriptLeftOver(AssertionError):
    """The model was called less often than its script foresees."""


def says(
    *pieces: str, reasoning: str = "", reason: FinishReason = FinishReason.STOP, usage: Usage | None = None
) -> Step:
    """A step that streams the pieces of a text and finishes."""
    return (*_spoken(reasoning, pieces), Finished(reason, usage or Usage(), _kept(reasoning)))


def calls(
    *wanted: tuple[str, Mapping[str, Any] | str],
    text: str = "",
    reasoning: str = "",
    reason: FinishReason = FinishReason.TOOL_CALLS,
    usage: Usage | None = None,
) -> Step:
    """A step that calls tools, each as name and arguments; arguments as text go out as they are, valid or not."""
    deltas: list[ModelDelta] = _spoken(reasoning, [text])
    for index, (name, arguments) in enumerate(wanted):
        raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False)
        deltas += [ToolCallDelta(index, NUMBERED, name), ToolCallDelta(index, arguments=raw)]
    return (*deltas, Finished(reason, usage or Usage(), _kept(reasoning)))


def fails(error: ModelError, *, after: Iterable[ModelDelta] = ()) -> Step:
    """A step that raises `error` once the deltas of `after` are out."""
    return (*after, error)


class ScriptedModel:
    """An `LLM` that plays one step a call and keeps every request in `requests`.

    `before_delta` is awaited before each delta or error of a step, so a test can hold the model at a point. Raises
    ValueError for a step that does not end in `Finished` or an error.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        name: str = "scripted",
        before_delta: Callable[[ModelDelta | ModelError], Awaitable[None]] | None = None,
    ) -> None:
        self.requests: list[ModelRequest] = []
        self._steps = tuple(steps)
        self._name = name
        self._before_delta = before_delta
        for number, step in enumerate(self._steps, start=1):
            ends = [place for place, delta in enumerate(step, start=1) if isinstance(delta, _ENDS)]
            if ends != [len(step)]:
                raise ValueError(f"step {number} must end in its only Finished or error")

    @property
    def name(self) -> str:
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`. Raises ScriptExhausted when no step is left."""
        self.requests.append(request)
        number = len(self.requests)
        if number > len(self._steps):
            raise ScriptExhausted(f"call {number} of a script with {len(self._steps)} steps")
        for delta in self._steps[number - 1]:
            if self._before_delta is not None:
                await self._before_delta(delta)
            if isinstance(delta, ModelError):
                raise delta
            if isinstance(delta, ToolCallDelta) and delta.id == NUMBERED:
                call_id = f"call_{number}_{delta.index + 1}"
                delta = ToolCallDelta(delta.index, call_id, delta.name, delta.arguments, delta.opaque)
            yield delta

    def assert_finished(self) -> None:
        """Raises ScriptLeftOver when steps are left."""
        left = len(self._steps) - len(self.requests)
        if left > 0:
            raise ScriptLeftOver(f"{left} of {len(self._steps)} steps were never asked for")


def _kept(reasoning: str) -> Reasoning:
    return Reasoning(reasoning, "reasoning_content") if reasoning else Reasoning()


def _spoken(reasoning: str, pieces: Iterable[str]) -> list[ModelDelta]:
    thoughts: list[ModelDelta] = [ReasoningDelta(reasoning)] if reasoning else []
    return [*thoughts, *(TextDelta(piece) for piece in pieces if piece)]
