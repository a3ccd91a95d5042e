"""The sections `roles` and `policy` of the configuration, and the `Policy` that they make.

`docs/policy.md` says in words what they mean.
"""

from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from chatops_bot.domain.freeze import Freeze, Moment
from chatops_bot.domain.people import Effect, Risk, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_rules import Rule, Scope, Who
from chatops_bot.domain.roster import Roster
from chatops_bot.domain.zones import zone_named

RoleName = Literal["viewer", "operator", "approver", "admin"]
Id = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class Section(BaseModel):
    """A part of the configuration in which every key is known."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class RolesConfig(Section):
    people: dict[str, RoleName] = {}
    """The platform's user id → role."""
    groups: dict[str, RoleName] = {}
    """The id of a user group → the role of those of its members who have no role of their own."""
    channels: dict[str, Literal["viewer", "operator"]] = {}
    """Channel id → the role of its members who have none otherwise. Being in a channel makes nobody an approver."""
    default: Literal["viewer", "guest"] = "viewer"
    """The role of members who are not mapped."""


def _roles_in_short(value: Any) -> Any:
    """`[admin]` is short for `{roles: [admin]}`."""
    return {"roles": value} if isinstance(value, list) else value


class WhoConfig(Section):
    people: tuple[Id, ...] = ()
    groups: tuple[Id, ...] = ()
    roles: tuple[RoleName, ...] = ()

    def who(self) -> Who:
        return Who(self.people, self.groups, tuple(Role(role) for role in self.roles))


WhoGiven = Annotated[WhoConfig, BeforeValidator(_roles_in_short)]


class ScopeConfig(Section):
    tools: tuple[Id, ...] = ()
    effects: tuple[Effect, ...] = ()
    risks: tuple[Risk, ...] = ()
    channels: tuple[Id, ...] = ()

    def scope(self) -> Scope:
        return Scope(
            frozenset(self.tools), frozenset(self.effects), frozenset(self.risks), frozenset(self.channels)
        )


class RuleConfig(ScopeConfig):
    ask: WhoGiven | None = None
    approve: WhoGiven | None = None
    deny: WhoGiven = Field(default_factory=WhoConfig)
    count: int = Field(default=1, ge=1, le=10)
    own: bool | None = None
    only_in: tuple[Id, ...] | None = None
    answer: WhoGiven | None = None
    remind_minutes: float | None = Field(default=None, gt=0, le=24 * 60)
    escalate: WhoGiven = Field(default_factory=WhoConfig)
    keep_minutes: float | None = Field(default=None, gt=0, le=24 * 60)

    def rule(self, name: str) -> Rule:
        return Rule(
            name=name,
            scope=self.scope(),
            ask=_who(self.ask),
            approve=_who(self.approve),
            deny=self.deny.who(),
            count=self.count,
            own=self.own,
            only_in=None if self.only_in is None else frozenset(self.only_in),
            answer=_who(self.answer),
            remind_after=_minutes(self.remind_minutes),
            escalate=self.escalate.who(),
            keep_for=_minutes(self.keep_minutes),
        )


def _moment(value: Any) -> str:
    """YAML makes dates of some of what is meant as text, and a number of `22:00` without quotes."""
    if isinstance(value, datetime | date):
        value = value.isoformat(" ") if isinstance(value, datetime) else f"{value.isoformat()} 00:00"
        value = value[:16]
    if not isinstance(value, str):
        raise ValueError("write `Fri 18:00`, `22:00` or `2026-12-24 18:00`, in quotes")  # pydantic's way
    Moment.parse(value)
    return value


def _zone(value: str) -> str:
    if zone_named(value) is None:
        raise ValueError("there is no such time zone; write one such as Europe/Berlin")  # pydantic's way
    return value


Zone = Annotated[str, BeforeValidator(_zone)]
"""The IANA name of a time zone."""


class FreezeConfig(ScopeConfig):
    start: Annotated[str, BeforeValidator(_moment)] = Field(alias="from")
    to: Annotated[str, BeforeValidator(_moment)]
    zone: Zone = "UTC"
    break_glass: WhoGiven = Field(default_factory=WhoConfig)

    @model_validator(mode="after")
    def _is_a_window(self) -> "FreezeConfig":
        self.freeze()
        return self

    def freeze(self) -> Freeze:
        return Freeze(
            Moment.parse(self.start), Moment.parse(self.to), ZoneInfo(self.zone), self.scope(), self.break_glass.who()
        )  # fmt: skip


class PolicyConfig(Section):
    rules: tuple[RuleConfig, ...] = ()
    """All that cover a call hold together."""
    freezes: tuple[FreezeConfig, ...] = ()


def make_policy(policy: PolicyConfig, roster: Roster) -> Policy:
    """The policy that config writes down; a rule is named by where it stands."""
    rules = [rule.rule(f"policy.rules.{number}") for number, rule in enumerate(policy.rules)]
    return Policy(rules, [freeze.freeze() for freeze in policy.freezes], roster)


def make_roster(roles: RolesConfig, local: RoleName) -> Roster:
    """Who has which role."""
    return Roster(
        {person: Role(role) for person, role in roles.people.items()},
        {group: Role(role) for group, role in roles.groups.items()},
        {channel: Role(role) for channel, role in roles.channels.items()},
        Role(roles.default),
        Role(local),
    )


def named_groups(roles: RolesConfig, policy: PolicyConfig) -> frozenset[str]:
    """Every user group that config names: the directory looks up their members."""
    named = set(roles.groups)
    for rule in policy.rules:
        for who in (rule.ask, rule.approve, rule.deny, rule.answer, rule.escalate):
            named.update(who.groups if who else ())
    for freeze in policy.freezes:
        named.update(freeze.break_glass.groups)
    return frozenset(named)


def _who(given: WhoConfig | None) -> Who | None:
    return None if given is None else given.who()


def _minutes(minutes: float | None) -> timedelta | None:
    return None if minutes is None else timedelta(minutes=minutes)
