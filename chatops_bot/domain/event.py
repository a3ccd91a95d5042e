"""Facts that come in from a platform, already verified and parsed by its adapter."""

from dataclasses import dataclass

from chatops_bot.domain.people import Person
from chatops_bot.domain.session import MessageRef, SessionKey


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A person wrote something. `text` has the bot's own mention removed and the platform's escapes undone.

    `dedupe_key` is the same for every delivery of one message, whatever event carried it. `has_attachments` is set when
    there are files or attachments beside the text.
    """

    dedupe_key: str
    session: SessionKey
    message_id: str
    author: Person
    text: str
    mentions_bot: bool
    is_direct: bool
    has_attachments: bool = False


@dataclass(frozen=True, slots=True)
class ControlUsed:
    """A person pressed a button. `control` and `value` are those of the `view.Button`; `message` is where it stood."""

    session: SessionKey
    person: Person
    control: str
    value: str
    message: MessageRef


InboundEvent = MessageReceived | ControlUsed
