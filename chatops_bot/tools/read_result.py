"""read_result: a result of this conversation in pieces, for a model that was sent only its ends, or a note about it.

It is read as lines (`result_lines`). The text searched for is literal, so no pattern can take for ever. Only results of the very session can be read, and only what the person may see of them: of a skill that is
hidden from whoever asks, there is no result.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.cutting import is_short_form
from chatops_bot.domain.errors import ArgumentWrong, Told, ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.skill import LOAD_SKILL
from chatops_bot.domain.tool import READ_RESULT, ToolCall, ToolResult
from chatops_bot.domain.transcript import Entry, ModelSaid, ToolReturned
from chatops_bot.ports import Results, ToolContext, ToolSpec, Transcripts
from chatops_bot.tools.result_lines import as_lines, plainly
from chatops_bot.tools.spilling import KEPT_SECONDS

MOST_LINES = 400
LINES = 100
ANSWER_CHARS = 16_000
"""Well below the longest result, so that what is read here is never cut again."""


IsHidden = Callable[[Sequence[Entry], str, ToolCall, ToolContext], bool]
"""Takes the transcript, the turn and the call whose result is asked for, and the context of the call that asks."""


_SHORTENED = Phrase("只剩 {zh}缩短后的结果", "{en} of the shortened result, the whole is not kept any more")
_ONE_END = Phrase("head、tail 和 from_line 只能给出一个。", "Give only one of head, tail and from_line.")


class ReadResultArguments(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)
    handle: str = Field(max_length=200)
    search: str = Field(default="", max_length=200)
    head: int | None = Field(default=None, ge=1, le=MOST_LINES)
    tail: int | None = Field(default=None, ge=1, le=MOST_LINES)
    from_line: int | None = Field(default=None, ge=1)
    lines: int = Field(default=LINES, ge=1, le=MOST_LINES)

    @model_validator(mode="after")
    def _one_end(self) -> "ReadResultArguments":
        if sum(value is not None for value in (self.head, self.tail, self.from_line)) > 1:
            raise ArgumentWrong(_ONE_END)
        return self


class ReadResult:
    spec = ToolSpec(
        READ_RESULT,
        ReadResultArguments,
        Effect.READ,
        Phrase("查阅先前的结果", "reading an earlier result"),
        of_agent=True,
    )

    def __init__(
        self, transcripts: Transcripts, results: Results, is_hidden: IsHidden = lambda *_: False
    ) -> None:
        """`is_hidden` says whether somebody may not see a result."""
        self._transcripts = transcripts
        self._results = results
        self._is_hidden = is_hidden

    async def run(self, arguments: ReadResultArguments, context: ToolContext) -> ToolResult:
        tool, content, is_whole = await self._found(arguments.handle, context)
        wanted = plainly(arguments.search)
        lines = [
            each for line in as_lines(content) for each in zip(line.pieces, line.has(wanted), strict=True)
        ]
        numbered = [(number, piece) for number, (piece, is_wanted) in enumerate(lines, 1) if is_wanted]
        told, more = _chosen(numbered, arguments)
        answer: dict[str, Any] = {
            "handle": arguments.handle,
            "tool": tool,
            "total_lines": len(lines),
            **({"matching_lines": len(numbered)} if arguments.search else {}),
            "lines": told,
        }
        if more is not None:
            answer["next_from_line"] = more
        count = Phrase(f"{len(told)} 行", f"{len(told)} lines")
        if is_whole:
            return ToolResult("ok", answer, count)
        # Nobody may take what is missing here for what is not there.
        answer |= {"is_whole": False, "whole_kept_days": KEPT_SECONDS // 86_400}
        return ToolResult("ok", answer, _SHORTENED.filled(zh=count.zh, en=count.en))

    async def _found(self, handle: str, context: ToolContext) -> tuple[str, str, bool]:
        """The tool and the result of the newest call with this id, and whether it is whole: of a long one that is no longer kept, the
        transcript has the short form. Raises ToolFailed when there is none to be seen."""
        calls: dict[tuple[str, str], ToolCall] = {}
        newest: tuple[ToolCall, ToolReturned] | None = None
        entries = await (context.aside or self._transcripts).load(context.session)
        for entry in entries:
            if isinstance(entry, ModelSaid):
                calls |= {(entry.turn_id, call.id): call for call in entry.calls}
            elif isinstance(entry, ToolReturned) and entry.call_id == handle:
                call = calls.get((entry.turn_id, entry.call_id))
                newest = newest if call is None else (call, entry)
        if newest is None or newest[0].name == LOAD_SKILL:
            raise _none(handle)
        call, returned = newest
        if self._is_hidden(entries, returned.turn_id, call, context):
            raise _none(handle)
        kept = await self._results.get(context.session, handle)
        if kept is not None:
            return returned.tool, kept, True
        return returned.tool, returned.content, not is_short_form(returned.content, handle)


def _chosen(numbered: list[tuple[int, str]], arguments: ReadResultArguments) -> tuple[list[str], int | None]:
    """The lines that are told, numbered, as many as fit, and the number of the first that comes after them, if any does."""
    if arguments.tail is not None:
        return list(reversed(_fitting(numbered[: -arguments.tail - 1 : -1]))), None
    numbered = [each for each in numbered if each[0] >= (arguments.from_line or 1)]
    told = _fitting(numbered[: arguments.head or arguments.lines])
    rest = numbered[len(told) :]
    return told, rest[0][0] if rest else None


def _fitting(numbered: list[tuple[int, str]]) -> list[str]:
    told: list[str] = []
    room = ANSWER_CHARS
    for number, line in numbered:
        told.append(f"{number}: {line}")
        room -= len(canonical_json(told[-1])) + 1
        if room < 0:
            return told[:-1]
    return told


def _none(handle: str) -> ToolFailed:
    return ToolFailed(
        Phrase("没有这个结果", "no such result"), told=Told("no_such_result", {"handle": repr(handle)})
    )
