"""People, their roles, and what a role may do.

A role says which effects its people may ask for and which they may approve (the table `RIGHTS`). The approver's own
rights count, never the requester's. Whoever wants to know what a person may do asks the `policy`, which asks this table first.
"""

from dataclasses import dataclass
from enum import StrEnum

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.voice import voice


class Effect(StrEnum):
    """What a tool does to the world; `read` runs at once, the others only as approved proposals."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class Risk(StrEnum):
    """How much an approver should hesitate. High: runs code on a machine, or cannot be taken back."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Role(StrEnum):
    """A person's standing, by config. Guests and bots have none and are given `GUEST`."""

    GUEST = "guest"
    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    ADMIN = "admin"


def lower(one: Role, other: Role) -> Role:
    """Of two roles, the one that may do less: each may do all that those before it may."""
    return min(one, other, key=tuple(Role).index)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who writes or clicks, as the platform vouches for them. `id` is the platform's, `name` is untrusted text.

    `groups` are the ids of the platform's user groups that they are in, as far as config names them. `timezone` is the IANA name
    of their time zone, or of the one that config gives those whose own nobody tells; empty is UTC.
    """

    id: str
    name: str
    role: Role
    groups: frozenset[str] = frozenset()
    timezone: str = ""


@dataclass(frozen=True, slots=True)
class Rights:
    asks: frozenset[Effect] = frozenset()
    approves: frozenset[Effect] = frozenset()
    approves_own: frozenset[Risk] = frozenset()


_ALL_EFFECTS = frozenset(Effect)

RIGHTS: dict[Role, Rights] = {
    Role.GUEST: Rights(),
    Role.VIEWER: Rights(asks=frozenset({Effect.READ})),
    Role.OPERATOR: Rights(asks=_ALL_EFFECTS),
    Role.APPROVER: Rights(asks=_ALL_EFFECTS, approves=frozenset({Effect.WRITE})),
    Role.ADMIN: Rights(
        asks=_ALL_EFFECTS,
        approves=frozenset({Effect.WRITE, Effect.DESTRUCTIVE}),
        approves_own=frozenset({Risk.LOW, Risk.MEDIUM}),
    ),
}


def may_ask(person: Person, effect: Effect) -> Phrase | None:
    """None when `person` may ask for a tool of this `effect`; otherwise the reason for the refusal."""
    if effect in RIGHTS[person.role].asks:
        return None
    if person.role is Role.GUEST:
        return Phrase("访客不能使用本机器人。", "Guests cannot use this bot.")
    return Phrase(
        f"角色 {person.role} 只能查询，不能发起变更；请让 operator、approver 或 admin 来提出。",
        f"Role {person.role} may read but not ask for changes; ask an operator, approver or admin to request it.",
    )


def may_approve(
    person: Person, effect: Effect, risk: Risk, *, requester_id: str, own: bool | None = None
) -> Phrase | None:
    """None when `person` may approve a change of this effect and risk; otherwise the reason for the refusal.

    `own` says whether the requester may approve; None leaves it to the table. Whoever speaks with the requester's voice is them.
    """
    rights = RIGHTS[person.role]
    if effect not in rights.approves:
        who = _who_approves(effect)
        return Phrase(
            f"角色 {person.role} 不能批准此变更（{effect}）；需要 {who.zh} 来批准。",
            f"Role {person.role} may not approve this change ({effect}); it takes an {who.en}.",
        )
    may_own = risk in rights.approves_own if own is None else own
    if voice(person.id) == voice(requester_id) and not may_own:
        who = _who_approves(effect)
        if person.id != requester_id:
            return Phrase(
                f"本变更由这台机器上的人发起（风险：{risk}），而这台机器上的所有人只算作一个人；请让聊天中的另一位 {who.zh} 来处理。",
                f"Somebody at this machine asked for this change (risk: {risk}), and everybody here counts as one person, so another "
                f"{who.en} has to decide, in the chat.",
            )
        return Phrase(
            f"您是本变更的发起人（风险：{risk}），不能自己批准；请让另一位 {who.zh} 来处理。",
            f"You asked for this change yourself (risk: {risk}), so another {who.en} has to decide.",
        )
    return None


def may_stop(person: Person, *, asker_id: str) -> Phrase | None:
    """None when `person` may stop a turn: whoever asked, and whoever may ask for changes."""
    asks = RIGHTS[person.role].asks
    if Effect.WRITE in asks or (asks and person.id == asker_id):
        return None
    return Phrase(
        f"角色 {person.role} 只能停止自己的提问；请让提问人或 operator 来停止。",
        f"Role {person.role} may stop only its own questions; ask whoever asked this, or an operator.",
    )


def may_reject(person: Person, effect: Effect, *, requester_id: str) -> Phrase | None:
    """None when `person` may reject: whoever could approve such a change, and the person who asked for it."""
    rights = RIGHTS[person.role]
    if effect in rights.approves or (effect in rights.asks and person.id == requester_id):
        return None
    who = _who_approves(effect)
    return Phrase(
        f"角色 {person.role} 不能拒绝此变更（{effect}）；只有 {who.zh} 或发起人可以。",
        f"Role {person.role} may not reject this change ({effect}); only an {who.en} or the person who asked for it may.",
    )


def _who_approves(effect: Effect) -> Phrase:
    """The roles that approve changes of this effect, to be read in a sentence."""
    roles = [role for role, held in RIGHTS.items() if effect in held.approves]
    return Phrase(" 或 ".join(roles), " or ".join(roles))
