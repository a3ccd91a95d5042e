"""A tool call that the model wrote as text instead of making it: kept from people's eyes, and never run.

Models without native calls, or with a broken template, write their own markup, a ReAct line or bare JSON. It is not parsed
into a call: text may quote what an attacker put into a log, and a call must not come from there. The loop asks the model
once to make the call properly.

Only the start of a line outside of a code block counts, for bare JSON only the start of the message, so that a model can
still explain such markup.
"""

import re

_MARKS = (
    "<tool_call", "<tool_use", "<function=", "<function_call", "<invoke ", "<minimax:tool_call",
    "<|tool", "<｜tool", "[TOOL_CALLS]",
)  # fmt: skip
"""How open-weight models begin a call in their own templates (Hermes and Qwen, Llama, Anthropic-like, MiniMax, DeepSeek, Mistral)."""

_REACT = "Action:"
_FENCES = ("```", "~~~")
_JSON = re.compile(
    r'\s*(?:```\w*\s*)?\[?\s*\{\s*"(?:name|tool|tool_name|function|action)"\s*:\s*"([^"]{1,64})"'
)
_JSON_HEAD = 120
"""How much of a message that begins like JSON is looked at before it is shown."""

_REACT_HEAD = 80
_INDENT = 64
"""More blanks before a line than this, and it is no call: what is held back, and looked at again, stays small."""

_LOOK = _INDENT + _JSON_HEAD
"""How much of a line decides; no head above is longer."""


class WrittenCallGuard:
    """Lets text through, line by line, up to where a written call begins. `names` are the tools that were offered."""

    def __init__(self, names: frozenset[str]) -> None:
        self.caught = False
        self._names = names
        self._held = ""
        self._line_start = True
        self._first = True
        self._in_code = False

    def feed(self, text: str) -> str:
        """The part of the text so far that is no call and was not returned before."""
        if not self._held and not self._line_start and "\n" not in text:
            return "" if self.caught else text
        if self.caught:
            return ""
        held, at = self._held + text, 0
        shown: list[str] = []
        while at < len(held) and not self.caught:
            if self._line_start:
                found = self._judged(held[at : at + _LOOK])
                if found is None:
                    break
                self.caught = found
                self._line_start = False
                continue
            end = held.find("\n", at) + 1 or len(held)
            shown.append(held[at:end])
            self._line_start = held[end - 1] == "\n"
            self._first = self._first and not shown[-1].strip()
            at = end
        self._held = held[at:]
        return "".join(shown)

    def close(self) -> str:
        """What was held back and turned out to be text."""
        rest, self._held = self._held, ""
        if rest and not self.caught:
            self.caught = self._judged(rest + "\n") is True  # the message ends, and with it the line
        return "" if self.caught else rest

    def _judged(self, held: str) -> bool | None:
        """Whether a call begins here; None while that is open."""
        line = held.lstrip(" \t")
        if len(held) - len(line) > _INDENT:
            return False
        if not line:
            return None
        if line[0] in "\r\n":
            return False
        if self._first and line[0] in "{[`" and not line.startswith(_MARKS):
            found = _JSON.match(line[:_JSON_HEAD])
            if found is not None and found.group(1) in self._names:
                return True
            if found is None and len(line) < _JSON_HEAD:
                return None
        if line.startswith(_FENCES):
            self._in_code = not self._in_code
            return False
        if any(fence.startswith(line) for fence in _FENCES):
            return None
        if self._in_code:
            return False
        if line.startswith(_MARKS):
            return True
        if any(opening.startswith(line) for opening in (*_MARKS, _REACT)):
            return None
        if line.startswith(_REACT):
            name, ended, _ = line[len(_REACT) :].partition("\n")
            if not ended and len(line) < _REACT_HEAD:
                return None
            return name.strip() in self._names
        return False
