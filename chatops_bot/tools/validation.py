"""Arguments that are not valid JSON or do not fit the schema never run: the model gets field and reason."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import ArgumentWrong, Told, ToolArgumentsInvalid, ToolFailed, Words
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.tool import ARGUMENT_CHARS, ToolResult
from chatops_bot.tools.argument_problems import problem_of
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation
from chatops_bot.tools.registry import Registry

_MISSED = Phrase("尚未提供，未执行", "not on offer yet, not run")
_MISFIT = Phrase("存储的参数不再符合工具的要求。", "The stored arguments no longer fit the tool.")


def found_in(registry: Registry, words: Words, inner: Handler) -> Handler:
    """Look the tool up by its name; an unknown one gets the list of valid names. Nothing runs that was not on offer: what the
    agent may use is offered from the next step on, and the model told to call it again."""

    async def find(invocation: Invocation) -> Dispatched:
        toolbox, name = invocation.memory.toolbox, invocation.call.name
        if toolbox is not None and toolbox.is_missed(name):
            content = {"error": words(Told("missed"), invocation.language), "offered": [name]}
            return Dispatched(ToolResult("not_run", content, _MISSED, offers=(name,)), "invalid")
        return await inner(invocation.of((toolbox or registry).find(name)))

    return find


def validated(inner: Handler) -> Handler:
    """Parse the arguments and check them against the tool's model."""

    async def validate(invocation: Invocation) -> Dispatched:
        arguments = parse_arguments(invocation.call.arguments, invocation.tool.spec.arguments)
        return await inner(invocation.of(invocation.tool, arguments))

    return validate


def parse_arguments(text: str, model: type[BaseModel]) -> BaseModel:
    """The arguments as an instance of `model`; no text at all means no arguments. Raises ToolArgumentsInvalid."""
    value = parse_object(text)
    try:
        return _fitted(value, model)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {_in_english(e)}" for e in error.errors()
        )
        said = "；".join(
            f"{'.'.join(map(str, e['loc'])) or '参数'}：{_in_chinese(e)}" for e in error.errors()
        )
        raise ToolArgumentsInvalid(
            Phrase(
                f"参数不符合要求，没有执行：{said}。",
                f"The arguments do not fit, so nothing ran: {problems}.",
            )
        ) from error


def _in_english(error: ErrorDetails) -> str:
    """pydantic's own words, which tell a model more than people need."""
    own = error.get("ctx", {}).get("error")
    said = own.phrase.en.rstrip(".") if isinstance(own, ArgumentWrong) else error["msg"]
    return f"{said[0].lower()}{said[1:]}"


def _in_chinese(error: ErrorDetails) -> str:
    """As people are told; a model, which sees no list to choose from, is told what stands on it."""
    expected = error.get("ctx", {}).get("expected")
    if error["type"] in ("literal_error", "enum") and isinstance(expected, str):
        return f"只能是 {expected.replace(' or ', ' 或 ').replace(', ', '、')}"
    return problem_of(error).zh.rstrip("。.")


def stored_arguments(stored: Mapping[str, Any], model: type[BaseModel]) -> BaseModel:
    """Arguments that were validated once and stored, as an instance of `model` as it is today. Raises ToolFailed."""
    try:
        return model.model_validate(dict(stored))
    except ValidationError as error:
        raise ToolFailed(_MISFIT) from error


def _fitted(value: dict[str, Any], model: type[BaseModel]) -> BaseModel:
    """The instance, after at most one repair of what models get wrong and what can only be meant in one way."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        repairs = [(e["loc"], _repaired(e["type"], e["input"])) for e in error.errors()]
        if not all(repaired is not None and len(place) == 1 for place, repaired in repairs):
            raise
        return model.model_validate(value | {str(place[0]): repaired for place, repaired in repairs})


def _repaired(problem: str, value: object) -> object:
    """What may fit where a list or object came as its JSON text, or one text where a list is wanted; None for anything else."""
    if not isinstance(value, str) or problem not in ("list_type", "dict_type", "model_type"):
        return None
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = None
    if problem == "list_type":
        return parsed if isinstance(parsed, list) else [value]
    return parsed


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object that `text` spells; blank text and `null` are the empty object. Raises ToolArgumentsInvalid."""
    if not text.strip():
        return {}
    if len(text) > ARGUMENT_CHARS:
        raise ToolArgumentsInvalid(
            Phrase("参数过长，未执行。", "The arguments are too long, so nothing ran."),
            told=Told("too_long", {"most": ARGUMENT_CHARS}),
        )
    try:
        value = json.loads(text)
        if not text.isascii() or "\\u" in text:
            canonical_json(value).encode()  # a lone surrogate is legal JSON and no text
    except (ValueError, RecursionError) as error:
        raise ToolArgumentsInvalid(
            Phrase("参数不完整，未执行。", "The arguments could not be read, so nothing ran."),
            told=Told("not_json", {"problem": error}),
        ) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ToolArgumentsInvalid(
            Phrase("参数必须是 JSON 对象，没有执行。", "The arguments must be a JSON object, so nothing ran.")
        )
    return value
