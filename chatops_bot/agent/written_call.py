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
    "<|tool", "<｜tool", "<|python_tag|>", "[TOOL_CALLS]",
)  # fmt: skip
"""How open-weight models begin a call in their own templates (Hermes and Qwen, Llama, Anthropic-like, MiniMax, DeepSeek, Mistral)."""

_REACT = "Action:"
_CODED = re.compile(r"functions\.([A-Za-z_]\w{0,63})\s*\(")
"""A call as in a program, in the name space that models of OpenAI were trained on."""
_FUNCTIONS = "functions."
_FENCES = ("```", "~~~")
_JSON = re.compile(
    r'\s*+(?:```\w*+\s*+)?\[?\s*+\{\s*+(?:("tool_calls")\s*+:\s*+\['
    r'|(?:"function"\s*+:\s*+\{\s*+)?"(?:name|tool|tool_name|function|action)"\s*+:\s*+"([^"]{1,64})")'
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
        return self._through(self._held + text, is_whole=False)

    def close(self) -> str:
        """What was held back and turned out to be text."""
        rest, self._held = self._held, ""
        if self.caught or not rest:
            return ""
        # The message ends, and with it the line.
        shown = self._through(rest + "\n", is_whole=True)
        return shown if self.caught else shown.removesuffix("\n")

    def _through(self, held: str, *, is_whole: bool) -> str:
        """What of `held` may be shown; the rest is kept. `is_whole` says that nothing follows."""
        at = 0
        shown: list[str] = []
        while at < len(held) and not self.caught:
            if self._line_start:
                found = self._judged(held[at : at + _LOOK], is_whole=is_whole)
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

    def _judged(self, held: str, *, is_whole: bool) -> bool | None:
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
            if found is not None and (found.group(1) or found.group(2) in self._names):
                return True
            if found is None and len(line) < _JSON_HEAD and not is_whole:
                return None
        if line.startswith(_FENCES):
            info, ended, _ = line.lstrip(line[0]).partition("\n")
            if line[0] == "`" and "`" in info:
                return False  # closed in the same line: a code span
            if not ended and len(held) < _LOOK:
                return None
            self._in_code = not self._in_code
            return False
        if any(fence.startswith(line) for fence in _FENCES):
            return None
        if self._in_code:
            return False
        if line.startswith(_MARKS):
            return True
        if any(opening.startswith(line) for opening in (*_MARKS, _REACT, _FUNCTIONS)):
            return None
        if line.startswith(_FUNCTIONS):
            coded = _CODED.match(line)
            if coded is None and "\n" not in line and len(line) < _REACT_HEAD:
                return None
            return coded is not None and coded.group(1) in self._names
        if line.startswith(_REACT):
            name, ended, _ = line[len(_REACT) :].partition("\n")
            if not ended and len(line) < _REACT_HEAD:
                return None
            return name.strip() in self._names
        return False
