"""From the bytes of a stream to deltas: ours against readers that know one provider and nothing of what can go wrong."""

import json
from collections.abc import Callable
from functools import partial

import msgspec

from bench.answers import DELTAS, call_stream, stream
from bench.measuring import in_turns, table
from chatops_bot.llm.openai_errors import ProviderErrors
from chatops_bot.llm.openai_wire import AnswerParser


class _Function(msgspec.Struct):
    arguments: str = ""


class _Call(msgspec.Struct):
    function: _Function


class _Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Call] = []


class _Choice(msgspec.Struct):
    delta: _Delta


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


_DECODER = msgspec.json.Decoder(_Chunk)
_ERRORS = ProviderErrors("localhost", "bench")


def bare_json(pieces: list[bytes]) -> list[str]:
    """The textbook loop: lines of `data:`, `json.loads`, and what is needed of the dictionary."""
    found = []
    for piece in pieces:
        for line in piece.split(b"\n"):
            if line.startswith(b"data: {"):
                delta = json.loads(line[6:])["choices"][0]["delta"]
                found.append(delta.get("content") or "".join(
                    call["function"]["arguments"] for call in delta.get("tool_calls", ())
                ))  # fmt: skip
    return found


def bare_msgspec(pieces: list[bytes]) -> list[str]:
    """The same loop with typed decoding: the least that Python can do for these bytes."""
    found = []
    for piece in pieces:
        for line in piece.split(b"\n"):
            if line.startswith(b"data: {"):
                delta = _DECODER.decode(line[6:]).choices[0].delta
                found.append(delta.content or "".join(call.function.arguments for call in delta.tool_calls))
    return found


def ours(pieces: list[bytes]) -> list[object]:
    parser = AnswerParser(_ERRORS)
    found: list[object] = []
    for piece in pieces:
        found.extend(parser.feed(piece))
    found.extend(parser.close())
    return found


def report(rounds: int) -> str:
    tables = []
    for name, pieces in (("text", stream()), ("arguments of a call", call_stream())):
        contenders: dict[str, Callable[[], object]] = {
            "bare msgspec loop": partial(bare_msgspec, pieces),
            "bare json loop": partial(bare_json, pieces),
            "ours": partial(ours, pieces),
        }
        tables.append(table(f"bytes to deltas, {DELTAS:,} deltas of {name}", in_turns(contenders, rounds)))
    return "\n\n".join(tables)
