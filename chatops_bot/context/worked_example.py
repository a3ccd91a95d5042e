"""The worked example that may end a skill: what was asked, the calls in order, and the answer or the proposal at the end.

`keep: {run: instances.0.id}` remembers a value of a call's result under a name; `$run` stands for it further down.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from chatops_bot.context.skill_yaml import FrontMatterBroken, refuse_what_no_skill_needs

_BLOCK = re.compile(r"^```yaml example\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_BEGINS = re.compile(r"^```yaml example[ \t]*$", re.MULTILINE)
_REFERENCE = re.compile(r"\$([a-z_]+)")
_BYTES = 8 * 1024
"""Longest example: five times that of the longest that ships; the parser reads 100 KB a second."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Step(_Strict):
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
    steps: tuple[Step, ...] = Field(min_length=1)
    ends: Ends


def example_in(body: str) -> Example:
    """The one example of a skill. Raises ValueError when there is none, or more than one, or it does not fit."""
    blocks = _BLOCK.findall(body)
    if len(blocks) != 1:
        raise ValueError(
            f"a skill has one block that begins with ```yaml example; this one has {len(blocks)}"
        )
    if len(blocks[0].encode()) > _BYTES:
        raise ValueError(f"an example has at most {_BYTES} bytes")
    try:
        refuse_what_no_skill_needs(blocks[0])
        written = yaml.safe_load(blocks[0])
        json.dumps(written, allow_nan=False)  # YAML knows dates and infinity, which no call can carry
        return Example.model_validate(written)
    except (yaml.YAMLError, FrontMatterBroken, OverflowError, TypeError) as error:
        raise ValueError(f"the example is no YAML that can be read: {error}") from error


def why_unreadable(body: str) -> str:
    """What is wrong with the example of a skill, with the line of its text on which it begins; empty where it can be read or there is none."""
    begins = _BEGINS.search(body)
    if begins is None:
        return ""
    try:
        example_in(body)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}" for each in error.errors()[:3]
        )
    except ValueError as error:
        wrong = str(error)
    else:
        return ""
    return f"line {body.count(chr(10), 0, begins.start()) + 1}: {wrong}"


def references(value: Any) -> frozenset[str]:
    """The names that stand in `value` for what an earlier step keeps."""
    if isinstance(value, dict):
        return frozenset[str]().union(*map(references, value.values()))
    return frozenset(_REFERENCE.findall(value)) if isinstance(value, str) else frozenset()


def filled(value: Any, kept: Mapping[str, Any]) -> Any:
    """`value` with every reference replaced: whole values keep their type, within text they become text. Raises KeyError."""
    if isinstance(value, dict):
        return {key: filled(inner, kept) for key, inner in value.items()}
    if not isinstance(value, str):
        return value
    if whole := _REFERENCE.fullmatch(value):
        return kept[whole[1]]
    return _REFERENCE.sub(lambda found: str(kept[found[1]]), value)


def kept_of(step: Step, result: Any) -> dict[str, Any]:
    """What `step` keeps of its result, by name; what the result has not is left out."""
    kept = {}
    for name, path in step.keep.items():
        found: Any = result
        try:
            for part in path.split("."):
                is_place = (
                    part.isascii() and part.isdecimal()
                )  # "²" is a digit, and no number that can be read
                found = found[int(part)] if is_place else found[part]
        except (LookupError, TypeError, ValueError):
            continue
        kept[name] = found
    return kept
