"""One model call folded into one value: its text, its tool calls merged by index, how it finished and what it cost.

`text` is everything the model wrote and is what it gets back next time; `body` is what people see of it: without the
follow-up block, and without a call that was written as text.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from chatops_bot.agent.written_call import WrittenCallGuard
from chatops_bot.context.followups import FollowupSplitter
from chatops_bot.domain.followup import FollowUp
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    Reasoning,
    ReasoningDelta,
    TextDelta,
    TextEnded,
    ThoughtEnded,
    ToolCallDelta,
    Usage,
)
from chatops_bot.domain.tool import ToolCall


@dataclass(slots=True)
class _Pieces:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    opaque: str = ""


@dataclass(slots=True)
class Step:
    """What has come of one model call so far. `tools` are the names that were offered; `finish` is None until the stream
    ended properly."""

    tools: frozenset[str] = frozenset()
    texts: list[str] = field(default_factory=list)
    finish: FinishReason | None = None
    usage: Usage = field(default_factory=Usage)
    reasoning: Reasoning = field(default_factory=Reasoning)
    model: str = ""
    size: int = 0
    followups: tuple[FollowUp, ...] = ()
    _visible: list[str] = field(default_factory=list)
    _guard: WrittenCallGuard = field(init=False)
    _splitter: FollowupSplitter = field(default_factory=FollowupSplitter)
    _pieces: dict[int, _Pieces] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._guard = WrittenCallGuard(self.tools)

    def fold(self, delta: ModelDelta) -> str:
        """Take a delta in; returns the text that became visible by it."""
        if isinstance(delta, TextDelta):  # nearly all of them, and a `match` takes ten times as long
            text = delta.text
            self.texts.append(text)
            self.size += len(text)
            return self._show(self._splitter.feed(self._guard.feed(text)))
        if isinstance(delta, ToolCallDelta):
            self._add_piece(delta)
            return ""
        match delta:
            case ReasoningDelta(text):
                self.size += len(text)
            case ThoughtEnded():
                self.texts.clear()
                self._visible.clear()
                self._guard, self._splitter = WrittenCallGuard(self.tools), FollowupSplitter()
            case TextEnded():
                return self.close()
            case Finished(reason, usage, reasoning, model):
                self.finish, self.usage, self.reasoning, self.model = reason, usage, reasoning, model
            case _:
                pass  # a notice is shown, not remembered
        return ""

    def _add_piece(self, delta: ToolCallDelta) -> None:
        pieces = self._pieces.setdefault(delta.index, _Pieces())
        pieces.id = pieces.id or delta.id  # providers repeat id and name; the first one counts
        pieces.name = pieces.name or delta.name
        pieces.arguments.append(delta.arguments)
        pieces.opaque = delta.opaque or pieces.opaque
        self.size += len(delta.arguments) + len(delta.name)

    def close(self) -> str:
        """The text is over: returns the visible rest and settles `followups`. Text that comes all the same begins anew."""
        let_go = self._splitter.feed(self._guard.close())
        rest, followups = self._splitter.close()
        self._splitter = FollowupSplitter()
        self.followups = followups or self.followups
        return self._show(let_go + rest)

    def _show(self, text: str) -> str:
        self._visible.append(text)
        return text

    @property
    def wrote_call(self) -> bool:
        """Whether a tool call stood in the text."""
        return self._guard.caught

    @property
    def body(self) -> str:
        """Blank lines around it do not count; spaces in front do, since they may be those of an indented block."""
        return "".join(self._visible).strip("\r\n").rstrip()

    @property
    def empty(self) -> bool:
        """Whether people got nothing out of it."""
        return not self.body and not self.followups

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def calls(self, *, taken: set[str] | None, fresh: Callable[[], str]) -> tuple[ToolCall, ...]:
        """The merged calls in index order, each with an id that is not in `taken`; `taken` grows by them. None: all are taken.

        Some providers send no id, or the same one twice; `fresh()` makes one for those, unlike any other. One that came with neither
        name nor arguments is no call.
        """
        merged: list[ToolCall] = []
        for index in sorted(self._pieces):
            pieces = self._pieces[index]
            if not pieces.name and not any(pieces.arguments):
                continue
            is_free = taken is not None and pieces.id and pieces.id not in taken
            call_id = pieces.id if is_free else fresh()
            if taken is not None:
                taken.add(call_id)
            merged.append(ToolCall(call_id, pieces.name, "".join(pieces.arguments), pieces.opaque))
        return tuple(merged)


def json_error(arguments: str) -> str | None:
    """What keeps the arguments from being JSON, in the parser's words."""
    try:
        json.loads(arguments)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def is_cut(arguments: str) -> bool:
    """Whether the arguments stop inside a JSON object, as they do when a provider cuts a message without saying so."""
    if json_error(arguments) is None:
        return False
    depth, in_string, escaped = 0, False, False
    for char in arguments:
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth <= 0:
                return False
    return in_string or depth > 0
