"""The chunks of an OpenAI-compatible stream, as far as anything in them is looked at; all else in the JSON is skipped.

Nearly every chunk of nearly every answer is a *word*: a piece of text, with every other field that we know of absent or null.
Such a chunk is known by its shape while it is decoded, so that nothing else has to be asked of it. This runs for every
word of every answer.
"""

from collections.abc import Callable
from types import GenericAlias
from typing import Any, Literal

import msgspec

from chatops_bot.llm.call_sorting import CallPiece, Function


class Part(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: Any = None


class Said(msgspec.Struct, gc=False):
    content: str | list[Part] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    reasoning_details: Any = None
    thinking_blocks: Any = None
    extra_content: Any = None
    tool_calls: list[CallPiece] | None = None
    function_call: Function | None = None
    """The protocol before `tool_calls`: one call, without id."""


class Choice(msgspec.Struct, gc=False):
    index: int | None = None
    delta: Said | None = None
    message: Said | None = None
    finish_reason: str | None = None
    usage: Any = None
    """Moonshot puts the usage here."""


class Chunk(msgspec.Struct, gc=False):
    """One chunk of a stream, or a whole answer: the two differ in `delta` and `message` only."""

    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    object: Any = None
    """`error` when the chunk itself is the error object."""
    message: Any = None
    detail: Any = None
    """Of an error that stands under no key, as gateways write it; a chunk of an answer has none."""


UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises."""

decode_chunk: Callable[[bytes], Chunk] = msgspec.json.Decoder(Chunk, strict=False).decode
"""The data of an event as a chunk; what is nearly of the right type counts as that. Raises one of `UNREADABLE`."""


def _only(shape: type[msgspec.Struct], **told: Any) -> Any:
    """A narrower `shape`: it holds what is `told`, each of the type given, and every other field is null or absent."""
    others = [(name, None, None) for name in shape.__struct_fields__ if name not in told]
    return msgspec.defstruct(f"Word{shape.__name__}", [*told.items(), *others], gc=False)


_CHOICE = _only(Choice, delta=_only(Said, content=str), index=Literal[0])
_WORD = _only(Chunk, choices=GenericAlias(tuple, _CHOICE), object=Literal["chat.completion.chunk"])
_decode_word = msgspec.json.Decoder(_WORD).decode


def word_in(event: bytes) -> str | None:
    """The text of a chunk of the first choice that is a word and nothing else; None for any other data."""
    try:
        word: str = _decode_word(event).choices[0].delta.content
    except UNREADABLE:
        return None
    return word
