"""A chat that is a file, and so outlives every process that writes to it. Whispers are messages to one person."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.view import Button, Buttons, Modal, View
from chatops_bot.platforms.terminal.frames import view_from_json, view_to_json
from chatops_bot.ports import Place, PlatformLimits
from tests.kills.taps import Taps

WHISPERED = "whisper"
_TABLE = "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, channel TEXT, key TEXT, view TEXT)"


class Wall:
    """A platform on which what was sent stands at once, whether or not the sender lives to hear of it."""

    limits = PlatformLimits(text_chars=3000, edit_interval=0)

    def __init__(self, path: Path, taps: Taps) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, timeout=20)
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.execute(_TABLE)
        self._taps = taps

    def close(self) -> None:
        self._db.close()

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        async def send() -> MessageRef:
            return MessageRef(place.channel, str(self._insert(place.channel, key, view)))

        return await self._taps.around("platform.post", send)

    async def find(self, place: Place, key: str) -> MessageRef | None:
        async def look() -> MessageRef | None:
            row = self._db.execute("SELECT id FROM messages WHERE key = ? ORDER BY id", (key,)).fetchone()
            return None if row is None else MessageRef(place.channel, str(row[0]))

        return await self._taps.around("platform.find", look)

    def edit(self, ref: MessageRef, view: View) -> None:
        self._update(ref, view)

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        async def send() -> MessageRef:
            self._update(ref, view)
            return ref

        return await self._taps.around("platform.finish", send)

    async def link(self, ref: MessageRef) -> str:
        return f"https://chat.example/{ref.id}"

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        async def send() -> None:
            self._insert(place.channel, f"{WHISPERED} {person_id}", view)

        await self._taps.around("platform.whisper", send)

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        raise PlatformError("A wall has no dialogs.", "no_dialogs")

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        raise PlatformError("A wall has no dialogs.", "no_dialogs")

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        return ThreadExcerpt(())

    def _insert(self, channel: str, key: str, view: View) -> int:
        done = self._db.execute(
            "INSERT INTO messages (channel, key, view) VALUES (?, ?, ?)", (channel, key, _text(view))
        )
        assert done.lastrowid is not None
        return done.lastrowid

    def _update(self, ref: MessageRef, view: View) -> None:
        self._db.execute("UPDATE messages SET view = ? WHERE id = ?", (_text(view), ref.id))

    # -- what people see ------------------------------------------------------------------------------------------------

    def messages(self, key: str) -> list[View]:
        """What stands there under keys that are like `key`, oldest first."""
        rows = self._db.execute("SELECT view FROM messages WHERE key LIKE ? ORDER BY id", (key,))
        return [view_from_json(json.loads(text)) for (text,) in rows]

    def button(self, key: str, control: str) -> tuple[str, MessageRef] | None:
        """The value of the message's button of this kind, and where it stands; None when it offers none."""
        rows = self._db.execute(
            "SELECT id, channel, view FROM messages WHERE key = ? ORDER BY id DESC LIMIT 1", (key,)
        )
        for number, channel, text in rows.fetchall():
            for button in buttons_of(view_from_json(json.loads(text))):
                if button.control == control:
                    return button.value, MessageRef(channel, str(number))
        return None


def buttons_of(view: View) -> list[Button]:
    return [button for block in view.blocks if isinstance(block, Buttons) for button in block.buttons]


def _text(view: View) -> str:
    value: dict[str, Any] = view_to_json(view)
    return json.dumps(value)
