"""What people see, before any platform's shape: a message is a `View`, a tuple of neutral blocks.

`Markdown` holds the visible text of an answer and nothing else; tool lines, notes and controls stand in blocks of their
own, so that reading a thread back can tell them apart.
"""

from dataclasses import dataclass
from typing import Literal

Tone = Literal["info", "good", "warning", "danger"]
ButtonStyle = Literal["default", "primary", "danger"]


@dataclass(frozen=True, slots=True)
class Markdown:
    """Standard Markdown, sanitised: it holds no live mention and no platform token."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Small grey lines of plain text: tool calls, footers. Plain text: the adapter escapes it."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """One plain sentence about the message. `info` is said in passing; the other tones must not be overlooked."""

    text: str
    tone: Tone = "info"


@dataclass(frozen=True, slots=True)
class Fact:
    """`is_code` marks a value whose every letter counts, such as a command or a schedule."""

    label: str
    value: str
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Labelled plain values, in order."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Plain text to show whole and monospaced, such as a payload or a diff."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Confirm:
    title: str
    text: str
    accept: str
    cancel: str


@dataclass(frozen=True, slots=True)
class Button:
    """`control` names what the button does (`approve`, `reject`, `stop`, `followup`, ...); `value` is an opaque id.

    `command` is what a person types where there is nothing to press, such as `approve 7KQ2MX`.
    """

    control: str
    label: str
    value: str
    style: ButtonStyle = "default"
    confirm: Confirm | None = None
    command: str = ""


@dataclass(frozen=True, slots=True)
class Buttons:
    buttons: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """Calls people to the message; the only block that may notify somebody. `called` are the platform's ids of people and groups."""

    called: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Option:
    """`value` is what comes back when it is chosen."""

    value: str
    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Select:
    """A list to choose one of, or several. `name` comes back with the values of `chosen`.

    An input keeps what a person has done to it as long as its `key` stays the same; a new key starts from `chosen` again.
    """

    name: str
    key: str
    label: str
    options: tuple[Option, ...]
    chosen: tuple[str, ...] = ()
    is_multi: bool = False
    is_optional: bool = False
    hint: str = ""
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class TextInput:
    """A text to type; `name` and `key` as for `Select`."""

    name: str
    key: str
    label: str
    text: str = ""
    is_multiline: bool = False
    is_optional: bool = False
    hint: str = ""
    placeholder: str = ""
    max_chars: int = 3000


Block = Markdown | Heading | Lines | Notice | Facts | Code | Buttons | Mention | Select | TextInput


@dataclass(frozen=True, slots=True)
class View:
    """One message. `fallback` is the plain text for notifications and screen readers."""

    blocks: tuple[Block, ...]
    fallback: str


@dataclass(frozen=True, slots=True)
class Modal:
    """A dialog. `value` is an opaque id that comes back with what was filled in; without inputs, `submit` may be None."""

    value: str
    title: str
    blocks: tuple[Block, ...]
    submit: str | None
    cancel: str
