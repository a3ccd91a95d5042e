"""A filled form as a message of its author: a sentence of `prompts/`, then the values quoted as JSON, fenced.

They are fenced since part of the values came from a model that had read logs and alerts, or from a list of names. The message is
known by that fence, whatever the sentence says.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chatops_bot.context.fence import fence, source_of, unfence
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.language import Language, language_of
from chatops_bot.domain.transcript import FormFilled

_SOURCE = "form values"


@dataclass(frozen=True, slots=True)
class FilledForm:
    """What a message of this kind says."""

    tool: str
    arguments: Mapping[str, Any]
    language: Language


def filled_values(entry: FormFilled) -> str:
    """What the form is about, as JSON."""
    return canonical_json({"tool": entry.tool, "arguments": dict(entry.arguments)})


def filled_message(entry: FormFilled, *, nonce: Callable[[], str], said: str) -> str:
    """The form as a model reads it, under what is `said` of it, a line."""
    return f"{said}\n{fence(filled_values(entry), source=_SOURCE, nonce=nonce)}"


def filled_form_in(text: str) -> FilledForm | None:
    """What `filled_message` wrote; None for any other message. Its language is that of the sentence: names and values may be in
    any other."""
    said, _, quoted = text.partition("\n")
    try:
        value = json.loads(unfence(quoted)) if source_of(quoted) == _SOURCE else None
    except (ValueError, RecursionError):
        return None
    tool, arguments = (value.get("tool"), value.get("arguments")) if isinstance(value, dict) else ("", None)
    return (
        FilledForm(tool, arguments, language_of(said))
        if isinstance(tool, str) and isinstance(arguments, dict)
        else None
    )
