"""What four providers refuse of a conversation, as strict as the strictest of their servers.

`refusals` gives a sentence for each broken rule. The messages of OpenAI's rules are those that the product's own wire writes.
Mistral's are those that it writes once that
provider has refused an order. Those of Anthropic and Gemini are made here as any bridge makes them: system text apart, a tool's result in a person's
message, neighbours of one role merged.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    Message,
    ModelRequest,
    RecordMessage,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from chatops_bot.llm.openai_request import encode

Json = dict[str, Any]


def refusals(messages: Sequence[Message], speaker: str = "m") -> list[str]:
    """What OpenAI, Mistral, Anthropic and Gemini would say against `messages`, which `speaker` is to answer."""
    return [
        *(f"openai: {each}" for each in _openai(messages, speaker)),
        *(f"mistral: {each}" for each in _mistral(messages, speaker)),
        *(f"anthropic: {each}" for each in _anthropic(messages, speaker)),
        *(f"gemini: {each}" for each in _gemini(messages, speaker)),
    ]


def _openai(messages: Sequence[Message], speaker: str) -> Iterator[str]:
    body = json.loads(
        encode(ModelRequest((SystemMessage("You are a bot."), *messages), ()), "m", speaker=speaker)
    )
    waiting: list[str] = []
    taken: set[str] = set()
    sent: list[Json] = body["messages"]
    for place, message in enumerate(sent):
        role, content = message["role"], message.get("content")
        if role == "tool":
            if not waiting or message["tool_call_id"] != waiting.pop(0):
                yield f"message {place} answers no call that waits, or out of order"
            if not content:
                yield f"message {place} is an empty result"
            continue
        if waiting:
            yield f"message {place} stands before the results of {waiting}"
            waiting = []
        calls = message.get("tool_calls", [])
        if "tool_calls" in message and not calls:
            yield f"message {place} has an empty list of calls"
        if not content and not calls:
            yield f"message {place} is empty"
        for call in calls:
            if call["id"] in taken or not call["id"]:
                yield f"the id {call['id']!r} stands for two calls, or for none"
            taken.add(call["id"])
            waiting.append(call["id"])
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                yield f"the arguments of {call['id']} are no object"
        foreign = {"reasoning_content", "reasoning"} & message.keys()
        if foreign and role != "assistant":
            yield f"message {place} carries reasoning of nobody"
    if waiting:
        yield f"the conversation ends before the results of {waiting}"
    if next((m["role"] for m in sent if m["role"] != "system"), "") != "user":
        yield "the first message is no person's"


_MAY_FOLLOW = {
    "": {"system", "user"},
    "system": {"user", "assistant"},
    "user": {"assistant"},
    "assistant": {"user", "tool"},
    "tool": {"assistant", "tool"},
}
"""The order that mistral-common checks, without two of a person in a row, which templates of Llama and Gemma refuse."""


def _mistral(messages: Sequence[Message], speaker: str) -> Iterator[str]:
    request = ModelRequest((SystemMessage("You are a bot."), *messages), ())
    sent: list[Json] = json.loads(encode(request, "m", speaker=speaker, takes_turns=True))["messages"]
    last = ""
    for place, message in enumerate(sent):
        if message["role"] not in _MAY_FOLLOW[last]:
            yield f"message {place}: unexpected role {message['role']!r} after role {last!r}"
        last = message["role"]


def _blocks(message: Message, speaker: str) -> tuple[str, list[Json]]:
    """Role and content blocks of one message, as Anthropic has them."""
    match message:
        case UserMessage(text, _) | RecordMessage(text) | ContextMessage(text) | SystemMessage(text):
            return "user", [{"type": "text", "text": text}]
        case ToolMessage(call_id, name, text):
            return "user", [{"type": "tool_result", "id": call_id, "name": name, "text": text}]
        case AssistantMessage():
            thought = message.reasoning.text or message.reasoning.opaque
            own = bool(thought) and message.model == speaker
            return "assistant", [
                *([{"type": "thinking", "text": thought}] if own else []),
                *([{"type": "text", "text": message.text}] if message.text.strip() else []),
                *(
                    {"type": "tool_use", "id": c.id, "name": c.name, "text": c.arguments}
                    for c in message.calls
                ),
            ]


def _merged(messages: Sequence[Message], speaker: str) -> list[tuple[str, list[Json]]]:
    pairs = [_blocks(message, speaker) for message in messages]
    return [
        (role, [block for _, blocks in group for block in blocks])
        for role, group in groupby(pairs, key=lambda pair: pair[0])
    ]


def _anthropic(messages: Sequence[Message], speaker: str) -> Iterator[str]:
    merged = _merged(messages, speaker)
    if not merged or merged[0][0] != "user":
        yield "the first message is no person's"
    waiting: list[str] = []
    for place, (role, blocks) in enumerate(merged):
        kinds = [block["type"] for block in blocks]
        if not blocks or any(not block["text"].strip() for block in blocks):
            yield f"message {place} has no content, or an empty block"
        if role == "user":
            results = [block["id"] for block in blocks if block["type"] == "tool_result"]
            if sorted(results) != sorted(waiting):
                yield f"message {place} answers {results} where {waiting} wait"
            if "tool_result" in kinds[len(results) :]:
                yield f"message {place} has a result behind a text"
            waiting = []
        else:
            waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
            if len(waiting) != len(set(waiting)):
                yield f"message {place} uses an id twice"
            if "thinking" in kinds and kinds.index("thinking") > 0:
                yield f"message {place} does not begin with its thinking"
            if waiting and kinds[-1] != "tool_use":
                yield f"message {place} goes on behind its calls"
    if waiting:
        yield f"the conversation ends before the results of {waiting}"


def _gemini(messages: Sequence[Message], speaker: str) -> Iterator[str]:
    merged = _merged(messages, speaker)
    if not merged or merged[0][0] != "user":
        yield "the first content is no person's"
    for place, (role, blocks) in enumerate(merged):
        called = [block["name"] for block in blocks if block["type"] == "tool_use"]
        if not called:
            continue
        answers = merged[place + 1][1] if place + 1 < len(merged) else []
        answered = [block["name"] for block in answers if block["type"] == "tool_result"]
        if called != answered:
            yield f"content {place} of the {role} calls {called}, and {answered} answer"
        for block in blocks:
            if block["type"] == "tool_use" and not isinstance(json.loads(block["text"]), dict):
                yield f"the arguments of {block['id']} are no object"
