"""The answers of OpenAI-compatible chat completions, without any I/O.

An `AnswerParser` is fed an answer's bytes in pieces of any size and gives deltas; `close` says how the answer ended. An
answer is complete when the provider said so, by `[DONE]` or by a finish reason in every choice that it opened. Anything
else is broken off, whatever was parsed before, so a call that was cut can never look finished.

Which call a piece belongs to, `call_sorting` knows.
"""

import json
from typing import Any

import msgspec
from msgspec.structs import replace

from chatops_bot.domain.errors import ModelBroke, ModelError
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ReasoningDelta,
    TextDelta,
    TextEnded,
    ThoughtEnded,
    ToolCallDelta,
    Usage,
)
from chatops_bot.llm.call_sorting import CallPiece, CallSorter
from chatops_bot.llm.openai_chunk import UNREADABLE, Choice, Chunk, Part, Said, decode_chunk, word_in
from chatops_bot.llm.openai_errors import ProviderErrors
from chatops_bot.llm.reasoning import BLOCK_FIELDS, ReasoningMerger, StrayEnd, ThinkSplitter
from chatops_bot.llm.sse import EventSplitter
from chatops_bot.llm.surrogates import SurrogateMender

ANSWER_BYTES = 8 << 20
"""The most that one event, or one answer that is not streamed, may hold. A whole answer of a large model is below 1 MiB."""


_TRUNCATED = frozenset({"length", "max_tokens", "model_length"})
_BLOCKED = frozenset(
    {
        "content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist", "spii", "image_safety",
    }
)  # fmt: skip
_FAILED = frozenset({"error", "insufficient_system_resource"})
"""Finish reasons that say the provider gave up in the middle, as OpenRouter and DeepSeek do."""


class _Deltas:
    """The deltas of one read, in order. Pieces of text, or of one call, that came next to each other are one delta."""

    __slots__ = ("_arguments", "_begun", "_deltas", "_texts", "add_text")

    def __init__(self) -> None:
        self._deltas: list[ModelDelta] = []
        self._begun: ToolCallDelta | None = None
        self._arguments: list[str] = []
        self._texts: list[str] = []  # they came behind the call that is begun
        self.add_text = self._texts.append

    def add(self, delta: ModelDelta) -> None:
        self._join()
        self._deltas.append(delta)

    def add_piece(self, piece: ToolCallDelta) -> None:
        goes_on = self._begun is not None and self._begun.index == piece.index and not self._texts
        if not goes_on or piece.id or piece.name or piece.opaque:
            self._join()
            self._begun = piece
        self._arguments.append(piece.arguments)

    def taken(self) -> list[ModelDelta]:
        self._join()
        return self._deltas

    def _join(self) -> None:
        if self._begun is not None:
            self._deltas.append(replace(self._begun, arguments="".join(self._arguments)))
            self._begun = None
            self._arguments.clear()
        text = "".join(self._texts)
        self._texts.clear()
        if text:
            self._deltas.append(TextDelta(text))


class AnswerParser:
    """Turns the bytes of one answer into deltas. `errors` makes the errors, in the provider's name; `model` names the
    model in `Finished`; `thinks_first` is what the parser of the answer before said of itself by that name.

    `feed` never raises: what goes wrong ends the answer and is raised by `close`, so that the deltas before it are not lost.
    An answer that begins with a brace is one JSON document from a provider that does not stream.
    """

    def __init__(self, errors: ProviderErrors, model: str = "", *, thinks_first: str | None = "") -> None:
        self._errors = errors
        self._model = model
        self._events: EventSplitter | None = None
        self._document: bytearray | None = None
        self._is_silent = True
        self._calls = CallSorter()
        self._think = ThinkSplitter(thinks_first or "")
        self._stray = StrayEnd() if thinks_first is None else None
        self._thought_first = thinks_first
        self._mender = SurrogateMender()
        self._reasoning = ReasoningMerger()
        self._streamed = False
        self._expects_word = True  # as long as text comes: a word comes behind a word
        self._in_text = False
        self._text_ended = False
        self._wrote = False
        self._reasons: dict[int, str] = {}
        self._answered = False
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
        return self._answered

    @property
    def thinks_first(self) -> str | None:
        """The tag behind which the text begins, of a model that begins inside a thought without saying so; empty for one that does
        not; None while nobody knows. What one answer showed, the next is read by: an answer that only quotes such a tag cannot
        make another of a model that is known."""
        if self._stray is not None and self._stray.closing:
            return self._stray.closing
        if not self._wrote or self._think.raw:
            return self._thought_first
        return None if self._thought_first else ""

    def feed(self, data: bytes) -> list[ModelDelta]:
        """The deltas that `data` completes, in order, never a `Finished`."""
        deltas = _Deltas()
        if self.ended:
            return []
        try:
            self._take(self._events_in(data), deltas)
            if not self._done and self._held() > ANSWER_BYTES:
                raise self._errors.rubbish()
        except ModelError as failure:
            self._failure = failure
        return self._watched(deltas.taken())

    def close(self) -> list[ModelDelta]:
        """What the end of the answer completes; the last one is `Finished`. Raises the ModelError that it ended in."""
        if self._failure is not None:
            raise self._failure
        rest = _Deltas()
        if not self._done:
            try:
                self._take(self._last_events(), rest)
            except ModelBroke:
                if not self.answered:
                    raise
        self._end_text(rest)
        deltas = self._watched(rest.taken())
        return [*deltas, self._finished()]

    def _watched(self, deltas: list[ModelDelta]) -> list[ModelDelta]:
        """`deltas`, with the end of a thought that looked like text."""
        stray = self._stray
        if stray is None or self._think.raw:
            self._wrote = self._wrote or any(isinstance(delta, TextDelta) for delta in deltas)
            return deltas
        watched: list[ModelDelta] = []
        for delta in deltas:
            if isinstance(delta, TextDelta):
                self._wrote = True
                ended, text = stray.feed(delta.text)
                if ended:
                    watched.append(ThoughtEnded())
                if text:
                    watched.append(delta if text is delta.text else TextDelta(text))
                continue
            if isinstance(delta, TextEnded) and (rest := stray.close()):
                watched.append(TextDelta(rest))
            watched.append(delta)
        return watched

    def _events_in(self, data: bytes) -> list[bytes]:
        if self._events is None and self._document is None:
            data = data.lstrip(b"\xef\xbb\xbf \t\r\n")
            if not data:
                return []
            self._is_silent = data[:1] == b":"  # a comment, by which a busy server holds the connection
            if data[:1] == b"<":
                raise self._errors.web_page()
            if data[:1] in (b"{", b"["):
                self._document = bytearray()
            else:
                self._events = EventSplitter()
        if self._events is not None:
            return self._events.feed(data)
        if self._document is not None:
            self._document += data
        return []

    def _held(self) -> int:
        """Bytes held back for what is not complete."""
        return self._events.pending if self._events is not None else len(self._document or b"")

    def _last_events(self) -> list[bytes]:
        if self._document is not None:
            return [bytes(self._document)]
        return self._events.flush() if self._events is not None else []

    def _take(self, events: list[bytes], deltas: _Deltas) -> None:
        """Add what the events say, up to the one that ends the answer. Runs for every word of every answer."""
        self._is_silent = self._is_silent and not events
        for event in events:
            word = word_in(event) if self._expects_word else None
            if word is None:
                self._expects_word = False
                self._event(event, deltas)
                if self._done:
                    return
            elif self._in_text:
                deltas.add_text(word)
            else:
                self._begin_text(word, deltas)

    def _begin_text(self, word: str, deltas: _Deltas) -> None:
        """A word of the first choice while it may still be the beginning of a thought."""
        self._streamed = True
        if 0 not in self._reasons:
            self._reasons[0] = ""
            self._answered = False
        self._write(word, deltas)
        self._in_text = self._think.settled

    def _event(self, event: bytes, deltas: _Deltas) -> None:
        """Any other event."""
        try:
            chunk = decode_chunk(event)
        except UNREADABLE as error:
            event = event.strip()
            self._done = event == b"[DONE]"
            if self._done or not event:
                return
            chunk = self._lenient(event, error)
        if chunk.error or chunk.object == "error":
            raise self._errors.from_stream(chunk.error or json.loads(event))
        if chunk.choices is None and (chunk.message or chunk.detail):
            raise self._errors.from_stream(json.loads(event))
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        choices = chunk.choices or ()
        if len(choices) == 1:
            self._choice(choices[0].index or 0, choices[0], deltas)
        else:
            for place, choice in enumerate(choices):
                self._choice(place if choice.index is None else choice.index, choice, deltas)
        if self._answered and not self._text_ended:
            self._end_text(deltas)

    def _choice(self, number: int, choice: Choice, deltas: _Deltas) -> None:
        if choice.delta is not None:
            self._streamed = True
            self._said(number, choice.delta, deltas)
        elif choice.message is not None and not self._streamed:  # at a stream's end it would say all again
            self._said(number, choice.message, deltas)
        if choice.usage is not None:
            self._usage = _usage(choice.usage)
        if choice.finish_reason or number not in self._reasons:
            self._reasons[number] = (choice.finish_reason or "").lower()
            self._answered = all(self._reasons.values())

    def _lenient(self, event: bytes, error: Exception) -> Chunk:
        """A chunk as the standard library reads it, which takes NaN, with halves of characters put together and without the nulls
        that some gateways put into lists. Raises what `_unfinished` says for one that is no chunk all the same."""
        try:
            value = json.loads(self._mender.mend(event))
            return msgspec.convert(_without_nulls(value), Chunk, strict=False)
        except (ValueError, RecursionError):
            raise self._unfinished() from error

    def _unfinished(self) -> ModelError:
        """The error of an answer that ends before it is whole, or holds broken JSON: it broke off once the provider has spoken the
        protocol, and is rubbish before, unless it said nothing at all."""
        if self._is_silent:
            return self._errors.nothing()
        return self._errors.broke_off() if self._reasons else self._errors.rubbish()

    def _said(self, choice: int, said: Said, deltas: _Deltas) -> None:
        if said.reasoning_content is not None or said.reasoning is not None:
            self._reason(said, deltas)
        if said.reasoning_details is not None or said.thinking_blocks is not None:
            for name in BLOCK_FIELDS:
                blocks = getattr(said, name)
                if blocks is not None:
                    self._reasoning.add_blocks(name, blocks)
        if said.extra_content is not None:
            self._reasoning.add_whole("extra_content", said.extra_content)
        content = said.content
        if content:
            self._expects_word = True
            if not isinstance(content, str):
                content = _text_of(content, deltas)
            if self._think.settled and content:
                deltas.add_text(content)
            else:
                self._write(content, deltas)
        if said.refusal:
            self._write(said.refusal, deltas)
        pieces = said.tool_calls
        if said.function_call is not None and not pieces:
            pieces = [CallPiece(function=said.function_call)]
        for piece in pieces or ():
            delta = self._calls.place(choice, piece)
            if delta.id or delta.name or delta.arguments or delta.opaque:
                deltas.add_piece(delta)

    def _reason(self, said: Said, deltas: _Deltas) -> None:
        """The same thought may come under both names; it counts once."""
        name, thought = "reasoning_content", said.reasoning_content
        if not thought and isinstance(said.reasoning, str):
            name, thought = "reasoning", said.reasoning
        if thought is not None:
            self._reasoning.add_text(name, thought)
            if thought:
                deltas.add(ReasoningDelta(thought))

    def _write(self, content: str, deltas: _Deltas) -> None:
        if not self._think.settled:
            thought, content = self._think.feed(content)
            if thought:
                deltas.add(ReasoningDelta(thought))
        if content:
            deltas.add_text(content)

    def _end_text(self, deltas: _Deltas) -> None:
        """Let go of what was held back, and say once that no more comes."""
        thought, text = self._think.close()
        if thought:
            deltas.add(ReasoningDelta(thought))
        if text:
            deltas.add_text(text)
        if not self._text_ended:
            self._text_ended = True
            deltas.add(TextEnded())

    def _finished(self) -> Finished:
        reasons = frozenset(self._reasons.values())
        if reasons & _FAILED or not (self._done or self.answered):
            raise self._unfinished()
        if reasons & _BLOCKED:
            reason = FinishReason.BLOCKED
        elif reasons & _TRUNCATED:
            reason = FinishReason.TRUNCATED
        else:
            reason = FinishReason.TOOL_CALLS if self._calls.started else FinishReason.STOP
        return Finished(
            reason,
            self._usage,
            self._reasoning.merged(self._think.raw or (self._stray.raw if self._stray else "")),
            self._model,
        )


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(each) for each in value if each is not None]
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items()}
    return value


def _text_of(parts: list[Part], deltas: _Deltas) -> str:
    """The text of content in parts. Thoughts among them are told, but not kept: nobody is known to want them back."""
    for part in parts:
        if part.type == "thinking" and isinstance(part.thinking, list):
            thought = "".join(
                str(piece.get("text") or "") for piece in part.thinking if isinstance(piece, dict)
            )
            if thought:
                deltas.add(ReasoningDelta(thought))
    return "".join(part.text or "" for part in parts if part.type == "text")


def _usage(figures: object) -> Usage:
    """The figures that are there; a provider that writes them in another way costs us the figure, not the answer."""
    if not isinstance(figures, dict):
        return Usage()
    return Usage(
        prompt_tokens=_tokens(figures.get("prompt_tokens")),
        completion_tokens=_tokens(figures.get("completion_tokens")),
        cached_tokens=_tokens(_detail(figures, "prompt_tokens_details", "cached_tokens"))
        or _tokens(figures.get("prompt_cache_hit_tokens"))
        or _tokens(figures.get("cached_tokens")),
        reasoning_tokens=_tokens(_detail(figures, "completion_tokens_details", "reasoning_tokens")),
    )


def _detail(figures: dict[str, Any], group: str, name: str) -> object:
    details = figures.get(group)
    return details.get(name) if isinstance(details, dict) else None


def _tokens(figure: object) -> int:
    return int(figure) if isinstance(figure, (int, float)) and 0 < figure < 1e12 else 0
