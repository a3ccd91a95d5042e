"""Modals: trigger ids, and each person's stack of open views.

A trigger id is good once and for three seconds, so it lives in memory. Views live in the database: a modal that a
person left open survives a restart.
"""

import hashlib
import json
import sqlite3
import time
from typing import Any

from chatops_bot.simulators.slack.clock import Clock
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import Identity, Person, random_id
from chatops_bot.simulators.slack.live import Live
from chatops_bot.simulators.slack.page_view import page_message
from chatops_bot.simulators.slack.posting import with_block_ids
from chatops_bot.simulators.slack.settings import Settings
from chatops_bot.simulators.slack.validation import VIEW_BYTES, check_view

Json = dict[str, Any]
STACK_DEPTH = 3


class Views:
    def __init__(
        self, identity: Identity, database: Database, live: Live, settings: Settings, clock: Clock
    ) -> None:
        self._identity = identity
        self._database = database
        self._live = live
        self._settings = settings
        self._clock = clock
        self._triggers: dict[str, tuple[Person, str | None, float, bool]] = {}

    def issue_trigger(self, person: Person, view_id: str | None = None) -> str:
        """A trigger for one views.open or views.push; `view_id` is the view that the click was made in."""
        now = self._clock.monotonic()
        kept = {key: value for key, value in self._triggers.items() if value[2] + 60 > now}
        trigger = f"{int(time.time() * 1000)}.{random_id('')}"
        self._triggers = {**kept, trigger: (person, view_id, now + self._settings.trigger_seconds, False)}
        return trigger

    async def open(self, trigger: str, view: Any) -> Json:
        """Show a new modal; raises invalid_trigger_id, expired_trigger_id, exchanged_trigger_id."""
        checked = self._checked(view)
        person, _ = self._exchange(trigger)
        opened = self._fresh(checked, random_id("V"))
        return await self._store(person, {**opened, "root_view_id": opened["id"]}, depth=0)

    async def push(self, trigger: str, view: Any) -> Json:
        """Stack a modal on the one that the trigger came from; raises also push_limit_reached."""
        checked = self._checked(view)
        person, below = self._exchange(trigger)
        return await self.push_on(person, below, checked)

    async def push_on(self, person: Person, below: str | None, view: Any) -> Json:
        checked = self._checked(view)
        under = None if below is None else await self.find(person, below)
        if under is None:
            raise SlackError("invalid_trigger_id")
        depth = await self._database.run(lambda connection: self._depth(connection, under["id"]))
        if depth + 1 >= STACK_DEPTH:
            raise SlackError("push_limit_reached")
        pushed = self._fresh(checked, random_id("V"))
        pushed |= {"root_view_id": under["root_view_id"], "previous_view_id": under["id"]}
        return await self._store(person, pushed, depth=depth + 1)

    async def update(
        self, view: Any, view_id: str | None, external_id: str | None, view_hash: str | None
    ) -> Json:
        """Replace a view's content; raises not_found, hash_conflict."""
        checked = self._checked(view)
        found = await self._database.run(lambda connection: _find_any(connection, view_id, external_id))
        person = None if found is None else self._identity.person_by_id(found[0])
        if found is None or person is None:
            raise SlackError("not_found")
        current, depth = found[1], found[2]
        if view_hash and view_hash != current["hash"]:
            raise SlackError("hash_conflict")
        changed = self._fresh(checked, current["id"])
        changed |= {key: current[key] for key in ("root_view_id", "previous_view_id")}
        return await self._store(person, changed, depth=depth)

    async def find(self, person: Person, view_id: str) -> Json | None:
        """An open view of the person."""
        found = await self._database.run(lambda connection: _find_any(connection, view_id, None))
        return found[1] if found is not None and found[0] == person.id else None

    async def top(self, person: Person) -> Json | None:
        """The view that the person sees now."""

        def work(connection: sqlite3.Connection) -> Json | None:
            row = connection.execute(
                "SELECT body FROM views WHERE user = ? ORDER BY depth DESC, rowid DESC LIMIT 1", (person.id,)
            ).fetchone()
            return None if row is None else json.loads(row[0])

        return await self._database.run(work)

    async def close(self, person: Person, view: Json, *, whole_stack: bool = False) -> None:
        """Take a view away, with those on top of it (and below it, for the whole stack)."""

        def work(connection: sqlite3.Connection) -> None:
            depth = 0 if whole_stack else self._depth(connection, view["id"])
            connection.execute(
                "DELETE FROM views WHERE user = ? AND root = ? AND depth >= ?",
                (person.id, view["root_view_id"], depth),
            )

        await self._database.run(work)
        self._live.push([person], {"type": "view", "view": self.page(await self.top(person))})

    def page(self, view: Json | None) -> Json | None:
        """The view with `html` in its texts, for the page."""
        if view is None:
            return None
        shown = page_message({"text": "", "blocks": view["blocks"]}, self._identity.names())
        return {**view, "blocks": shown.get("blocks", [])}

    def _checked(self, view: Any) -> Json:
        checked = check_view(view)
        if len(json.dumps(checked).encode()) > VIEW_BYTES:
            raise SlackError("view_too_large")
        return checked

    def _exchange(self, trigger: str) -> tuple[Person, str | None]:
        held = self._triggers.get(trigger)
        if held is None:
            raise SlackError("invalid_trigger_id")
        person, view_id, expiry, used = held
        if used:
            raise SlackError("exchanged_trigger_id")
        if self._clock.monotonic() > expiry:
            raise SlackError("expired_trigger_id")
        self._triggers[trigger] = (person, view_id, expiry, True)
        return person, view_id

    def _fresh(self, view: Json, view_id: str) -> Json:
        content = json.dumps(view, sort_keys=True)
        return {
            "id": view_id,
            "team_id": self._identity.team_id,
            "type": "modal",
            "blocks": with_block_ids(view["blocks"]),
            "private_metadata": view.get("private_metadata", ""),
            "callback_id": view.get("callback_id", ""),
            "external_id": view.get("external_id", ""),
            "state": {"values": {}},
            "hash": f"{int(time.time())}.{hashlib.sha256(content.encode()).hexdigest()[:8]}",
            "title": view["title"],
            "submit": view.get("submit"),
            "close": view.get("close"),
            "clear_on_close": bool(view.get("clear_on_close")),
            "notify_on_close": bool(view.get("notify_on_close")),
            "previous_view_id": None,
            "root_view_id": view_id,
            "app_id": self._identity.app_id,
            "app_installed_team_id": self._identity.team_id,
            "bot_id": self._identity.bot_id,
        }

    async def _store(self, person: Person, view: Json, depth: int) -> Json:
        """Raises duplicate_external_id: that name is unique in the workspace."""

        def work(connection: sqlite3.Connection) -> None:
            named = _find_any(connection, None, view["external_id"])
            if named is not None and named[1]["id"] != view["id"]:
                raise SlackError("duplicate_external_id")
            if depth == 0:
                # A person has one stack: a newly opened modal takes the place of another.
                connection.execute(
                    "DELETE FROM views WHERE user = ? AND root != ?", (person.id, view["root_view_id"])
                )
            connection.execute(
                "INSERT OR REPLACE INTO views VALUES (?, ?, ?, ?, ?)",
                (view["id"], person.id, view["root_view_id"], depth, json.dumps(view)),
            )

        await self._database.run(work)
        self._live.push([person], {"type": "view", "view": self.page(await self.top(person))})
        return view

    @staticmethod
    def _depth(connection: sqlite3.Connection, view_id: str) -> int:
        row = connection.execute("SELECT depth FROM views WHERE id = ?", (view_id,)).fetchone()
        return int(row[0]) if row else 0


def _find_any(
    connection: sqlite3.Connection, view_id: str | None, external_id: str | None
) -> tuple[str, Json, int] | None:
    for user, depth, body in connection.execute("SELECT user, depth, body FROM views"):
        view = json.loads(body)
        if (view_id and view["id"] == view_id) or (external_id and view["external_id"] == external_id):
            return str(user), view, int(depth)
    return None
