"""The chat platform and the terminal behind one `Platform`: each call goes where its channel, or its person, lives.

Sessions, approvals and recovery see one platform and one directory. So a proposal that was made in a chat is approved at
a terminal like any other, and its card in the chat tells.
"""

from chatops_bot.domain.people import Person
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.view import Modal, View
from chatops_bot.domain.voice import LOCAL_PREFIX
from chatops_bot.platforms.terminal.adapter import CHANNEL, TerminalPlatform
from chatops_bot.platforms.terminal.people import LocalPeople
from chatops_bot.ports import Directory, Place, Platform, PlatformLimits


class ChatAndTerminal:
    def __init__(self, chat: Platform, terminal: TerminalPlatform) -> None:
        self._chat = chat
        self._terminal = terminal

    def _of(self, channel: str) -> Platform:
        return self._terminal if channel == CHANNEL else self._chat

    @property
    def limits(self) -> PlatformLimits:
        """The tighter ones: what fits both fits each."""
        chat, terminal = self._chat.limits, self._terminal.limits
        return PlatformLimits(
            text_chars=min(chat.text_chars, terminal.text_chars),
            edit_interval=max(chat.edit_interval, terminal.edit_interval),
        )

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        return await self._of(place.channel).post(place, view, key)

    async def find(self, place: Place, key: str) -> MessageRef | None:
        return await self._of(place.channel).find(place, key)

    def edit(self, ref: MessageRef, view: View) -> None:
        self._of(ref.channel).edit(ref, view)

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        return await self._of(ref.channel).finish(ref, view)

    async def link(self, ref: MessageRef) -> str:
        return await self._of(ref.channel).link(ref)

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        await self._of(place.channel).whisper(place, person_id, view)

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        """Only a chat has triggers."""
        await self._chat.open_modal(trigger, modal)

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        await self._chat.update_modal(dialog, modal)

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        return await self._of(place.channel).earlier(place, before, limit)


class ChatAndLocalPeople:
    def __init__(self, chat: Directory, local: LocalPeople) -> None:
        self._chat = chat
        self._local = local

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        directory: Directory = self._local if user_id.startswith(LOCAL_PREFIX) else self._chat
        return await directory.person(user_id, channel, fresh=fresh)
