"""The model of a scripted case: it plays the steps, checks what it was given, and fills in what results said.

A call whose script no longer fits is a failed case, not a fault: `problems` says what was missed.
"""

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from chatops_bot.app.evals.case import ScriptStep
from chatops_bot.context.fence import unfence
from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    Finished,
    FinishReason,
    Message,
    ModelDelta,
    ModelRequest,
    SystemMessage,
    TextDelta,
    ToolCallDelta,
    ToolMessage,
)

_REFERENCE = re.compile(r"\$([a-z_]+)")
OVER = "(the script has no further step)"


class CaseScript:
    """An `LLM` for one run of one case."""

    name = "scripted"

    def __init__(self, steps: Sequence[ScriptStep]) -> None:
        self.problems: list[str] = []
        self._steps = steps
        self._at = 0
        self._kept: dict[str, Any] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`. Raises no ModelError: past its end, the script says so and stops."""
        self._take(request.messages)
        if self._at >= len(self._steps):
            self.problems.append(f"call {self._at + 1} of a script with {len(self._steps)} steps")
            yield TextDelta(OVER)
            yield Finished(FinishReason.STOP)
            return
        step = self._steps[self._at]
        self._at += 1
        self._check(step, request)
        if step.say:
            yield TextDelta(str(self._filled(step.say)))
        index = 0
        for call in step.call:
            arguments = json.dumps(self._filled(call.arguments), ensure_ascii=False)
            yield ToolCallDelta(index, f"call_{self._at}_{index}", call.tool, arguments)
            index += 1
        for tool, arguments in step.raw.items():
            yield ToolCallDelta(index, f"call_{self._at}_{index}", tool, arguments)
            index += 1
        yield Finished(FinishReason.TOOL_CALLS if index else FinishReason.STOP)

    def left_over(self) -> list[str]:
        """What is wrong at the end: problems on the way, and steps that were never asked for."""
        left = len(self._steps) - self._at
        return [
            *self.problems,
            *([f"{left} of {len(self._steps)} steps were never asked for"] if left else []),
        ]

    def _check(self, step: ScriptStep, request: ModelRequest) -> None:
        newest = _newest(request.messages)
        self.problems += [
            f"step {self._at}: the newest message lacks {text!r}" for text in step.sees if text not in newest
        ]
        offered = {tool.name for tool in request.tools}
        missing = [name for name in step.offered if name not in offered]
        self.problems += [f"step {self._at}: {name} is not offered" for name in missing]

    def _take(self, messages: Sequence[Message]) -> None:
        """Keep what the results of the step before were asked for."""
        if self._at == 0:
            return
        results = _results_of_newest_calls(messages)
        for index, call in enumerate(self._steps[self._at - 1].call):
            text = results.get(f"call_{self._at}_{index}")
            for name, place in call.keep.items():
                try:
                    self._kept[name] = _at(json.loads(unfence(text or "")), place)
                except (ValueError, LookupError, TypeError):
                    self.problems.append(f"step {self._at}: {call.tool} returned nothing at {place}")

    def _filled(self, value: Any) -> Any:
        """`value` with each reference replaced: whole values keep their type, within text they become text."""
        if isinstance(value, Mapping):
            return {key: self._filled(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._filled(inner) for inner in value]
        if not isinstance(value, str):
            return value
        if (whole := _REFERENCE.fullmatch(value)) and whole[1] in self._kept:
            return self._kept[whole[1]]
        return _REFERENCE.sub(lambda found: str(self._kept.get(found[1], found[0])), value)


def _newest(messages: Sequence[Message]) -> str:
    """What a model would answer to: the newest message, or all results of its last calls."""
    texts: list[str] = []
    for message in reversed(messages):
        if isinstance(message, ContextMessage):
            continue
        if isinstance(message, ToolMessage):
            texts.append(message.text)
            continue
        if not texts and not isinstance(message, SystemMessage):
            texts.append(message.text)
        break
    return "\n".join(reversed(texts))


def _results_of_newest_calls(messages: Sequence[Message]) -> dict[str, str]:
    results: dict[str, str] = {}
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            results.setdefault(message.call_id, message.text)
        elif isinstance(message, AssistantMessage) and results:
            break
    return results


def _at(value: Any, place: str) -> Any:
    for part in place.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value
