"""The wire of OpenAI-compatible chat completions, both ways and without any I/O.

Out: `encode` makes the body of a streaming request. In: an `AnswerParser` is fed the answer's bytes in pieces of any size
and gives deltas; `close` says how the answer ended. An answer is complete when the provider said so, by `[DONE]` or by a
finish reason in every choice that it opened. Anything else is broken off, whatever was parsed before, so a call that was
cut can never look finished.

Providers disagree about how the pieces of a call are marked; `CallSorter` holds what we know about that. Ids are passed
on as they came, empty or double: making them unique is the business of whoever merges the deltas.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from chatops_bot.context.speakers import attributed
from chatops_bot.domain.errors import ModelBroke, ModelError
from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    Finished,
    FinishReason,
    Message,
    ModelDelta,
    ModelRequest,
    ReasoningDelta,
    RecordMessage,
    SystemMessage,
    TextDelta,
    ToolCallDelta,
    ToolDefinition,
    ToolMessage,
    Usage,
    UserMessage,
)
from chatops_bot.domain.tool import ToolCall
from chatops_bot.llm.openai_errors import ProviderErrors
from chatops_bot.llm.sse import EventSplitter

ContextRole = Literal["system", "developer", "user"]

NOTHING_RETURNED = "(the tool returned nothing)"
NOTHING_SAID = "(no text)"
"""Placeholders: several providers answer 400 to a message whose content is empty."""

ANSWER_BYTES = 8 << 20
"""The most that one event, or one answer that is not streamed, may hold. A whole answer of a large model is below 1 MiB."""


def encode(
    request: ModelRequest, model: str, *, context_role: ContextRole = "system", include_usage: bool = True
) -> bytes:
    """The body of a streaming chat completion, as UTF-8 JSON.

    The context message goes right behind the newest user message, so that what precedes it stays the same between calls
    and can be cached; `context_role` is its role, for providers that accept one system message only. Lone surrogates,
    which no provider accepts, become question marks.
    """
    body: dict[str, Any] = {"model": model, "stream": True}
    if include_usage:
        body["stream_options"] = {"include_usage": True}
    body["messages"] = [_message(message, context_role) for message in _in_order(request.messages)]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _in_order(messages: tuple[Message, ...]) -> list[Message]:
    """The messages with every context message moved behind the newest user message; without one they stay put."""
    users = [place for place, message in enumerate(messages) if isinstance(message, UserMessage)]
    if not users:
        return list(messages)
    context = [message for message in messages if isinstance(message, ContextMessage)]
    before = [message for message in messages[: users[-1] + 1] if not isinstance(message, ContextMessage)]
    after = [message for message in messages[users[-1] + 1 :] if not isinstance(message, ContextMessage)]
    return [*before, *context, *after]


def _message(message: Message, context_role: ContextRole) -> dict[str, Any]:
    match message:
        case SystemMessage(text):
            return {"role": "system", "content": text}
        case UserMessage(text, author):
            return {"role": "user", "content": attributed(text if text.strip() else NOTHING_SAID, author)}
        case RecordMessage(text):
            return {"role": "user", "content": text if text.strip() else NOTHING_SAID}
        case ContextMessage(text):
            return {"role": context_role, "content": text}
        case ToolMessage(call_id, _, text):
            content = text if text.strip() else NOTHING_RETURNED
            return {"role": "tool", "tool_call_id": call_id, "content": content}
        case AssistantMessage():
            return _assistant(message)


def _assistant(message: AssistantMessage) -> dict[str, Any]:
    content = message.text if message.text.strip() else None
    encoded: dict[str, Any] = {"role": "assistant", "content": content}
    if message.reasoning:
        encoded["reasoning_content"] = message.reasoning
    if message.calls:
        encoded["tool_calls"] = [_call(call) for call in message.calls]
    elif content is None:
        encoded["content"] = NOTHING_SAID
    return encoded


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": _replayed_arguments(call.arguments)},
    }


def _replayed_arguments(arguments: str | None) -> str:
    """Arguments as history may hold them: a JSON object, unchanged if it was one, since some providers parse it again."""
    if not arguments or not arguments.strip() or arguments.strip() == "null":
        return "{}"
    try:
        valid = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        valid = False
    return arguments if valid else json.dumps({"unreadable": arguments}, ensure_ascii=False)


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = None
    """Text by the protocol; some providers send the object itself."""


class _CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Part(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _Said(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    tool_calls: list[_CallPiece] | None = None


class _Choice(msgspec.Struct):
    index: int | None = None
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class _CachedTokens(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None
    prompt_cache_hit_tokens: int | None = None


class _Chunk(msgspec.Struct):
    """One chunk of a stream, or a whole answer: the two differ in `delta` and `message` only."""

    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None
    object: Any = None
    """`error` when the chunk itself is the error object."""


_CHUNK = msgspec.json.Decoder(_Chunk, strict=False)

_TRUNCATED = frozenset({"length", "max_tokens", "model_length"})
_BLOCKED = frozenset(
    {
        "content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist", "spii", "image_safety",
    }
)  # fmt: skip
_FAILED = frozenset({"error", "insufficient_system_resource"})
"""Finish reasons that say the provider gave up in the middle, as OpenRouter and DeepSeek do."""


@dataclass(slots=True)
class _OpenCall:
    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        try:
            json.loads("".join(self.arguments))
        except (ValueError, RecursionError):
            return False
        return True


class CallSorter:
    """Decides which call a piece belongs to, and numbers the calls of an answer in the order in which they begin.

    With an index, a piece belongs to the call of that index in its choice, unless it brings another id and a name too:
    some providers give every call the index 0, others give every piece a new id, but no name. A bare piece whose index is
    unknown goes on with the newest call.

    Without an index, a piece belongs to the call with its id, or to the newest call if it has no id either. It begins a
    call when there is none, when it names another tool, or when it names the tool again and brings arguments although
    those of that call are complete.
    """

    def __init__(self) -> None:
        self.started = 0
        self._by_index: dict[tuple[int, int], _OpenCall] = {}
        self._by_id: dict[tuple[int, str], _OpenCall] = {}
        self._newest: dict[int, _OpenCall] = {}

    def place(self, choice: int, piece: _CallPiece) -> ToolCallDelta:
        """The piece as a delta with a distinct index; id and name are given once, when they first come."""
        function = piece.function or _Function()
        identity, name = piece.id or "", function.name or ""
        arguments = _text_of_arguments(function.arguments)
        if piece.index is not None:
            call = self._by_index.get((choice, piece.index))
            if call is None and not identity and not name:
                call = self._newest.get(choice)
            begins = call is not None and bool(identity and name and call.id and call.id != identity)
        else:
            call = self._by_id.get((choice, identity)) if identity else self._newest.get(choice)
            begins = call is not None and bool(name) and _named_anew(call, name, arguments)
        if call is None or begins:
            call = _OpenCall(self.started)
            self.started += 1
        if piece.index is not None:
            self._by_index[choice, piece.index] = call
        if identity:
            self._by_id[choice, identity] = call
        self._newest[choice] = call
        delta = ToolCallDelta(call.index, "" if call.id else identity, "" if call.name else name, arguments)
        call.id, call.name = call.id or identity, call.name or name
        call.arguments.append(arguments)
        return delta


def _named_anew(call: _OpenCall, name: str, arguments: str) -> bool:
    return bool(call.name) and (name != call.name or (bool(arguments) and call.complete))


def _text_of_arguments(arguments: Any) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


class AnswerParser:
    """Turns the bytes of one answer into deltas. `errors` makes the errors, in the provider's name.

    `feed` never raises: what goes wrong ends the answer and is raised by `close`, so that the deltas before it are not lost.
    An answer that begins with a brace is one JSON document from a provider that does not stream.
    """

    def __init__(self, errors: ProviderErrors) -> None:
        self._errors = errors
        self._events: EventSplitter | None = None
        self._document: bytearray | None = None
        self._calls = CallSorter()
        self._reasons: dict[int, str] = {}
        self._usage = Usage()
        self._done = False
        self._failure: ModelError | None = None

    @property
    def ended(self) -> bool:
        """Nothing that may still come matters: `close` can say how it ended."""
        return self._done or self._failure is not None

    @property
    def answered(self) -> bool:
        """Every choice has its finish reason; only the usage may be missing."""
        return bool(self._reasons) and all(self._reasons.values())

    def feed(self, data: bytes) -> list[ModelDelta]:
        """The deltas that `data` completes, in order, never a `Finished`."""
        deltas: list[ModelDelta] = []
        if self.ended:
            return deltas
        try:
            for event in self._events_in(data):
                if self._done:
                    break
                deltas.extend(self._deltas_of(event))
        except ModelError as failure:
            self._failure = failure
        return deltas

    def close(self) -> list[ModelDelta]:
        """What the end of the answer completes; the last one is `Finished`. Raises the ModelError that it ended in."""
        if self._failure is not None:
            raise self._failure
        rest: list[ModelDelta] = []
        if not self._done:
            try:
                for event in self._last_events():
                    rest.extend(self._deltas_of(event))
            except ModelBroke:
                if not self.answered:
                    raise
        return [*rest, self._finished()]

    def _events_in(self, data: bytes) -> Iterator[bytes]:
        if self._events is None and self._document is None:
            data = data.lstrip(b"\xef\xbb\xbf \t\r\n")
            if not data:
                return
            if data[:1] == b"<":
                raise self._errors.web_page()
            if data[:1] in (b"{", b"["):
                self._document = bytearray()
            else:
                self._events = EventSplitter()
        if self._events is not None:
            yield from self._events.feed(data)
            held = self._events.pending
        elif self._document is not None:
            self._document += data
            held = len(self._document)
        if held > ANSWER_BYTES:
            raise self._errors.rubbish()

    def _last_events(self) -> Iterator[bytes]:
        if self._document is not None:
            yield bytes(self._document)
        elif self._events is not None:
            yield from self._events.flush()

    def _deltas_of(self, event: bytes) -> list[ModelDelta]:
        event = event.strip()
        if not event:
            return []
        if event == b"[DONE]":
            self._done = True
            return []
        try:
            chunk = _CHUNK.decode(event)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._undecodable() from error
        if chunk.error or chunk.object == "error":
            raise self._errors.from_stream(chunk.error or msgspec.json.decode(event))
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        deltas: list[ModelDelta] = []
        for place, choice in enumerate(chunk.choices or ()):
            number = place if choice.index is None else choice.index
            said = choice.delta or choice.message
            if said is not None:
                deltas.extend(self._said(number, said))
            self._reasons[number] = (choice.finish_reason or self._reasons.get(number, "")).lower()
        return deltas

    def _undecodable(self) -> ModelError:
        """Broken JSON is a broken-off answer once the provider has spoken the protocol, and rubbish before."""
        return self._errors.broke_off() if self._reasons else self._errors.rubbish()

    def _said(self, choice: int, said: _Said) -> Iterator[ModelDelta]:
        reasoning = said.reasoning_content or said.reasoning
        if reasoning and isinstance(reasoning, str):
            yield ReasoningDelta(reasoning)
        for text in (_text_of(said.content), said.refusal):
            if text:
                yield TextDelta(text)
        for piece in said.tool_calls or ():
            delta = self._calls.place(choice, piece)
            if delta.id or delta.name or delta.arguments:
                yield delta

    def _finished(self) -> Finished:
        reasons = frozenset(self._reasons.values())
        if reasons & _FAILED or not (self._done or self.answered):
            raise self._errors.broke_off() if self._reasons else self._errors.rubbish()
        if reasons & _BLOCKED:
            return Finished(FinishReason.BLOCKED, self._usage)
        if reasons & _TRUNCATED:
            return Finished(FinishReason.TRUNCATED, self._usage)
        return Finished(FinishReason.TOOL_CALLS if self._calls.started else FinishReason.STOP, self._usage)


def _text_of(content: str | list[_Part] | None) -> str:
    if isinstance(content, list):
        return "".join(part.text or "" for part in content if part.type == "text")
    return content or ""


def _usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details or _CachedTokens()
    return Usage(
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        cached_tokens=details.cached_tokens or usage.prompt_cache_hit_tokens or 0,
    )
