"""What may change about a channel while the workspace runs: whether it is archived, and whether the bot is in it."""

import sqlite3

from pydantic import BaseModel, TypeAdapter

from chatops_bot.simulators.slack.database import read_meta, write_meta
from chatops_bot.simulators.slack.identity import Channel


class Room(BaseModel):
    """The state of one channel."""

    archived: bool = False
    bot_is_member: bool = True


_STORED = TypeAdapter(dict[str, Room])


class Rooms:
    """Reads need no database: what was stored is loaded once, by `load`."""

    def __init__(self) -> None:
        self._rooms: dict[str, Room] = {}

    def load(self, connection: sqlite3.Connection) -> None:
        self._rooms = _STORED.validate_json(read_meta(connection, "rooms") or "{}")

    def of(self, channel: Channel) -> Room:
        return self._rooms.get(channel.id, Room())

    def change(self, connection: sqlite3.Connection, channel: Channel, room: Room) -> None:
        self._rooms = {**self._rooms, channel.id: room}
        write_meta(connection, "rooms", _STORED.dump_json(self._rooms).decode())
