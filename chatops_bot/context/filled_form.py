"""A filled form as a message of its author: one fixed sentence, then the values quoted as JSON.

Part of the values came from a model that had read logs and alerts, or from a list of names, so where the message enters
the context they are fenced.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chatops_bot.context.fence import fence, unfence
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.language import Language, Phrase
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
    """The form as its author's words, values not fenced: what is shown and stored."""
    return f"{_sentence(entry)}\n{_values(entry)}"


def filled_message(entry: FormFilled, *, nonce: Callable[[], str]) -> str:
    """The form as a model reads it."""
    return f"{_sentence(entry)}\n{fence(_values(entry), source='values of a form', nonce=nonce)}"


def _sentence(entry: FormFilled) -> str:
    return _SENTENCE.said_in("zh" if entry.language == "zh" else "en")


def _values(entry: FormFilled) -> str:
    return canonical_json({"tool": entry.tool, "arguments": dict(entry.arguments)})


def filled_form_in(text: str) -> FilledForm | None:
    """What `filled_text` or `filled_message` wrote; None for any other message."""
    sentence, _, quoted = text.partition("\n")
    if sentence not in (_SENTENCE.zh, _SENTENCE.en):
        return None
    try:
        value = json.loads(_unfenced(quoted))
    except (ValueError, RecursionError):
        return None
    tool, arguments = (value.get("tool"), value.get("arguments")) if isinstance(value, dict) else ("", None)
    language: Language = "zh" if sentence == _SENTENCE.zh else "en"  # names and values may be in any other
    return (
        FilledForm(tool, arguments, language)
        if isinstance(tool, str) and isinstance(arguments, dict)
        else None
    )


def _unfenced(quoted: str) -> str:
    try:
        return unfence(quoted)
    except ValueError:
        return quoted
