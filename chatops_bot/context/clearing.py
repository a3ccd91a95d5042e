"""Results of tools made smaller in what is sent: one that is too long keeps its head and tail, an old one leaves a note.

Both name the handle under which `read_result` gives the whole of it. The call that a result answers, its name and its fence
stay, so who looked for what is always seen. A loaded skill is never made smaller: half a workflow is worse than none.
"""

import json
import re
from dataclasses import replace
from typing import Any

from chatops_bot.context.fence import refenced
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.cutting import cut_text
from chatops_bot.domain.model import ToolMessage
from chatops_bot.domain.skill import LOAD_SKILL
from chatops_bot.domain.tool import READ_RESULT

SUMMARY_CHARS = 240
_ERROR_WORD = re.compile(
    r"\b(?:error|fail(?:ed|ure)?|exception|fatal|panic|denied|timed? ?out)\b|错误|失败|异常|超时",
    re.IGNORECASE,
)
_SEARCHED_CHARS = 20_000
"""How far into a result its first line about an error is looked for."""
_COUNTS = 6
"""How many counts a summary holds."""


def is_kept(message: ToolMessage) -> bool:
    """Whether this result is always sent whole."""
    return message.name == LOAD_SKILL


def shortened(message: ToolMessage, chars: int) -> ToolMessage:
    """The result with at most about `chars` characters of it, and what was cut of it."""
    return replace(message, text=refenced(message.text, lambda text: cut_text(text, chars, message.call_id)))


def cleared(message: ToolMessage) -> ToolMessage:
    """The note that stands for an old result. One that is no longer than its note stays as it is."""

    def note(text: str) -> str:
        said = canonical_json(
            {
                "cleared": message.name,
                "characters": len(text),
                "summary": summary(text),
                READ_RESULT: {"handle": message.call_id},
            }
        )
        return said if len(said) < len(text) else text

    return replace(message, text=refenced(message.text, note))


def summary(text: str) -> str:
    """One line about a result, always the same for the same text: how many of what, and the first line about an error."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    facts = [f"lines: {text.count(chr(10)) + 1}"] if not isinstance(content, dict) else _facts(content)
    searched = text[:_SEARCHED_CHARS].replace("\\n", "\n")
    if found := _ERROR_WORD.search(searched):
        start = max(searched.rfind("\n", 0, found.start()) + 1, found.start() - SUMMARY_CHARS // 2)
        facts.append(" ".join(searched[start : start + SUMMARY_CHARS].partition("\n")[0].split()))
    line = "; ".join(facts)
    return line if len(line) <= SUMMARY_CHARS else line[: SUMMARY_CHARS - 1] + "…"


def _facts(content: dict[str, Any]) -> list[str]:
    facts: list[str] = []
    for key, value in content.items():
        if isinstance(value, list | dict):
            facts.append(f"{key}: {len(value)}")
        elif isinstance(value, bool | int | float):
            facts.append(f"{key}: {value}")
    if isinstance(error := content.get("error"), str):
        facts.insert(0, f"error: {' '.join(error.split())}")
    return facts[:_COUNTS]
