"""An argument that a person types into a form, and that nobody else ever sees: no model, no message, no record.

Everything between the form and the tool holds a *reference* in its place. A reference names the form that it was typed
into, so it is good for exactly the call which that form asked for, and the value that it stands for is kept sealed, apart
from everything else.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.secret_forms import SHORTEST_SECRET

_PREFIX = "sealed"

TYPED = f"{_PREFIX}:typed"
"""Stands for a value while its form is judged: it has no reference yet."""
_REFERENCE = re.compile(rf"{_PREFIX}:[\w-]+:[\w-]+")
_LENGTH = Phrase("长度须为 {least} 到 {most} 个字符。", "It must be {least} to {most} characters long.")


@dataclass(frozen=True, slots=True)
class SecretArgument:
    """Stands in the metadata of a text argument of a tool that changes something: `Annotated[str, SecretArgument()]`.

    The length is that of what may be typed. What is shorter than the default can not be taken out of a tool's answer, since
    it would turn up in ordinary text by chance. No other rule may stand beside it, since it would judge the reference. The tool gets the value in `apply`; in `plan` and `probe` it gets the
    reference.
    """

    min_chars: int = SHORTEST_SECRET
    max_chars: int = 3000
    is_multiline: bool = False

    def problem_of(self, typed: str) -> Phrase | None:
        if self.min_chars <= len(typed) <= self.max_chars:
            return None
        return _LENGTH.filled(least=self.min_chars, most=self.max_chars)


def reference(form_id: str, unique: str) -> str:
    """The reference of a value that was typed into a form; `unique` is never used again."""
    return f"{_PREFIX}:{form_id}:{unique}"


def form_of(value: Any) -> str | None:
    """The form that a reference names; None for anything else."""
    parts = value.split(":") if isinstance(value, str) else []
    return parts[1] if len(parts) == 3 and parts[0] == _PREFIX else None


def holds_reference(value: Any) -> bool:
    """Whether a reference stands anywhere in a value: whole, within a text, in a list, as a key."""
    if isinstance(value, str):
        return _REFERENCE.search(value) is not None
    if isinstance(value, Mapping):
        return any(holds_reference(key) or holds_reference(each) for key, each in value.items())
    return isinstance(value, Sequence) and any(map(holds_reference, value))


def may_spell_reference(json: str) -> bool:
    """Whether a reference can stand in the value of a JSON text: spelled as it is, or behind an escape."""
    return _PREFIX in json or "\\" in json


def references_in(arguments: Mapping[str, Any]) -> list[str]:
    """The references among the values of a call."""
    return [value for value in arguments.values() if form_of(value) is not None]
