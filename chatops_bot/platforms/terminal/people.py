"""Who a person on this machine is: the name from the operating system, the role from config.

The system vouches for the user at the other end of a Unix socket, so nothing that a client says about itself counts. Config
gives local people a role (`local.role`), or one of them a role of their own (`roles.people` with the id `local:<user>`);
a person may act with less than they were given, never with more.
"""

from collections.abc import Mapping

from chatops_bot.domain.errors import ChatopsError
from chatops_bot.domain.people import Person, Role, lower
from chatops_bot.domain.voice import LOCAL_PREFIX


class LocalRefused(ChatopsError):
    """Somebody on this machine asked for what they may not have, or what makes no sense; the message says which."""


class LocalPeople:
    """`roles` maps ids to roles; local people who are not in it have `default_role`. `timezone` is everybody's."""

    def __init__(self, roles: Mapping[str, Role], default_role: Role, timezone: str = "") -> None:
        self._roles = roles
        self._default_role = default_role
        self._timezone = timezone

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        """As `Directory` says; an id that is not a local person's is a guest."""
        if not user_id.startswith(LOCAL_PREFIX):
            return Person(user_id, user_id, Role.GUEST)
        return Person(user_id, user_id, self._granted(user_id), timezone=self._timezone)

    def acting(self, user: str, role: Role | None = None) -> Person:
        """The person for the system's user name, with `role` or all that was given. Raises LocalRefused for more than that."""
        person_id = f"{LOCAL_PREFIX}{user}"
        granted = self._granted(person_id)
        if role is not None and lower(role, granted) is not role:
            raise LocalRefused(
                f"{person_id} may act as {granted} at most, not as {role}; "
                f"local.role in the bot's configuration grants more."
            )
        return Person(person_id, person_id, role or granted, timezone=self._timezone)

    def _granted(self, person_id: str) -> Role:
        return self._roles.get(person_id, self._default_role)
