"""Other apps of the workspace, such as the alert bots whose messages stand in incident channels.

An app comes into being when a driver first posts in its name, and keeps its ids from then on.
"""

import sqlite3

from pydantic import BaseModel, ConfigDict, TypeAdapter

from chatops_bot.simulators.slack.database import read_meta, write_meta
from chatops_bot.simulators.slack.identity import Identity, random_id


class App(BaseModel):
    """One app with its bot user."""

    model_config = ConfigDict(frozen=True)

    name: str
    app_id: str
    bot_id: str
    user_id: str


_STORED = TypeAdapter(list[App])


class Apps:
    """Our bot's app and all others. Reads need no database: what was stored is loaded once, by `load`."""

    def __init__(self, identity: Identity) -> None:
        ours = App(
            name=identity.bot_name,
            app_id=identity.app_id,
            bot_id=identity.bot_id,
            user_id=identity.bot_user_id,
        )
        self._known: tuple[App, ...] = (ours,)

    def load(self, connection: sqlite3.Connection) -> None:
        self._known = (self._known[0], *_STORED.validate_json(read_meta(connection, "apps") or "[]"))

    def named(self, connection: sqlite3.Connection, name: str) -> App:
        """The app of this name, made when there is none yet; never ours, whatever it is called."""
        others = self.others()
        for app in others:
            if app.name == name:
                return app
        app = App(name=name, app_id=random_id("A"), bot_id=random_id("B"), user_id=random_id("U"))
        write_meta(connection, "apps", _STORED.dump_json([*others, app]).decode())
        self._known = (*self._known, app)
        return app

    def all(self) -> tuple[App, ...]:
        """Ours first."""
        return self._known

    def others(self) -> list[App]:
        return list(self._known[1:])

    def by_user(self, user_id: str) -> App | None:
        return next((app for app in self._known if app.user_id == user_id), None)

    def by_bot(self, bot_id: str) -> App | None:
        return next((app for app in self._known if app.bot_id == bot_id), None)
