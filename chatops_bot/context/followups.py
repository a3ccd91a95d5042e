"""Suggested next steps: the model writes them in a block at the very end, people see them as buttons, not as text.

The block is an ordinary Markdown fence with the language `followups`, one suggestion a line. `FollowupSplitter` takes the
streamed text apart as it comes: visible text leaves at once, except a tail that could still become the block's opening.
"""

import re

FOLLOWUP_RULE = (
    "At the very end of a final answer, add one or two next steps that you can really do with these tools, in the user's "
    "language, each a short question or request on its own line, in exactly this block and nowhere else:\n"
    "```followups\n"
    "<first next step>\n"
    "<second next step>\n"
    "```\n"
    "Leave the block out when nothing useful is left to do, or when the user asks for brevity."
)

MAX_FOLLOWUPS = 2
MAX_FOLLOWUP_CHARS = 200

_OPENING = "```followups"
_CLOSING = "```"
_OPENING_CHARS = len(_OPENING) + 32
"""An opening with more blanks behind it is text, and of a line in the block no more than `_LINE_CHARS` is kept: what is
held back, and looked at again with each piece, stays small."""
_LINE_CHARS = 4 * MAX_FOLLOWUP_CHARS
_lines = re.compile(r"[^\n]*\n|[^\n]+").findall
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s*")


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

    def close(self) -> tuple[str, tuple[str, ...]]:
        """The visible rest and the suggestions. An opening that never completed was text after all."""
        rest = ""
        if self._in_block:
            self._block.append(self._held)
        elif self._held != _OPENING:
            rest = self._held
        self._held = ""
        lines = (_LIST_MARK.sub("", line).strip() for line in self._block)
        wanted = [line[:MAX_FOLLOWUP_CHARS] for line in lines if line and line != _CLOSING]
        return rest, tuple(dict.fromkeys(wanted))[:MAX_FOLLOWUPS]

    def _plain(self, text: str) -> bool:
        """Whether nothing is held back and nothing in `text` could open the block; so it is with nearly every piece."""
        if self._held or self._in_block or not text:
            return False
        return "`" not in text or not (self._at_line_start or "\n" in text)

    def _take(self, line: str) -> str:
        """What is visible of a line, which is whole when it has its end; what is still open is held back."""
        ended = line.endswith("\n")
        if self._in_block:
            self._take_in_block(line[:_LINE_CHARS], ended=ended)
            return ""
        if self._at_line_start and len(line) <= _OPENING_CHARS:
            if line.rstrip() == _OPENING:
                self._in_block, self._held = ended, "" if ended else line
                return ""
            if not ended and _OPENING.startswith(line):
                self._held = line
                return ""
        self._at_line_start = ended
        return line

    def _take_in_block(self, line: str, *, ended: bool) -> None:
        if not ended:
            self._held = line
        elif line.strip() == _CLOSING:
            self._in_block = False
            self._at_line_start = True
        else:
            self._block.append(line)
