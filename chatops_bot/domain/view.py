"""What people see, before any platform's shape: a message is a `View`, a tuple of neutral blocks.

`Markdown` holds the visible text of an answer and nothing else; tool lines, notes and controls stand in blocks of their
own, so that reading a thread back can tell them apart.
"""

from typing import Literal

from msgspec import Struct

Tone = Literal["info", "good", "warning", "danger"]
ButtonStyle = Literal["default", "primary", "danger"]


class Markdown(Struct, frozen=True):
    """Standard Markdown, sanitised: it holds no live mention and no platform token."""

    text: str


class Heading(Struct, frozen=True):
    text: str


class Lines(Struct, frozen=True):
    """Small grey lines of plain text: tool calls, footers. Plain text: the adapter escapes it."""

    lines: tuple[str, ...]


class Notice(Struct, frozen=True):
    """One plain sentence about the message. `info` is said in passing; the other tones must not be overlooked."""

    text: str
    tone: Tone = "info"


class Fact(Struct, frozen=True):
    """`is_code` marks a value whose every letter counts, such as a command or a schedule."""

    label: str
    value: str
    is_code: bool = False


class Facts(Struct, frozen=True):
    """Labelled plain values, in order."""

    facts: tuple[Fact, ...]


class Code(Struct, frozen=True):
    """Plain text to show whole and monospaced, such as a payload or a diff."""

    text: str
    label: str = ""


class Confirm(Struct, frozen=True):
    title: str
    text: str
    accept: str
    cancel: str


class Button(Struct, frozen=True):
    """`control` names what the button does (`approve`, `reject`, `stop`, `followup`, ...); `value` is an opaque id.

    `command` is what a person types where there is nothing to press, such as `approve 7KQ2MX`.
    """

    control: str
    label: str
    value: str
    style: ButtonStyle = "default"
    confirm: Confirm | None = None
    command: str = ""


class Buttons(Struct, frozen=True):
    buttons: tuple[Button, ...]


class Mention(Struct, frozen=True):
    """Calls people to the message; the only block that may notify somebody. `called` are the platform's ids of people and groups."""

    called: tuple[str, ...]
    text: str


class Option(Struct, frozen=True):
    """`value` is what comes back when it is chosen."""

    value: str
    label: str
    detail: str = ""


class Select(Struct, frozen=True):
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


class TextInput(Struct, frozen=True):
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


class View(Struct, frozen=True):
    """One message. `fallback` is the plain text for notifications and screen readers."""

    blocks: tuple[Block, ...]
    fallback: str


class Modal(Struct, frozen=True):
    """A dialog. `value` is an opaque id that comes back with what was filled in; without inputs, `submit` may be None."""

    value: str
    title: str
    blocks: tuple[Block, ...]
    submit: str | None
    cancel: str
