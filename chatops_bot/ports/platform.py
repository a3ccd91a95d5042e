"""A chat platform, and who its users are."""

from dataclasses import dataclass
from typing import Protocol

from chatops_bot.domain.people import Person
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.view import Modal, View


@dataclass(frozen=True, slots=True)
class Place:
    """Where to post: a channel, and a thread in it unless the message starts one."""

    channel: str
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class PlatformLimits:
    """`text_chars`: visible text that one message may hold. `edit_interval`: seconds between edits of one message."""

    text_chars: int
    edit_interval: float


class Platform(Protocol):
    """A chat platform. Raises only `PlatformError`s. Every view is sanitised and redacted by the caller."""

    @property
    def limits(self) -> PlatformLimits: ...

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        """Post once: a lost reply is resolved by looking, never by posting again blindly.

        `key` names the message for `find`; without one the adapter makes its own.
        """

    async def find(self, place: Place, key: str) -> MessageRef | None:
        """The message that was posted there under `key`, if any: asked after a crash, before posting again."""

    def edit(self, ref: MessageRef, view: View) -> None:
        """Ask for an edit and return at once. Edits of a message are paced and coalesced: only the newest lands."""

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        """Edit for the last time and return when it has landed; no earlier edit lands after it.

        When the message can no longer be edited, the view is posted anew in its thread, and that ref is returned.
        """

    async def link(self, ref: MessageRef) -> str:
        """The address that leads to a message; empty where the platform has none."""

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        """Show a view to one person only."""

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        """Show a dialog to the person whose click had this `trigger`, which is good once and for about three seconds.

        Raises PlatformError where that is over, and where there are no dialogs.
        """

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        """Put other content into an open dialog, named by `event.DialogUsed.dialog`.

        Raises PlatformError where it is closed, and where there are no dialogs.
        """

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        """A thread's first message and its newest, `limit` in all, posted before message `before` (empty: before now).

        As they are now, edited or gone. The bot's own replies are left out, since the transcript has them; a thread's
        first message is not. Takes seconds at most: what cannot be read by then makes the excerpt partial.
        """


class Directory(Protocol):
    """Who a platform's user is, with the role that config gives them."""

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        """With the role that they have in `channel`, and their groups as far as config names them.

        Unmapped members have the default role; guests, bots, deactivated and unknown users are guests. What was
        asked minutes ago will do, unless `fresh`: right before something runs. Raises PlatformError when nobody can say.
        """
