"""What routing goes by, as the file `prompts/routing.yaml` says it: the kinds of requests, their cues, and the tools' ranks."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from chatops_bot.context.prompt_types import Names, Texts, Value

Change = Literal["create", "trigger", "pause", "resume", "retry", "delete"]
"""A change that a message can be understood to ask for."""


class Cues(Value):
    zh: Texts = ()
    en: Texts = ()

    def pattern(self) -> re.Pattern[str]:
        """Matches text that says one of them; the text is lower case. Without cues it matches nothing."""
        chinese = [_spelled(cue) for cue in self.zh]
        english = [rf"\b{_spelled(cue)}\b" for cue in self.en]
        return re.compile("|".join((*chinese, *english)) or r"(?!)")


def _spelled(cue: str) -> str:
    return (
        re.escape(cue.casefold()).replace(r"\*", r"\w*").replace(r"\.\.", ".{1,20}?").replace(r"\ ", r"\s+")
    )


class RequestKind(Value):
    """A kind of request: the tools it takes, and how it is recognised."""

    tools: Names
    cues: Cues = Field(default_factory=Cues)
    changes: Annotated[
        tuple[Change, ...], BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
    ] = ()


class ToolRank(Value):
    sort_hint: int = 0
    requires: Names = ()


class Routing(Value):
    """The whole file. Tools that it names and that are not connected are passed over."""

    core: Names
    kinds: Mapping[Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,32}$")], RequestKind]
    entities: Mapping[Literal["task", "run", "name", "code"], Names] = Field(default_factory=dict)
    """What is of use where a request names one of these (`entities`)."""
    tools: Mapping[str, ToolRank] = Field(default_factory=dict)
    """What the model reads of the tool that finds tools."""

    @model_validator(mode="after")
    def _changes_have_one_kind(self) -> Self:
        changes = [change for kind in self.kinds.values() for change in kind.changes]
        doubled: list[Any] = sorted({change for change in changes if changes.count(change) > 1})
        if doubled:
            raise ValueError(f"{', '.join(doubled)} is in two kinds; each change has one")
        return self
