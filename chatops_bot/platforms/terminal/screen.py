"""A thread on a screen: text only ever grows downwards, in the order in which things happened.

An answer changes in three ways while it runs. A tool line is printed when its call has ended; while it runs it stands,
on a real terminal, in one line at the bottom that is wiped before anything else is printed. Text is printed as far as it
is settled; a card that comes meanwhile stands below it. What is printed cannot be taken back, so a message that turns out
otherwise is printed once more, whole.
"""

import re
from dataclasses import dataclass, field
from typing import Protocol

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.view import Block, Buttons, Lines, Markdown, View
from chatops_bot.platforms.terminal.frames import Frame, Shown, Whispered
from chatops_bot.platforms.terminal.letters import DIM, Look, columns, harmless
from chatops_bot.platforms.terminal.markdown import markdown_text, settled
from chatops_bot.platforms.terminal.plain import block_lines, view_text
from chatops_bot.rendering import notices
from chatops_bot.rendering.graphemes import clip

_WIPE = "\r\x1b[K"
_UNDER_WAY = "…"
"""How a line ends whose call still runs."""


def _said(*phrases: Phrase) -> re.Pattern[str]:
    """Matches the phrases in both languages, whatever number stands in them."""
    texts = (re.escape(text) for phrase in phrases for text in (phrase.en, phrase.zh))
    return re.compile("|".join(re.sub(r"\\\{\w+\\\}", r"\\d+", text) for text in texts))


_PASSING = _said(notices.WORKING, notices.WAITING, notices.SILENT)
"""Lines about the moment, which say nothing afterwards."""
_COUNTED = _said(notices.MORE_LINES)
"""The line that counts those which a message has no room for; here they all stand above."""
_CHANGED = "↻"


class Output(Protocol):
    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


@dataclass(slots=True)
class _Printed:
    """What of a message stands on the screen."""

    message: str
    lines: list[str] = field(default_factory=list)
    text: str = ""
    whole: View | None = None


class Screen:
    """`is_live` says that `out` is a terminal, whose last line can be wiped."""

    def __init__(self, out: Output, look: Look, *, is_live: bool = False) -> None:
        self._out = out
        self._look = look
        self._is_live = is_live
        self._messages: dict[str, _Printed] = {}
        self._growing: set[str] = set()
        self._held: dict[str, Shown] = {}
        self._status = ""
        self._last = ""
        """The last characters that were printed, enough to know whether a line and a paragraph have ended."""
        self._kind = ""

    def show(self, frame: Frame) -> None:
        """Print what is new. Raises OSError where nothing can be printed any more."""
        match frame:
            case Shown() if (
                self._growing and frame.message not in self._messages and not _is_running(frame.view)
            ):
                self._held[frame.message] = frame
            case Shown():
                self._show(frame)
            case Whispered(view):
                self._begin("whisper", apart=True)
                self._write(view_text(view, self._look))
            case _:
                self._wipe()
        if not self._growing:
            self._show_held()
        self._out.flush()

    def close(self) -> None:
        """End the last line."""
        self._wipe()
        self._show_held()
        if self._last and not self._last.endswith("\n"):
            self._write("\n")
        self._out.flush()

    def _show(self, frame: Shown) -> None:
        printed = self._messages.setdefault(frame.message, _Printed(frame.message))
        if _is_running(frame.view):
            self._growing.add(frame.message)
            self._grow(printed, frame.view)
        elif frame.view != printed.whole:
            self._growing.discard(frame.message)
            self._complete(printed, frame.view)

    def _show_held(self) -> None:
        held, self._held = self._held, {}
        for frame in held.values():
            self._show(frame)

    def _grow(self, printed: _Printed, view: View) -> None:
        lines, source = _lines(view), _source(view)
        passing = [line for line in lines if _PASSING.fullmatch(line)]
        calls = [line for line in lines if line.endswith(_UNDER_WAY) and line not in passing]
        ended = self._new_lines(printed, [line for line in lines if line not in calls])
        is_calling = bool(calls)
        if is_calling or (ended and printed.text):
            self._print_text(printed, _round(printed, markdown_text(source, self._look)))
        self._print_lines(printed, ended)
        if not is_calling:
            self._print_text(printed, markdown_text(settled(source), self._look))
        self._show_status((calls or passing or [""])[-1])

    def _complete(self, printed: _Printed, view: View) -> None:
        text = markdown_text(_source(view), self._look)
        if printed.whole is not None or not text.startswith(printed.text):
            self._begin("again", apart=True)
            self._write(self._look.paint(_CHANGED, DIM) + "\n" + view_text(view, self._look))
        elif printed.lines or printed.text or _source(view):
            ended = self._new_lines(printed, _lines(view))
            if ended and printed.text:
                self._print_text(printed, _round(printed, text))
            self._print_lines(printed, ended)
            self._print_text(printed, text)
            self._print_blocks(view)
        else:
            self._begin("card", apart=True)
            self._write(view_text(view, self._look))
        printed.whole = view

    def _new_lines(self, printed: _Printed, lines: list[str]) -> list[str]:
        return [
            line
            for line in lines
            if line not in printed.lines and not (_COUNTED.fullmatch(line) or _PASSING.fullmatch(line))
        ]

    def _print_lines(self, printed: _Printed, lines: list[str]) -> None:
        if lines:
            self._begin("lines")
            self._write("\n".join(block_lines(Lines(tuple(lines)), self._look)))
            printed.lines += lines

    def _print_text(self, printed: _Printed, text: str) -> None:
        """Print how `text` goes on behind what was printed; nothing when it goes another way, which may pass."""
        if not text.startswith(printed.text) or text == printed.text:
            return
        kind = f"text of {printed.message}"
        new = text[len(printed.text) :]
        if self._kind == kind:
            self._wipe()
            self._write(new)
        elif new := new.lstrip("\n"):
            self._begin(kind)
            self._write(new)
        printed.text = text

    def _print_blocks(self, view: View) -> None:
        """All but tool lines and text, each apart."""
        for block in view.blocks:
            if not isinstance(block, Lines | Markdown) and (drawn := block_lines(block, self._look)):
                self._begin("block", apart=isinstance(block, Buttons) or self._kind != "block")
                self._write("\n".join(drawn))

    def _begin(self, kind: str, *, apart: bool = False) -> None:
        """Go to a new line for another kind of thing, with an empty line in between."""
        self._wipe()
        if self._last:
            self._write("\n" if not self._last.endswith("\n") else "")
            if (apart or kind != self._kind) and not self._last.endswith("\n\n"):
                self._write("\n")
        self._kind = kind

    def _write(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._last = (self._last + text)[-2:]

    def _show_status(self, line: str) -> None:
        if not self._is_live or line == self._status or (self._last and not self._last.endswith("\n")):
            return
        self._wipe()
        room = (self._look.width or 80) - 1
        status = harmless(line).replace("\n", " ")
        while columns(status) > room:
            status = clip(status, len(status) - 1)
        self._out.write(self._look.paint(status, DIM))
        self._status = line

    def _wipe(self) -> None:
        if self._status:
            self._out.write(_WIPE)
            self._status = ""


def _is_running(view: View) -> bool:
    return any(
        button.control == "stop" for block in view.blocks if isinstance(block, Buttons) for button in block.buttons
    )  # fmt: skip


def _round(printed: _Printed, text: str) -> str:
    """`text` up to the end of the paragraph that has begun: a call ends it, wherever more text comes from."""
    end = text.find("\n\n", max(len(printed.text), 1))
    return text if end < 0 else text[:end]


def _lines(view: View) -> list[str]:
    return [line for block in view.blocks if isinstance(block, Lines) for line in block.lines]


def _source(view: View) -> str:
    texts: list[Block] = [block for block in view.blocks if isinstance(block, Markdown)]
    return "\n\n".join(block.text for block in texts if isinstance(block, Markdown))
