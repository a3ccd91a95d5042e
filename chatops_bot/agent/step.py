"""One model call folded into one value: its text, its reasoning, its tool calls merged by index, how it finished.

`text` is everything the model wrote and is what it gets back next time; `body` is what people see of it: without the
follow-up block.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from chatops_bot.context.followups import FollowupSplitter
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from chatops_bot.domain.tool import ToolCall


@dataclass(slots=True)
class _Pieces:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Step:
    """What has come of one model call so far. `finish` is None until the stream ended properly."""

    texts: list[str] = field(default_factory=list)
    reasonings: list[str] = field(default_factory=list)
    finish: FinishReason | None = None
    usage: Usage = field(default_factory=Usage)
    followups: tuple[str, ...] = ()
    _visible: list[str] = field(default_factory=list)
    _splitter: FollowupSplitter = field(default_factory=FollowupSplitter)
    _pieces: dict[int, _Pieces] = field(default_factory=dict)

    def fold(self, delta: ModelDelta) -> str:
        """Take a delta in; returns the text that became visible by it."""
        match delta:
            case TextDelta(text):
                self.texts.append(text)
                return self._show(self._splitter.feed(text))
            case ReasoningDelta(text):
                self.reasonings.append(text)
            case ToolCallDelta():
                pieces = self._pieces.setdefault(delta.index, _Pieces())
                pieces.id = pieces.id or delta.id  # providers repeat id and name; the first one counts
                pieces.name = pieces.name or delta.name
                pieces.arguments.append(delta.arguments)
            case Finished(reason, usage):
                self.finish, self.usage = reason, usage
            case _:
                pass  # a notice is shown, not remembered
        return ""

    def close(self) -> str:
        """The stream is over: returns the visible rest and settles `followups`."""
        rest, self.followups = self._splitter.close()
        return self._show(rest)

    def _show(self, text: str) -> str:
        self._visible.append(text)
        return text

    @property
    def body(self) -> str:
        """Blank lines around it do not count; spaces in front do, since they may be those of an indented block."""
        return "".join(self._visible).strip("\r\n").rstrip()

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        return "".join(self.reasonings)

    def calls(self, *, taken: set[str], fresh: Callable[[], str]) -> tuple[ToolCall, ...]:
        """The merged calls in index order, each with an id that is not in `taken`; `taken` grows by them.

        Some providers send no id, or the same one twice; `fresh()` makes one for those, unlike any other.
        """
        merged: list[ToolCall] = []
        for index in sorted(self._pieces):
            pieces = self._pieces[index]
            call_id = pieces.id if pieces.id and pieces.id not in taken else fresh()
            taken.add(call_id)
            merged.append(ToolCall(call_id, pieces.name, "".join(pieces.arguments)))
        return tuple(merged)
