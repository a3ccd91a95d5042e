"""The small lines above an answer: one a tool call, in the order in which the calls began."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.tool import ToolStatus
from chatops_bot.rendering import notices
from chatops_bot.rendering.escapes import one_line
from chatops_bot.rendering.graphemes import clip

MAX_LINES = 10
LINE_CHARS = 200
"""A line is a glance; the whole result is in the transcript."""

_PATTERNS: dict[ToolStatus, Phrase] = {
    "ok": notices.CALL_OK,
    "error": notices.CALL_ERROR,
    "waits": notices.CALL_WAITS,
    "not_run": notices.CALL_NOT_RUN,
}


_FULL_STOPS = "。. "
"""A summary may be a whole sentence; in a line it is followed by more."""
_NO_SUMMARY = Phrase("", "")
_UNDER_WAY = "正在"
"""How Chinese labels begin while a call runs ("is just ..."); a call that has ended is not told so."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call so far; `status` is None while it runs."""

    call_id: str
    label: Phrase
    status: ToolStatus | None = None
    summary: Phrase = _NO_SUMMARY
    milliseconds: int = 0


def tool_lines(
    calls: Sequence[Call], language: Language, *, is_over: bool, redact: Callable[[str], str]
) -> tuple[str, ...]:
    """At most `MAX_LINES` lines, the newest last; older ones are counted in the first line.

    `is_over` says that the turn has ended, so that a call without an end never got one. `redact` is applied to each line.
    """
    newest = calls if len(calls) <= MAX_LINES else calls[-(MAX_LINES - 1) :]
    lines = [clip(one_line(redact(_line(call, language, is_over))), LINE_CHARS) for call in newest]
    if hidden := len(calls) - len(newest):
        lines.insert(0, notices.MORE_LINES.filled(count=hidden).said_in(language))
    return tuple(lines)


def _line(call: Call, language: Language, is_over: bool) -> str:
    label = call.label.said_in(language).rstrip("…. ")
    if call.status is None:
        return _filled(notices.CALL_UNFINISHED if is_over else notices.CALL_RUNNING, call, label, language)
    return _filled(_PATTERNS[call.status], call, label.removeprefix(_UNDER_WAY), language)


def _filled(pattern: Phrase, call: Call, label: str, language: Language) -> str:
    return pattern.said_in(language).format(
        label=label,
        summary=call.summary.said_in(language).rstrip(_FULL_STOPS),
        duration=_duration(call.milliseconds).said_in(language),
    )


def _duration(milliseconds: int) -> Phrase:
    if milliseconds < 1000:
        return notices.MILLISECONDS.filled(value=milliseconds)
    return notices.SECONDS.filled(value=f"{milliseconds / 1000:.1f}")
