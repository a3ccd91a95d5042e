"""What a call still lacks, asked from the person who wanted it: the payload of a form, whatever shows it.

A form is the second kind of interrupt. A proposal waits for somebody's yes, a form for its requester's facts. It moves only
along `EDGES`, by one compare-and-set a move, exactly as proposals do; `open → open` is an answer with something wrong in
it, which stays for its author to correct. A filled form runs nothing: it starts a turn that knows more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.session import MessageRef, SessionKey


class FormState(StrEnum):
    OPEN = "open"
    SUBMITTED = "submitted"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"  # its requester asked for the same thing anew


EDGES: dict[FormState, frozenset[FormState]] = {
    FormState.OPEN: frozenset(FormState),
    FormState.SUBMITTED: frozenset(),
    FormState.CANCELLED: frozenset(),
    FormState.EXPIRED: frozenset(),
    FormState.SUPERSEDED: frozenset(),
}

GUARDED_BY_EXPIRY = frozenset({FormState.OPEN, FormState.SUBMITTED})
"""States that a form may enter only before `expires_at`."""

FieldKind = Literal["single", "multi", "text", "secret"]

OWN = "/own"
"""Ends the name of the input beside a list, for a value that the list does not have."""

FormValues = Mapping[str, tuple[str, ...]]
"""What somebody filled in, by the name of the input: the numbers of the chosen choices as text, or the one typed text."""


@dataclass(frozen=True, slots=True)
class Choice:
    """`value` is the JSON value that it stands for. Inputs name a choice by its place in the list."""

    value: Any
    label: Phrase
    detail: Phrase | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a field can hold. A list that is not complete leaves room for a value of one's own. `hint` takes the place of the
    argument's own, where it depends on who is asked."""

    choices: tuple[Choice, ...]
    is_complete: bool = True
    hint: Phrase | None = None


@dataclass(frozen=True, slots=True)
class AskedAs:
    """How people are asked for an argument; stands in the metadata of its annotation, where the schema does not see it.

    Without one, the label is the field's title or name, the hint what `prompts/` says of the argument, and the example its first. `choices` are the labels of the values of a Literal or an enum.
    """

    label: Phrase
    hint: Phrase | None = None
    example: str = ""
    choices: Mapping[Any, Phrase] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FormField:
    """One argument to fill in.

    `chosen` are places in `choices`; `text` is what is typed, for a text and for a value of one's own beside a list
    (`takes_text`). `problem` is what is wrong with them. A list without choices is typed, its items parted by commas. The `text` of a secret is never what
    was typed, only its reference (`secret_argument`).
    """

    name: str
    label: Phrase
    kind: FieldKind
    is_required: bool
    hint: Phrase | None = None
    example: str = ""
    choices: tuple[Choice, ...] = ()
    chosen: tuple[int, ...] = ()
    text: str = ""
    takes_text: bool = False
    is_list: bool = False
    is_multiline: bool = False
    max_chars: int = 3000
    problem: Phrase | None = None

    @property
    def is_filled(self) -> bool:
        return bool(self.chosen or self.text.strip())


@dataclass(frozen=True, slots=True)
class Form:
    """A form with everything that its message shows.

    `known` are arguments as the model gave them; those that no field shows join the answer as they are. `problem` is what
    is wrong with the whole. `closed_by_*` is who filled it in or cancelled it. `arguments` are the complete ones, once
    submitted, and `answer_turn_id` names the turn that begins with them. `card` is the message that shows the form, as of `shown_revision`.
    """

    id: str
    session: SessionKey
    turn_id: str
    call_id: str
    tool: str
    effect: Effect
    title: Phrase
    requester_id: str
    requester_name: str
    language: str
    known: Mapping[str, Any]
    fields: tuple[FormField, ...]
    created_at: datetime
    expires_at: datetime
    state: FormState = FormState.OPEN
    revision: int = 0
    problem: Phrase | None = None
    arguments: Mapping[str, Any] | None = None
    answer_turn_id: str = ""
    closed_at: datetime | None = None
    closed_by_id: str = ""
    closed_by_name: str = ""
    card: MessageRef | None = None
    shown_revision: int = -1

    @property
    def is_open(self) -> bool:
        return self.state is FormState.OPEN

    @property
    def missing(self) -> tuple[FormField, ...]:
        """Fields without which the call cannot be made."""
        return tuple(each for each in self.fields if each.is_required and not each.is_filled)

    def moved(self, to: FormState, changes: Mapping[str, Any]) -> "Form":
        """Itself in the state `to`, a revision later, with `changes`. Raises ValueError for an edge that is not in the table."""
        if to not in EDGES[self.state]:
            raise ValueError(f"a form does not go from {self.state} to {to}")
        return replace(self, state=to, revision=self.revision + 1, **changes)


def with_problems(fields: tuple[FormField, ...], problems: Mapping[str, Phrase]) -> tuple[FormField, ...]:
    """The fields, each with its problem of `problems`, or with none."""
    return tuple(replace(each, problem=problems.get(each.name)) for each in fields)
