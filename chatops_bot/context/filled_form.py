"""A filled form as a message of its author: one fixed sentence, then everything of theirs quoted as JSON.

The values are what a person typed, so they stand where a person's words stand, and as JSON they cannot look like anything
else than values.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.proposal import canonical_json
from chatops_bot.domain.transcript import FormFilled

_SENTENCE = Phrase(
    "我填好了表单，所需信息已齐全。请用下面 JSON 里的工具和参数发起调用，不要改动任何值：",
    "I filled in the form; nothing is missing now. Call the tool with exactly the arguments of this JSON, no value changed:",
)


@dataclass(frozen=True, slots=True)
class FilledForm:
    """What a message of this kind says."""

    tool: str
    arguments: Mapping[str, Any]
    language: Language


def filled_text(entry: FormFilled) -> str:
    quoted = {"tool": entry.tool, "arguments": dict(entry.arguments)}
    return f"{_SENTENCE.said_in('zh' if entry.language == 'zh' else 'en')}\n{canonical_json(quoted)}"


def filled_form_in(text: str) -> FilledForm | None:
    """What `filled_text` wrote; None for any other message."""
    sentence, _, quoted = text.partition("\n")
    if sentence not in (_SENTENCE.zh, _SENTENCE.en):
        return None
    try:
        value = json.loads(quoted)
    except (ValueError, RecursionError):
        return None
    tool, arguments = (value.get("tool"), value.get("arguments")) if isinstance(value, dict) else ("", None)
    language: Language = "zh" if sentence == _SENTENCE.zh else "en"  # names and values may be in any other
    return (
        FilledForm(tool, arguments, language)
        if isinstance(tool, str) and isinstance(arguments, dict)
        else None
    )
