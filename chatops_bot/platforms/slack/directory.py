"""Who a Slack user is: the name, the time zone and the groups from Slack, the role from config.

A role needs both: config must give it, and Slack must say that its holder is an active full member of this workspace.
When Slack cannot be asked, what it said within the last hour still counts; after that nobody has a role. Of user groups only
those are looked up that config names; one that Slack does not tell about might be one that is denied something, so nobody has
a role until it does.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from chatops_bot.domain.errors import PlatformError, PlatformUnavailable
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.roster import Roster
from chatops_bot.domain.zones import zone_named
from chatops_bot.platforms.slack.api import Json, SlackApi
from chatops_bot.ports import Clock

log = logging.getLogger(__name__)

FRESH_FOR = 300.0
USABLE_FOR = 3600.0
_ALL = "all groups"
T = TypeVar("T")
_UNKNOWN_USER = ("user_not_found", "user_not_visible", "users_not_found")


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    is_full_member: bool
    timezone: str = ""


class SlackDirectory:
    """`roster` gives full members of the workspace their roles; everybody else is a guest. `groups` are those that config names,
    `timezone` is that of members for whom Slack tells none."""

    def __init__(
        self, api: SlackApi, clock: Clock, roster: Roster, groups: Collection[str] = (), timezone: str = "",
    ) -> None:  # fmt: skip
        self._api = api
        self._roster = roster
        self._groups = sorted(groups)
        self._timezone = timezone
        self._members = _Recent(clock, self._read_member)
        self._memberships = _Recent(clock, self._read_groups)
        self._channels: dict[str, str] = {}

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        """As `Directory` says. Raises PlatformUnavailable when Slack cannot be asked and did not say lately, or when it has to be
        `fresh`."""
        member, groups = await asyncio.gather(
            self._members.get(user_id, fresh=fresh), self._groups_of(user_id, fresh=fresh)
        )
        if not member.is_full_member:
            return Person(user_id, member.name, Role.GUEST)
        role = self._roster.role(user_id, groups, channel)
        return Person(user_id, member.name, role, groups, member.timezone or self._timezone)

    async def members(self, group: str) -> frozenset[str]:
        """The user ids of the members of a group that config names. Raises PlatformUnavailable as `person` does, and while there is
        no such group."""
        return (await self._memberships.get(_ALL))[group]

    async def _groups_of(self, user_id: str, *, fresh: bool) -> frozenset[str]:
        if not self._groups:
            return frozenset()
        members = await self._memberships.get(_ALL, fresh=fresh)
        return frozenset(group for group, ids in members.items() if user_id in ids)

    async def user_name(self, user_id: str) -> str:
        """The name to show, or the id when Slack cannot be asked."""
        try:
            return (await self._members.get(user_id)).name
        except PlatformUnavailable:
            return user_id

    async def channel_name(self, channel_id: str) -> str:
        """The channel's name without `#`, or the id when Slack does not tell."""
        if channel_id not in self._channels:
            try:
                answer = await self._api.read("conversations.info", channel=channel_id)
            except PlatformError as error:
                log.info("The name of channel %s is not known: %s", channel_id, error)
                return channel_id
            self._channels[channel_id] = str(answer.get("channel", {}).get("name") or channel_id)
        return self._channels[channel_id]

    async def _read_member(self, user_id: str) -> _Member:
        try:
            answer = await self._api.read("users.info", user=user_id)
        except PlatformUnavailable:
            raise
        except PlatformError as error:
            if error.code in _UNKNOWN_USER:
                return _Member(user_id, is_full_member=False)
            raise PlatformUnavailable(f"Slack does not say who {user_id} is: {error}", error.code) from error
        user = answer.get("user") or {}
        if user.get("id") != user_id or not user.get("team_id"):
            raise PlatformUnavailable(
                f"Slack does not say who {user_id} is: its answer names somebody else, or nobody.",
                "no_member",
            )
        home = (await self._api.identity()).team_id
        return _Member(_name(user) or user_id, _is_full_member(user, home), _timezone(user))

    async def _read_groups(self, _all: str) -> Mapping[str, frozenset[str]]:
        """The members of each group that config names. One call for all of them: right before a change runs each is asked for."""
        try:
            answer = await self._api.read("usergroups.list", include_users=True)
            listed = {str(group.get("id")): group for group in answer.get("usergroups", [])}
            return {group: await self._in_group(group, listed.get(group)) for group in self._groups}
        except PlatformUnavailable:
            raise
        except PlatformError as error:
            raise PlatformUnavailable(
                f"Slack does not say who is in user groups: {error}", error.code
            ) from error

    async def _in_group(self, group: str, listed: Json | None) -> frozenset[str]:
        if listed is None:
            raise PlatformUnavailable(
                f"Slack knows no active user group {group}, so it does not say who is in it.",
                "no_such_subteam",
            )
        users = listed.get("users") or []
        if len(users) < int(listed.get("user_count") or 0):
            answer = await self._api.read("usergroups.users.list", usergroup=group)
            users = answer.get("users") or []
        return frozenset(map(str, users))


class _Recent(Generic[T]):
    """What Slack said of something by its id, asked for anew by `read` after `FRESH_FOR` seconds."""

    def __init__(self, clock: Clock, read: Callable[[str], Awaitable[T]]) -> None:
        self._clock = clock
        self._read = read
        self._said: dict[str, tuple[float, T]] = {}

    async def get(self, key: str, *, fresh: bool = False) -> T:
        now = self._clock.monotonic()
        known = None if fresh else self._said.get(key)
        if known is not None and now - known[0] < FRESH_FOR:
            return known[1]
        try:
            said = await self._read(key)
        except PlatformUnavailable:
            if known is not None and now - known[0] < USABLE_FOR:
                return known[1]
            raise
        self._said[key] = (now, said)
        return said


def _name(user: Json) -> str:
    profile = user.get("profile", {})
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return next((str(name).strip() for name in names if name and str(name).strip()), "")


def _timezone(user: Json) -> str:
    """Where this machine does not know the zone, as if Slack had told none."""
    name = str(user.get("tz") or "")
    return name if zone_named(name) else ""


def _is_full_member(user: Json, home: str) -> bool:
    """An active person of this workspace. People of a shared channel's other workspace are guests here, whoever they are there.

    `is_app_user` bars nobody: it marks people who authorised the app.
    """
    barred = (
        "deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger", "is_workflow_bot", "is_invited_user",
        "is_forgotten",
    )  # fmt: skip
    if any(user.get(flag) for flag in barred) or user.get("id") == "USLACKBOT":
        return False
    teams = {user["team_id"], *user.get("enterprise_user", {}).get("teams", [])}
    return home in teams
