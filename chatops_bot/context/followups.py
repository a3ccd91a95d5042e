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
        self._held += text
        visible: list[str] = []
        while self._held:
            if self._in_block:
                if not self._take_block_line():
                    break
            elif self._at_line_start and _OPENING.startswith(self._held[: len(_OPENING)]):
                if not self._take_opening():
                    break
            else:
                visible.append(self._take_text())
        return "".join(visible)

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

    def _take_text(self) -> str:
        end = self._held.find("\n") + 1
        text = self._held if end == 0 else self._held[:end]
        self._held = self._held[len(text) :]
        self._at_line_start = text.endswith("\n")
        return text

    def _take_opening(self) -> bool:
        """Whether anything was consumed; False means: wait for the rest of the line."""
        end = self._held.find("\n")
        if end == -1 and self._held.rstrip() == _OPENING[: len(self._held.rstrip())]:
            return False
        line = self._held if end == -1 else self._held[:end]
        if line.rstrip() != _OPENING:
            self._at_line_start = False  # it only looked like the opening: plain text
            return True
        self._held = self._held[end + 1 :]
        self._in_block = True
        return True

    def _take_block_line(self) -> bool:
        end = self._held.find("\n")
        if end == -1:
            return False
        line, self._held = self._held[:end], self._held[end + 1 :]
        if line.strip() == _CLOSING:
            self._in_block = False
            self._at_line_start = True
        else:
            self._block.append(line)
        return True
