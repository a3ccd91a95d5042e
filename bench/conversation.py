"""A fixed conversation over two tools: three rounds of text and calls, then an answer. What a model would stream, as bytes."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bench.answers import texts

TOOL_ROUNDS = 3
TOOL_ROUND_TEXTS = 40
LAST_TEXTS = 400
CHUNKS = TOOL_ROUNDS * TOOL_ROUND_TEXTS + LAST_TEXTS

SYSTEM = "You are an on-call assistant in a chat channel. Call the tools when a question needs numbers. " * 5


async def error_rate(service: str, minutes: int) -> str:
    return f"{service} {minutes} 0.02"


async def total(first: int, second: int) -> str:
    return str(first + second)


FUNCTIONS: dict[str, Callable[..., Awaitable[str]]] = {"error_rate": error_rate, "total": total}


def _schema(name: str, description: str, **arguments: str) -> dict[str, Any]:
    properties = {each: {"type": kind, "description": f"The {each}."} for each, kind in arguments.items()}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


SCHEMAS: list[Mapping[str, Any]] = [
    _schema("error_rate", "Read the error rate of a service.", service="string", minutes="integer"),
    _schema("total", "Add two numbers.", first="integer", second="integer"),
]


def calls(turn: int) -> list[tuple[str, str, str]]:
    """Id, name and arguments of each call of a round; none in the last one."""
    if turn >= TOOL_ROUNDS:
        return []
    return [
        (f"call_{turn}_0", "error_rate", json.dumps({"service": f"checkout-{turn}", "minutes": 5})),
        (f"call_{turn}_1", "total", json.dumps({"first": turn, "second": 41})),
    ]


def said(turn: int) -> list[str]:
    """The pieces of text of a round. The last ends its line, as an answer does."""
    return texts()[turn : turn + (TOOL_ROUND_TEXTS if turn < TOOL_ROUNDS else LAST_TEXTS)]


def events(turn: int) -> list[bytes]:
    """The stream of a round, an event each."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text} for text in said(turn)]
    for index, (call, name, arguments) in enumerate(calls(turn)):
        begun = {"index": index, "id": call, "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [begun]})
        middle = len(arguments) // 2
        for piece in (arguments[:middle], arguments[middle:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    finish = "tool_calls" if calls(turn) else "stop"
    usage = {"prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1100}
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks += [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": usage},
    ]
    frame = {"id": "chatcmpl-9f2c", "object": "chat.completion.chunk", "created": 1772461920, "model": "m"}
    return [b"data: " + json.dumps(frame | chunk).encode() + b"\n\n" for chunk in chunks] + [
        b"data: [DONE]\n\n"
    ]


def whole_text() -> str:
    """All text of the conversation, round after round."""
    return "".join("".join(said(turn)) for turn in range(TOOL_ROUNDS + 1))
