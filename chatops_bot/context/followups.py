"""Suggested next steps: the model writes them in a block at the very end, people see them as buttons, not as text.

The block is an ordinary Markdown fence with the language `followups`, however a model spells one: three or more backticks or
tildes, up to three blanks before them, the word in upper or lower case. One step a line: the tool or skill that it takes, a
colon, the question. `FollowupSplitter` takes the streamed text apart as it comes: visible text leaves at once, except a tail
that could still become the block's opening. What is offered of the steps, `next_steps` decides.
"""

import re

from chatops_bot.domain.followup import FollowUp
from chatops_bot.domain.regex import regex

MAX_FOLLOWUPS = 2
MAX_STEPS = 8
"""Lines of the block that are looked at; what cannot be done is left out, and two of the rest are offered."""
MAX_FOLLOWUP_CHARS = 200

_WORD = "followups"
_OPENING = regex(rf" {{0,3}}(?:`{{3,}}|~{{3,}})[ \t]*{_WORD}[ \t\r]*", re.IGNORECASE | re.ASCII)
_HALF_WORD = "".join(f"(?:{letter}" for letter in _WORD) + r"[ \t\r]*" + ")?" * len(_WORD)
_HALF_OPENING = regex(
    rf" {{0,3}}(?:`{{0,2}}|~{{0,2}}|(?:`{{3,}}|~{{3,}})[ \t]*{_HALF_WORD})", re.IGNORECASE | re.ASCII
)
_CLOSING = regex(r"\s*(?:`{3,}|~{3,})\s*")
_OPENING_CHARS = len(f"```{_WORD}") + 32
"""An opening that is longer, by blanks or by its fence, is text, and of a line in the block no more than `_LINE_CHARS` is kept:
what is held back, and looked at again with each piece, stays small."""
_LINE_CHARS = 4 * MAX_FOLLOWUP_CHARS
_lines = re.compile(r"[^\n]*\n|[^\n]+").findall
_STEP = regex(r"`?([A-Za-z0-9_-]{1,64})`?\s*[:：]\s*(\S.*)")
_LIST_MARK = regex(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s*")


def _step(line: str) -> FollowUp | None:
    """The step that a line states; None for one that does not name what it takes."""
    stated = _STEP.fullmatch(_LIST_MARK.sub("", line).strip())
    return FollowUp(stated[1], stated[2][:MAX_FOLLOWUP_CHARS]) if stated else None


class FollowupSplitter:
    """Separates visible text from the follow-up block, over any chunking of the text."""

    def __init__(self) -> None:
        self._held = ""
        self._at_line_start = True
        self._in_block = False
        self._block: list[str] = []

    def feed(self, text: str) -> str:
        """The part of the text so far that is visible and was not returned before."""
        if self._plain(text):
            self._at_line_start = text[-1:] == "\n"
            return text
        held, self._held = self._held + text, ""
        return "".join(map(self._take, _lines(held)))

    def close(self) -> tuple[str, tuple[FollowUp, ...]]:
        """The visible rest and the suggested steps, as they were written. An opening that never completed was text after all."""
        rest = ""
        if self._in_block:
            self._block.append(self._held)
        elif not _OPENING.fullmatch(self._held):
            rest = self._held
        self._held = ""
        steps = filter(None, map(_step, self._block[:MAX_STEPS]))
        return rest, tuple(dict.fromkeys(steps))

    def _plain(self, text: str) -> bool:
        """Whether nothing is held back and nothing in `text` could open the block; so it is with nearly every piece."""
        if self._held or self._in_block or not text:
            return False
        end = text.rfind("\n") + 1
        if not end and not self._at_line_start:
            return True
        if "`" in text or "~" in text:
            return False
        last = text[end:]
        return not last or len(last) > 3 or last.strip(" ") != ""

    def _take(self, line: str) -> str:
        """What is visible of a line, which is whole when it has its end; what is still open is held back."""
        ended = line.endswith("\n")
        if self._in_block:
            self._take_in_block(line[:_LINE_CHARS], ended=ended)
            return ""
        if self._at_line_start and len(line) <= _OPENING_CHARS:
            if _OPENING.fullmatch(line.removesuffix("\n")):
                self._in_block, self._held = ended, "" if ended else line
                return ""
            if not ended and _HALF_OPENING.fullmatch(line):
                self._held = line
                return ""
        self._at_line_start = ended
        return line

    def _take_in_block(self, line: str, *, ended: bool) -> None:
        if not ended:
            self._held = line
        elif _CLOSING.fullmatch(line):
            self._in_block = False
            self._at_line_start = True
        else:
            self._block.append(line)
