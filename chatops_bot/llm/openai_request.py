"""The body of a streaming request for OpenAI-compatible chat completions.

It holds what every provider takes and nothing that some refuse: no temperature, no limit of tokens, and of tools
at most the choice of none. What a model said goes back as it came; its reasoning, and what else is opaque, to that same model only.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from chatops_bot.context.speakers import attributed
from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    Message,
    ModelRequest,
    RecordMessage,
    SystemMessage,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from chatops_bot.domain.tool import ToolCall, call_id_of

NOTHING = "…"
"""Stands for no text, in any language: several providers answer 400 to a message whose content is empty."""


def encode(
    request: ModelRequest,
    model: str,
    *,
    speaker: str = "",
    include_usage: bool = True,
    can_forbid: bool = True,
    takes_turns: bool = False,
) -> bytes:
    """The body of a streaming chat completion, as UTF-8 JSON.

    `speaker` is the full name under which this model's messages are remembered. The context message goes right behind the
    newest user message, so that what precedes it stays the same between calls and can be cached. `can_forbid`: the provider
    knows the choice of no tool. `takes_turns`: see `_in_turns`. Lone surrogates, which no provider accepts, become question marks.
    """
    body: dict[str, Any] = {"model": model, "stream": True}
    if include_usage:
        body["stream_options"] = {"include_usage": True}
    own_ids = _OwnIds(speaker)
    messages = _in_turns(request.messages) if takes_turns else _in_order(request.messages)
    body["messages"] = [_message(message, speaker, own_ids) for message in messages]
    if request.tools:
        body["tools"] = _tools(request.tools)
        if can_forbid and not request.may_call:
            body["tool_choice"] = "none"
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # a lone surrogate, which msgspec refuses to write
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _in_order(messages: tuple[Message, ...]) -> list[Message]:
    """The messages with every context message moved behind the newest user message; without one they stay put."""
    context = [message for message in messages if isinstance(message, ContextMessage)]
    users = [place for place, message in enumerate(messages) if isinstance(message, UserMessage)]
    if not context or not users:
        return list(messages)
    before = [message for message in messages[: users[-1] + 1] if not isinstance(message, ContextMessage)]
    after = [message for message in messages[users[-1] + 1 :] if not isinstance(message, ContextMessage)]
    return [*before, *context, *after]


class _OwnIds:
    """Ids of calls as the model that is asked takes them: its own as they came, those of other models in the form of which no
    provider is known that refuses it. Mistral takes nine letters and digits and nothing else, OpenAI at most 40 characters,
    and each sends longer ones or others of its own.
    """

    def __init__(self, speaker: str) -> None:
        self._speaker = speaker
        self._foreign: dict[str, str] = {}

    def called(self, message: AssistantMessage) -> None:
        if message.model and message.model != self._speaker:
            for call in message.calls:
                self._foreign[call.id] = call_id_of(call.id)

    def __getitem__(self, call_id: str) -> str:
        return self._foreign.get(call_id, call_id)


def _in_turns(messages: Iterable[Message]) -> list[Message]:
    """The messages for a provider, or the template of a model, that takes system text at the very front only, and person and
    model in turns, the model behind a result (mistral-common; templates of Llama and Gemma).

    Rules and context become one text. What the loop says later, it says as nobody. Messages of people are never joined, since
    the first line of each says whose it is; an empty word of the model stands between them.
    """
    rules: list[str] = []
    turns: list[Message] = []
    for message in messages:
        match message:
            case ContextMessage(text):
                rules.append(text)
                continue
            case SystemMessage(text) if not turns:
                rules.append(text)
                continue
            case SystemMessage(text):
                message = RecordMessage(text)
        from_outside = not isinstance(message, AssistantMessage | ToolMessage)
        if from_outside and turns and not isinstance(turns[-1], AssistantMessage):
            turns.append(AssistantMessage(""))
        turns.append(message)
    return [SystemMessage("\n\n".join(rules)), *turns] if rules else turns


def _message(message: Message, speaker: str, own_ids: _OwnIds) -> dict[str, Any]:
    text = message.text
    match message:  # most frequent kinds first: each call sends the whole conversation
        case ToolMessage():
            content = text if text.strip() else NOTHING
            return {"role": "tool", "tool_call_id": own_ids[message.call_id], "content": content}
        case AssistantMessage():
            own_ids.called(message)
            return _assistant(message, own_ids, own=bool(speaker) and message.model == speaker)
        case UserMessage():
            return {
                "role": "user",
                "content": attributed(text if text.strip() else NOTHING, message.author),
            }
        case RecordMessage():
            return {"role": "user", "content": text if text.strip() else NOTHING}
        case SystemMessage() | ContextMessage():
            return {"role": "system", "content": text}


def _assistant(message: AssistantMessage, own_ids: _OwnIds, *, own: bool) -> dict[str, Any]:
    encoded: dict[str, Any] = {"role": "assistant"}
    content = message.text
    if own:
        reasoning = message.reasoning
        encoded.update(_fields_in(reasoning.opaque))
        if reasoning.field == "content":
            content = reasoning.text + content
        elif reasoning.field:
            encoded[reasoning.field] = reasoning.text
    encoded["content"] = content if content.strip() else None
    if message.calls:
        encoded["tool_calls"] = [_call(call, own_ids, own=own) for call in message.calls]
    elif encoded["content"] is None:
        encoded["content"] = NOTHING
    return encoded


def _call(call: ToolCall, own_ids: _OwnIds, *, own: bool) -> dict[str, Any]:
    """Arguments are a JSON object by now: `context.history` sees to that for every model."""
    function = {"name": call.name, "arguments": call.arguments}
    return {
        **(_fields_in(call.opaque) if own else {}),
        "id": own_ids[call.id],
        "type": "function",
        "function": function,
    }


def _fields_in(opaque: str) -> dict[str, Any]:
    return dict(json.loads(opaque)) if opaque else {}


@lru_cache(maxsize=16)
def _tools(tools: tuple[ToolDefinition, ...]) -> msgspec.Raw:
    """The same tools travel with every call, so they are spelled once."""
    return msgspec.Raw(msgspec.json.encode([_tool(tool) for tool in tools]))


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": _whole(tool.parameters)}
    return {"type": "function", "function": function}


def _whole(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of arguments as strict providers want it: an object with properties, each of them a schema, not `true`."""
    properties = {name: _subschema(value) for name, value in (schema.get("properties") or {}).items()}
    return {**schema, "type": "object", "properties": properties}


def _subschema(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return {}
    if isinstance(schema.get("properties"), Mapping):
        schema = _whole(schema)
    return {**schema, "items": _subschema(schema["items"])} if "items" in schema else dict(schema)
