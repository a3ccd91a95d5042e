"""A terminal behind the `Platform` port.

A thread is shown to whoever sits in front of it, one reader at most. A message lives only as long as somebody may still
want to see it change: a terminal keeps no history, the store does. A reader that is slower than the turn sees fewer steps
of a message, never an older one after a newer.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.view import Modal, View
from chatops_bot.platforms.terminal.frames import Shown, Whispered
from chatops_bot.ports import Ids, Place, PlatformLimits

NAME, WORKSPACE, CHANNEL = "terminal", "local", "terminal"
"""What the key of every terminal session begins with; its thread is all that differs."""

TEXT_CHARS = 100_000
"""A terminal scrolls; the limit only bounds what is rendered at once."""
REMEMBERED_MESSAGES = 500


class Seat:
    """The one reader of a thread. Frames come in the order in which messages first changed, each message as it is by now."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Shown | Whispered] = OrderedDict()
        self._changed = asyncio.Event()
        self._closed = False
        self._whispers = 0

    def show(self, shown: Shown) -> None:
        self._waiting[shown.message] = shown
        self._changed.set()

    def whisper(self, view: View) -> None:
        self._whispers += 1
        self._waiting[f"whisper {self._whispers}"] = Whispered(view)
        self._changed.set()

    def close(self) -> None:
        """Nothing more comes: `frames` ends when all has been read."""
        self._closed = True
        self._changed.set()

    async def frames(self) -> AsyncIterator[Shown | Whispered]:
        while True:
            while self._waiting:
                yield self._waiting.popitem(last=False)[1]
            if self._closed:
                return
            self._changed.clear()
            await self._changed.wait()


@dataclass(slots=True)
class _Message:
    key: str
    thread: str
    view: View
    finished: bool = False


class TerminalPlatform:
    """Threads on this machine. Raises nothing, except for a dialog: what nobody reads is simply not seen."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._messages: OrderedDict[MessageRef, _Message] = OrderedDict()
        self._seats: dict[str, Seat] = {}

    def sit(self, thread: str) -> Seat:
        """The reader's place in front of a thread, until `leave`. A thread has one; ask `is_taken` first."""
        seat = self._seats[thread] = Seat()
        return seat

    def is_taken(self, thread: str) -> bool:
        return thread in self._seats

    def leave(self, thread: str) -> None:
        self._seats.pop(thread, None)

    @property
    def limits(self) -> PlatformLimits:
        return PlatformLimits(text_chars=TEXT_CHARS, edit_interval=0.0)

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        """As the port says. A message without a thread begins one of its own id."""
        number = self._ids.new("message")
        thread = place.thread or number
        ref = MessageRef(place.channel, f"{thread}/{number}")
        self._messages[ref] = _Message(key, thread, view)
        while len(self._messages) > REMEMBERED_MESSAGES:
            self._messages.popitem(last=False)
        self._show(ref)
        return ref

    async def find(self, place: Place, key: str) -> MessageRef | None:
        """As the port says, among the messages of this process: after a restart there is no screen that still shows one."""
        if not key:
            return None
        return next(
            (
                ref
                for ref, message in reversed(self._messages.items())
                if message.key == key and ref.channel == place.channel and place.thread in (None, message.thread)
            ),
            None,
        )  # fmt: skip

    def edit(self, ref: MessageRef, view: View) -> None:
        message = self._messages.get(ref)
        if message is not None and not message.finished:
            message.view = view
            self._show(ref)

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        message = self._messages.get(ref)
        if message is None:
            thread = ref.id.rpartition("/")[0]
            ref = await self.post(Place(ref.channel, thread or None), view)
            self._messages[ref].finished = True
            return ref
        message.view, message.finished = view, True
        self._show(ref)
        return ref

    async def link(self, ref: MessageRef) -> str:
        """As the port says: what stands on a terminal has no address."""
        return ""

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        """As the port says: the reader of the thread is the person who asks in it."""
        if seat := self._seats.get(place.thread or ""):
            seat.whisper(view)

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        raise PlatformError("A terminal has no dialogs; answer with a message.", "no_dialogs")

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        raise PlatformError("A terminal has no dialogs; answer with a message.", "no_dialogs")

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        """As the port says: nobody but the bot and the one who asks writes here, and both are in the transcript."""
        return ThreadExcerpt(())

    def _show(self, ref: MessageRef) -> None:
        message = self._messages[ref]
        if seat := self._seats.get(message.thread):
            seat.show(Shown(ref.id, message.view))
