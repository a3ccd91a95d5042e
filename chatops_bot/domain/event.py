"""Facts that come in from a platform, already verified and parsed by its adapter."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chatops_bot.domain.people import Person
from chatops_bot.domain.session import MessageRef, SessionKey


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A person wrote something. `text` has the bot's own mention removed and the platform's escapes undone.

    People and channels stand in it by their ids, `@U123` and `#C123`: names are others' choice of words, and `text` is taken
    for the author's. `mentioned` says what those ids are called.

    `dedupe_key` is the same for every delivery of one message, whatever event carried it. `has_attachments` is set when
    there are files or attachments beside the text. `mentions_others`: it calls somebody who is not the bot, by name or by
    group. `names`: people, groups and channels as they stand in the text, which say nothing about its language.
    """

    dedupe_key: str
    session: SessionKey
    message_id: str
    author: Person
    text: str
    mentions_bot: bool
    is_direct: bool
    has_attachments: bool = False
    mentions_others: bool = False
    names: tuple[str, ...] = ()
    mentioned: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ControlUsed:
    """A person pressed a button. `control` and `value` are those of the `view.Button`; `message` is where it stood.

    `inputs` is what the inputs beside it hold, by name: values of options, or one typed text; an empty one holds nothing.
    `trigger` opens a dialog, for a few seconds.
    """

    session: SessionKey
    person: Person
    control: str
    value: str
    message: MessageRef
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    trigger: str = ""


@dataclass(frozen=True, slots=True)
class DialogUsed:
    """A person pressed a button inside a dialog. `control` and `value` are those of the `view.Button`.

    `dialog` names the dialog for `Platform.update_modal`. A dialog stands in no session: what it is about, its value says.
    """

    person: Person
    control: str
    value: str
    dialog: str


@dataclass(frozen=True, slots=True)
class ModalSubmitted:
    """A person sent off a dialog; `value` is that of the `view.Modal`, `inputs` as for `ControlUsed`.

    It is no `InboundEvent`, since the platform waits for an answer: the problems by input, none if all is well.
    """

    person: Person
    value: str
    inputs: Mapping[str, tuple[str, ...]]


InboundEvent = MessageReceived | ControlUsed | DialogUsed
