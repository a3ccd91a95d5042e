"""What is wrong with a policy beyond its spelling: rules that nobody could meet, that undo each other, or that never hold.

Each rule is tried on the changes it covers, with the people that config names. Who is in a user group is not known when the
bot starts, so a group is taken to hold whoever would be needed; what then depends on it is said, and is looked at again with
the groups' members once they are known.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from chatops_bot.domain.people import RIGHTS, Effect, Person, Risk
from chatops_bot.domain.policy import Policy, Subject
from chatops_bot.domain.policy_rules import Rule, Who
from chatops_bot.domain.proposal import Via
from chatops_bot.domain.voice import LOCAL_PREFIX

_ASKER, _STRANGER, _ELSEWHERE = "an asker", "somebody without an entry", "another channel"


@dataclass(frozen=True, slots=True)
class Flaw:
    """`is_fatal`: the bot does not start with it. `key` is where the rule stands; `says` goes on from there: what, and what to do."""

    key: str
    says: str
    is_fatal: bool = True


def lint(policy: Policy, tools: Mapping[str, Effect], known: Sequence[Person] | None = None) -> list[Flaw]:
    """The flaws of `policy`, for these tools. `known` are the people whom config names and the members of its groups, as the
    platform vouches for them now.

    A config that makes nobody an approver is as good as one without a policy: cards and the doctor say so.
    """
    flaws = [flaw for rule in policy.rules for flaw in _of_one(rule, policy, tools)]
    crowd = _Crowd(policy, known)
    if flaws or (known is None and not crowd.has_approver):
        return flaws
    return list(dict.fromkeys(_of_all(policy, tools, crowd)))


def _of_one(rule: Rule, policy: Policy, tools: Mapping[str, Effect]) -> Iterator[Flaw]:
    for tool in sorted(rule.scope.tools - set(tools)):
        yield Flaw(rule.name, f"there is no tool {tool}; correct the name, or remove it.")
    named = rule.scope.tools or set(tools)
    effects = {tools[tool] for tool in named if tool in tools}
    if rule.scope.effects and effects and not effects & rule.scope.effects:
        yield Flaw(
            rule.name, "no tool has both one of its names and one of its effects; it never holds. Remove it."
        )
    for kind, allowed in (("ask", rule.ask), ("approve", rule.approve)):
        for shared in _shared(allowed, rule.deny):
            yield Flaw(
                rule.name, f"{shared} is named under {kind} and under deny; keep one, since deny beats allow."
            )
    for kind, who in (("approve", rule.approve), ("escalate", rule.escalate)):
        for person in who.people if who else ():
            role = policy.roster.people.get(person, policy.roster.default)
            if not RIGHTS[role].approves:
                says = f"{person} is named under {kind}, and as {role} may approve nothing; give them the role approver or admin."
                yield Flaw(rule.name, says)


def _shared(allowed: Who | None, denied: Who) -> list[str]:
    if allowed is None:
        return []
    return [
        *(one for one in allowed.people if one in denied.people),
        *(one for one in allowed.groups if one in denied.groups),
        *(one for one in allowed.roles if one in denied.roles),
    ]


class _Crowd:
    """Who could ask and approve: people by name, and stand-ins for those who have no name in config."""

    def __init__(self, policy: Policy, known: Sequence[Person] | None) -> None:
        self._policy = policy
        roster = policy.roster
        self.is_known = known is not None
        local = [one for one in roster.people if one.startswith(LOCAL_PREFIX)]
        self.named = [
            Person(one, one, roster.people[one]) for one in (local if self.is_known else roster.people)
        ]
        self.named += known or ()

    @property
    def has_approver(self) -> bool:
        roster = self._policy.roster
        return any(
            RIGHTS[one].approves for one in (*roster.people.values(), *roster.groups.values(), roster.local)
        )

    @property
    def has_groups(self) -> bool:
        """Whether groups, which nobody has looked into yet, may hold more people."""
        policy = self._policy
        lists = [who for rule in policy.rules for who in (rule.ask, rule.approve) if who is not None]
        return not self.is_known and bool(policy.roster.groups or any(who.groups for who in lists))

    def able(self, subject: Subject) -> Iterator[Person]:
        """The people by name who could approve, at some hour."""
        return (one for one in self.named if self._policy.could_approve(one, subject, _via(one)))

    def is_enough(self, subject: Subject) -> bool:
        """Whether enough could approve. A stand-in is as many as it takes."""
        strangers = self._strangers(subject)
        if any(self._policy.could_approve(one, subject, _via(one)) for one in strangers):
            return True
        needed = self._policy.quorum(subject)
        return len(list(islice(self.able(subject), needed))) == needed

    def asks_beside(self, those: Sequence[Person], subject: Subject) -> bool:
        """Whether anybody but `those` may ask for it."""
        roster = self._policy.roster
        members = [Person(_STRANGER, "", role) for role in (roster.default, *roster.channels.values())]
        everybody = (*self._strangers(subject), *members, *self.named)
        return any(self._policy.may_propose(one, subject) is None for one in everybody if one not in those)

    def _strangers(self, subject: Subject) -> Iterator[Person]:
        """People of this machine, and, while nobody has said who is in them, members of each group and of all that are not denied."""
        roster, covering = self._policy.roster, self._policy.covering(subject)
        yield Person(f"{LOCAL_PREFIX}{_STRANGER}", "", roster.local)
        if self.is_known:
            return
        lists = [who for rule in covering for who in (rule.ask, rule.approve) if who is not None]
        groups = {*roster.groups, *(group for who in lists for group in who.groups)}
        free = groups - {group for rule in covering for group in rule.deny.groups}
        for role in {*roster.people.values(), *roster.groups.values()} if groups else ():
            for held in ({group} for group in groups):
                yield Person(_STRANGER, "", role, frozenset(held))
            yield Person(_STRANGER, "", role, frozenset(free))


def _via(person: Person) -> Via:
    return "local" if person.id.startswith(LOCAL_PREFIX) else "button"


def _of_all(policy: Policy, tools: Mapping[str, Effect], crowd: _Crowd) -> Iterator[Flaw]:
    for subject in _subjects(policy, tools):
        covering = [rule.name for rule in policy.covering(subject) if _decides(rule)]
        if not covering and not crowd.is_known:
            continue
        key, by = (covering[0], " and ".join(covering)) if covering else ("roles", "the roles")
        about, needed = f"{subject.tool} ({subject.risk} risk)", policy.quorum(subject)
        if not crowd.is_enough(subject):
            says = (
                "an approval that nobody may give"
                if needed == 1
                else f"{needed} approvals, and fewer people may give one"
            )
            yield Flaw(key, f"by {by}, {about} takes {says}; name more people, or ask for less.")
            continue
        few = list(islice(crowd.able(subject), needed + 1))
        if needed > len(few) + 1 and not crowd.has_groups:
            says = (
                f"{about} takes {needed} approvals, and config names {len(few)} who may give one; the others would have to be "
                "different people of this machine. Name more people, or ask for less."
            )
            yield Flaw(key, f"by {by}, {says}", is_fatal=False)
        stuck = [one for one in few if _is_stuck(policy, subject, one, crowd)]
        if covering and stuck and len(few) <= needed:
            says = f"what {stuck[0].id} asks for with {about} the others are too few to approve; name one more person."
            yield Flaw(key, says, is_fatal=not crowd.asks_beside(stuck, subject))


def _is_stuck(policy: Policy, subject: Subject, person: Person, crowd: _Crowd) -> bool:
    """Whether this approver may ask for it, and then nobody is left to approve."""
    asked = replace(subject, requester_id=person.id)
    return policy.may_propose(person, asked) is None and not crowd.is_enough(asked)


def _decides(rule: Rule) -> bool:
    """Whether the rule says something about who approves."""
    return (
        rule.approve is not None
        or rule.deny != Who()
        or rule.count > 1
        or rule.own is not None
        or rule.only_in is not None
    )


def _subjects(policy: Policy, tools: Mapping[str, Effect]) -> Iterator[Subject]:
    """One change for each way in which the rules could cover one."""
    risks: Sequence[Risk] = tuple(Risk) if any(rule.scope.risks for rule in policy.rules) else (Risk.HIGH,)
    channels = {channel for rule in policy.rules for channel in (*rule.scope.channels, *(rule.only_in or ()))}
    for tool, effect in tools.items():
        if effect is Effect.READ:
            continue
        for risk in risks:
            for channel in (*sorted(channels), _ELSEWHERE):
                subject = Subject(tool, effect, risk, "", _ASKER, channel)
                if _can_be_asked(policy, subject):
                    yield subject


def _can_be_asked(policy: Policy, subject: Subject) -> bool:
    """What nobody may ask for there needs no approver: a rule may switch a tool off, or keep it to a channel."""
    covering = policy.covering(subject)
    return not any(
        rule.ask == Who() or (rule.only_in is not None and subject.channel not in rule.only_in)
        for rule in covering
    )
