"""Who is in the workspace: one team, one bot, four people, a user group, two channels and a DM of each person with the bot.

Ids and tokens are drawn once at random and kept in the database, so a restarted workspace is the same workspace.
"""

import secrets
import sqlite3
import string
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from chatops_bot.simulators.slack.database import read_meta, write_meta

CallerKind = Literal["bot", "person", "app"]


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True)


class Person(_Stored):
    """`key` names the person in the driving interface; `dm` is their direct channel with the bot."""

    key: str
    id: str
    name: str
    role: str
    title: str
    color: str
    token: str
    dm: str
    tz: str = "UTC"


class Channel(_Stored):
    """`person` is the key of the one human member of an im, else None (everyone is a member)."""

    id: str
    name: str
    kind: Literal["channel", "im"]
    topic: str = ""
    person: str | None = None


class Group(_Stored):
    """A user group; `people` are the keys of its members."""

    id: str
    handle: str
    name: str
    people: tuple[str, ...]


class Caller(_Stored):
    """Whoever holds a token: the bot, a person, or the app itself (which may only open sockets)."""

    kind: CallerKind
    user_id: str
    person: Person | None = None


class Identity(_Stored):
    team_id: str
    team_name: str
    team_domain: str
    app_id: str
    bot_id: str
    bot_user_id: str
    bot_name: str
    bot_token: str
    app_token: str
    created: int
    people: tuple[Person, ...]
    channels: tuple[Channel, ...]
    groups: tuple[Group, ...] = ()

    def person(self, key: str) -> Person | None:
        return next((person for person in self.people if person.key == key), None)

    def person_by_id(self, user_id: str) -> Person | None:
        return next((person for person in self.people if person.id == user_id), None)

    def channel(self, channel_id: str) -> Channel | None:
        return next((channel for channel in self.channels if channel.id == channel_id), None)

    def caller(self, token: str) -> Caller | None:
        presented = token.encode(errors="replace")
        if secrets.compare_digest(presented, self.bot_token.encode()):
            return Caller(kind="bot", user_id=self.bot_user_id)
        if secrets.compare_digest(presented, self.app_token.encode()):
            return Caller(kind="app", user_id=self.bot_user_id)
        for person in self.people:
            if secrets.compare_digest(presented, person.token.encode()):
                return Caller(kind="person", user_id=person.id, person=person)
        return None

    def sees(self, user_id: str, channel: Channel) -> bool:
        """Whether the user is a member: everyone of a channel; of an im, its person and the bot."""
        if channel.person is None or user_id == self.bot_user_id:
            return True
        person = self.person(channel.person)
        return person is not None and person.id == user_id

    def members(self, channel: Channel) -> list[str]:
        return [user_id for user_id in self.user_ids() if self.sees(user_id, channel)]

    def user_ids(self) -> list[str]:
        return [*(person.id for person in self.people), self.bot_user_id]

    def names(self) -> Mapping[str, str]:
        """Display name of every user id and channel id."""
        names = {person.id: person.name for person in self.people}
        names[self.bot_user_id] = self.bot_name
        names.update({channel.id: channel.name for channel in self.channels})
        return names


PEOPLE = (
    ("vera", "Vera Lindqvist", "viewer", "Support lead", "#5865b8", "Europe/Stockholm"),
    ("oscar", "林浩然", "operator", "On-call engineer", "#1f7a6f", "Asia/Shanghai"),
    ("ana", "Ana Duarte", "approver", "Incident commander", "#b8457a", "Europe/Lisbon"),
    ("adam", "陈思远", "admin", "Platform owner", "#94601f", "Asia/Shanghai"),
)
CHANNELS = (("incidents", "Live incidents: one thread each"), ("ops", "Day-to-day operations"))
GROUPS = (("incident-leads", "Incident leads", ("ana", "adam")),)
BOT_COLOR = "#4b5563"
_ID_ALPHABET = string.ascii_uppercase + string.digits


def random_id(prefix: str) -> str:
    """An id that looks like Slack's: the type's letter(s) and ten capitals or digits."""
    return prefix + "".join(secrets.choice(_ID_ALPHABET) for _ in range(10))


def load_or_create(connection: sqlite3.Connection, now: float) -> Identity:
    stored = read_meta(connection, "identity")
    if stored is not None:
        return Identity.model_validate_json(stored)
    identity = _create(now)
    write_meta(connection, "identity", identity.model_dump_json())
    return identity


def _create(now: float) -> Identity:
    people = tuple(
        Person(
            key=key,
            id=random_id("U"),
            name=name,
            role=role,
            title=title,
            color=color,
            token="xoxp-" + secrets.token_hex(24),
            dm=random_id("D"),
            tz=tz,
        )
        for key, name, role, title, color, tz in PEOPLE
    )
    rooms = [Channel(id=random_id("C"), name=name, kind="channel", topic=topic) for name, topic in CHANNELS]
    direct = [Channel(id=person.dm, name=person.key, kind="im", person=person.key) for person in people]
    return Identity(
        team_id=random_id("T"),
        team_name="Night Shift",
        team_domain="night-shift",
        app_id=random_id("A"),
        bot_id=random_id("B"),
        bot_user_id=random_id("U"),
        bot_name="opsbot",
        bot_token="xoxb-" + secrets.token_hex(24),
        app_token="xapp-" + secrets.token_hex(24),
        created=int(now),
        people=people,
        channels=(*rooms, *direct),
        groups=tuple(
            Group(id=random_id("S"), handle=handle, name=name, people=keys) for handle, name, keys in GROUPS
        ),
    )
