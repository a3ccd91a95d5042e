"""Who a Slack user is: the name from Slack, the role from config.

A role needs both: config must give it, and Slack must say that its holder is an active full member of this workspace.
When Slack cannot be asked, what it said within the last hour still counts; after that nobody has a role.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from chatops_bot.domain.errors import PlatformError, PlatformUnavailable
from chatops_bot.domain.people import Person, Role
from chatops_bot.platforms.slack.api import Json, SlackApi
from chatops_bot.ports import Clock

log = logging.getLogger(__name__)

FRESH_FOR = 300.0
USABLE_FOR = 3600.0
_UNKNOWN_USER = ("user_not_found", "user_not_visible", "users_not_found")


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    is_full_member: bool
    read_at: float


class SlackDirectory:
    """`roles` maps user ids to roles; full members without one have `default_role`, everybody else is a guest."""

    def __init__(
        self,
        api: SlackApi,
        clock: Clock,
        roles: Mapping[str, Role],
        default_role: Role = Role.VIEWER,
    ) -> None:
        self._api = api
        self._clock = clock
        self._roles = roles
        self._default_role = default_role
        self._members: dict[str, _Member] = {}
        self._channels: dict[str, str] = {}

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        """The person with their role. Raises PlatformUnavailable when Slack cannot be asked and did not say lately, or when
        it has to be `fresh`."""
        member = await self._member(user_id, fresh=fresh)
        role = self._roles.get(user_id, self._default_role) if member.is_full_member else Role.GUEST
        return Person(id=user_id, name=member.name, role=role)

    async def user_name(self, user_id: str) -> str:
        """The name to show, or the id when Slack cannot be asked."""
        try:
            return (await self._member(user_id)).name
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

    async def _member(self, user_id: str, *, fresh: bool = False) -> _Member:
        now = self._clock.monotonic()
        known = None if fresh else self._members.get(user_id)
        if known is not None and now - known.read_at < FRESH_FOR:
            return known
        try:
            member = await self._read(user_id, now)
        except PlatformUnavailable:
            if known is not None and now - known.read_at < USABLE_FOR:
                return known
            raise
        self._members[user_id] = member
        return member

    async def _read(self, user_id: str, now: float) -> _Member:
        try:
            answer = await self._api.read("users.info", user=user_id)
        except PlatformUnavailable:
            raise
        except PlatformError as error:
            if error.code in _UNKNOWN_USER:
                return _Member(user_id, is_full_member=False, read_at=now)
            raise PlatformUnavailable(f"Slack does not say who {user_id} is: {error}", error.code) from error
        user = answer.get("user", {})
        home = (await self._api.identity()).team_id
        return _Member(_name(user) or user_id, _is_full_member(user, home), now)


def _name(user: Json) -> str:
    profile = user.get("profile", {})
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return next((str(name).strip() for name in names if name and str(name).strip()), "")


def _is_full_member(user: Json, home: str) -> bool:
    """An active person of this workspace. People of a shared channel's other workspace are guests here, whoever they are there."""
    barred = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger", "is_workflow_bot")
    if any(user.get(flag) for flag in barred) or user.get("id") == "USLACKBOT":
        return False
    teams = {user.get("team_id", home), *user.get("enterprise_user", {}).get("teams", [])}
    return home in teams
