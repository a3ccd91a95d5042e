"""Which role somebody has: the most exact entry that config has for them.

A person's own entry wins over their groups', the groups' (the highest of them) over the channel's, the channel's over the
default. An entry is one half of a role; the other half is that the platform vouches for an active full member.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from chatops_bot.domain.people import Role


@dataclass(frozen=True, slots=True)
class Roster:
    """`people` and `groups` map the platform's ids to roles, `channels` a channel to the role of its unmapped members.

    `local` is the role of people of this machine who have no entry of their own.
    """

    people: Mapping[str, Role] = field(default_factory=dict)
    groups: Mapping[str, Role] = field(default_factory=dict)
    channels: Mapping[str, Role] = field(default_factory=dict)
    default: Role = Role.VIEWER
    local: Role = Role.VIEWER

    def role(self, person_id: str, groups: Collection[str] = (), channel: str = "") -> Role:
        """The role of a full member who is in these `groups`, in this channel."""
        if person_id in self.people:
            return self.people[person_id]
        held = [self.groups[group] for group in groups if group in self.groups]
        if held:
            return max(held, key=tuple(Role).index)
        return self.channels.get(channel, self.default)
