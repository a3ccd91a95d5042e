"""The worked example that ends each shipped skill, and a model that plays it: the calls in order, with what earlier results said.

`keep: {run: instances.0.id}` remembers a value of a call's result under a name; `$run` stands for it further down.
"""

import json
import re
from collections.abc import AsyncGenerator
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from chatops_bot.context.fence import unfence
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
    ToolMessage,
)

_BLOCK = re.compile(r"^```yaml example\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(r"\$([a-z_]+)")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(_Strict):
    call: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")
    keep: dict[str, str] = Field(default_factory=dict)


class WantedProposal(_Strict):
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")


class Ends(_Strict):
    """With an answer whose `facts` all stand in results, or with a proposal that waits."""

    answer: str = ""
    facts: tuple[str, ...] = ()
    proposal: WantedProposal | None = None

    @model_validator(mode="after")
    def one_of_two(self) -> "Ends":
        if bool(self.answer) == (self.proposal is not None) or bool(self.answer) != bool(self.facts):
            raise ValueError("an example ends in an answer with its facts, or in a proposal")
        return self


class Example(_Strict):
    asked: str = Field(min_length=5)
    steps: tuple[Call, ...] = Field(min_length=1)
    ends: Ends


def example_in(body: str) -> Example:
    """The one example of a skill. Raises ValueError when there is none, or more than one, or it does not fit."""
    blocks = _BLOCK.findall(body)
    if len(blocks) != 1:
        raise ValueError(
            f"a skill has one block that begins with ```yaml example; this one has {len(blocks)}"
        )
    return Example.model_validate(yaml.safe_load(blocks[0]))


class ExamplePlayer:
    """Makes one call a step, then gives the answer. A reference to what no result held is a KeyError or IndexError."""

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
        """`value` with every reference replaced: whole values keep their type, within text they become text."""
        if isinstance(value, dict):
            return {key: self.filled(inner) for key, inner in value.items()}
        if not isinstance(value, str):
            return value
        if whole := _REFERENCE.fullmatch(value):
            return self._kept[whole[1]]
        return _REFERENCE.sub(lambda found: str(self._kept[found[1]]), value)

    def _take(self, message: object) -> None:
        assert isinstance(message, ToolMessage)
        result = json.loads(unfence(message.text))
        self.results.append(result)
        for name, path in self._example.steps[self._at - 1].keep.items():
            found: Any = result
            for part in path.split("."):
                found = found[int(part)] if part.isdigit() else found[part]
            self._kept[name] = found
