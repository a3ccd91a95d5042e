"""Who may ask, approve and reject which change: the one place that buttons, typed codes, the local API and the command line ask.

Three layers, and each can only say no. The platform says whether somebody is an active full member; bots, guests and the
departed are not, and may nothing. The role says what its people may ask for and approve (`people.RIGHTS`). The rules of this
installation take away from that. So deny beats allow, and nobody is allowed by silence. A policy is asked at the click and
once more right before the stored action runs.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chatops_bot.domain import people
from chatops_bot.domain import policy_phrases as say
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.freeze import Freeze
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import RIGHTS, Effect, Person, Risk, Role
from chatops_bot.domain.policy_rules import Rule, Who, canonical
from chatops_bot.domain.proposal import Via
from chatops_bot.domain.roster import Roster
from chatops_bot.domain.voice import LOCAL_PREFIX

MOST_CALLED = 10
"""People and groups that one card calls. More would be a broadcast, which everybody learns to ignore."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The change that a question about rights is about. `channel` is where it was asked for; `target` what it changes; `code` what
    people type to decide it, as far as it has one yet."""

    tool: str
    effect: Effect
    risk: Risk
    target: str
    requester_id: str
    channel: str
    code: str = "CODE"


class Policy:
    """The rules and freezes of this installation, and the roster of its people; without any, the table of roles."""

    def __init__(
        self, rules: Sequence[Rule] = (), freezes: Sequence[Freeze] = (), roster: Roster | None = None
    ) -> None:
        self.rules = tuple(rules)
        self.freezes = tuple(freezes)
        self.roster = roster or Roster()
        said = {"rights": RIGHTS, "rules": self.rules, "freezes": self.freezes}
        self._version = hashlib.sha256(canonical_json(canonical(said)).encode()).hexdigest()[:16]

    @property
    def version(self) -> str:
        """A hash of the rules, so that a decision is bound to those under which it was shown. Who has which role is not in it."""
        return self._version

    # -- asking ---------------------------------------------------------------------------------------------------------

    def may_speak(self, person: Person) -> Phrase | None:
        """None when `person` may use the bot at all: ask questions, stop their own, press follow-ups."""
        return people.may_ask(person, Effect.READ)

    def may_ask(self, person: Person, tool: str, effect: Effect, channel: str) -> Phrase | None:
        """None when `person` may call this tool from this channel; otherwise the reason for the refusal.

        Rules about a risk are not asked: it is known when the call is planned, and `may_propose` asks then.
        """
        covering = [rule for rule in self.rules if rule.scope.covers(tool, effect, None, channel)]
        return _may_ask(person, tool, effect, channel, covering)

    def may_propose(self, person: Person, subject: Subject) -> Phrase | None:
        """As `may_ask`, for a call that was planned, so that its risk is known."""
        return _may_ask(person, subject.tool, subject.effect, subject.channel, self.covering(subject))

    def may_answer(
        self, person: Person, tool: str, effect: Effect, channel: str, *, asked_id: str, asked_name: str
    ) -> Phrase | None:
        """None when `person` may fill in or cancel a form that asks somebody for this call's arguments.

        Whoever is asked may, while they may ask for the call; others only where a rule's `answer` says so.
        """
        covering = [rule for rule in self.rules if rule.scope.covers(tool, effect, None, channel)]
        others = [rule.answer for rule in covering if rule.answer is not None]
        if person.id != asked_id and not (others and all(who.includes(person) for who in others)):
            return say.NOT_YOURS.filled(name=asked_name)
        return _may_ask(person, tool, effect, channel, covering)

    def may_stop(self, person: Person, *, asker_id: str) -> Phrase | None:
        """None when `person` may stop a turn."""
        return people.may_stop(person, asker_id=asker_id)

    # -- deciding -------------------------------------------------------------------------------------------------------

    def may_approve(
        self, person: Person, subject: Subject, now: datetime, *, break_glass: str = "", via: Via = "button"
    ) -> Phrase | None:
        """None when `person` may approve at `now`; `break_glass` is their reason to do so in spite of a freeze.

        `via` is how they decide: at this machine's command line nobody is in the channel where the change was asked for.
        """
        return self._refused(person, subject, via) or self._frozen(person, subject, now, break_glass)

    def may_reject(self, person: Person, subject: Subject) -> Phrase | None:
        """None when `person` may reject: whoever could approve, and whoever asked. Neither hour nor place matters to a no."""
        refusal = people.may_reject(person, subject.effect, requester_id=subject.requester_id)
        if refusal is not None or person.id == subject.requester_id:
            return refusal
        covering = self.covering(subject)
        if any(rule.deny.includes(person) for rule in covering):
            return say.DENIED.filled(tool=subject.tool)
        if not _is_named(person, covering):
            return say.NOT_NAMED.filled(tool=subject.tool)
        return None

    def quorum(self, subject: Subject) -> int:
        """How many different people must approve, at least one: the highest count of the rules."""
        return max((rule.count for rule in self.covering(subject)), default=1)

    def could_approve(self, person: Person, subject: Subject, via: Via) -> bool:
        """Whether `person` may approve at some hour."""
        return self._refused(person, subject, via) is None

    def frozen(self, subject: Subject, now: datetime) -> Freeze | None:
        """A freeze that holds for `subject` at `now`: whoever approves then breaks the glass."""
        return next(self._freezes(subject, now), None)

    def frozen_on_card(self, subject: Subject, now: datetime) -> Phrase | None:
        """What a card says of a freeze that holds at `now`."""
        freeze = self.frozen(subject, now)
        return None if freeze is None else say.frozen_on_card(freeze, subject.code)

    def _refused(self, person: Person, subject: Subject, via: Via) -> Phrase | None:
        """Why `person` may not approve at any hour."""
        covering = self.covering(subject)
        wishes = [rule.own for rule in covering if rule.own is not None]
        refusal = people.may_approve(
            person, subject.effect, subject.risk,
            requester_id=subject.requester_id, own=all(wishes) if wishes else None,
        )  # fmt: skip
        if person.role is not Role.GUEST and any(rule.deny.includes(person) for rule in covering):
            return say.DENIED.filled(tool=subject.tool)
        if refusal is not None:
            return refusal
        if not _is_named(person, covering):
            return say.NOT_NAMED.filled(tool=subject.tool)
        for rule in covering:
            if rule.only_in is not None and (via == "local" or subject.channel not in rule.only_in):
                return say.only_in(subject.tool, rule.only_in)
        return None

    def _frozen(self, person: Person, subject: Subject, now: datetime, break_glass: str) -> Phrase | None:
        for freeze in self._freezes(subject, now):
            if not freeze.break_glass.includes(person):
                return say.frozen(freeze, subject.code)
            if not break_glass.strip():
                return say.BREAK_GLASS.filled(until=freeze.until, code=subject.code)
        return None

    # -- whom to call ---------------------------------------------------------------------------------------------------

    def approvers(self, subject: Subject) -> Who:
        """Whom a card calls: people and groups who may approve, by name, never roles; `MOST_CALLED` at most.

        Those whom the rules name, else those to whom config gives a role by name. Whoever asked is not called.
        """
        named = [rule.approve for rule in self.covering(subject) if rule.approve is not None]
        people_ids = dict.fromkeys([*(one for who in named for one in who.people), *self.roster.people])
        groups = dict.fromkeys([*(one for who in named for one in who.groups), *self.roster.groups])
        return _bounded(
            [one for one in people_ids if one != subject.requester_id and self._is_called(one, subject)],
            [one for one in groups if self._is_called_as(one, subject)],
        )

    def escalation(self, subject: Subject) -> Who:
        """Who is called when the time is nearly over and too few have approved: those whom the rules name, by name, and who may approve."""
        escalated = [rule.escalate for rule in self.covering(subject)]
        people_ids = dict.fromkeys(one for who in escalated for one in who.people)
        groups = dict.fromkeys(one for who in escalated for one in who.groups)
        return _bounded(
            [one for one in people_ids if self._is_called(one, subject)],
            [one for one in groups if self._is_called_as(one, subject)],
        )

    def reminder_after(self, subject: Subject) -> timedelta | None:
        """How long after it was posted a card asks once more; the shortest of the rules. None: no rule says."""
        said = (rule.remind_after for rule in self.covering(subject))
        return min((one for one in said if one is not None), default=None)

    def keep_for(self, subject: Subject) -> timedelta | None:
        """After how long an applied change is taken back unless somebody keeps it; the shortest of the rules. None: never."""
        said = (rule.keep_for for rule in self.covering(subject))
        return min((one for one in said if one is not None), default=None)

    def _is_called(self, person_id: str, subject: Subject) -> bool:
        if person_id.startswith(LOCAL_PREFIX):
            return False
        role = self.roster.people.get(person_id, self.roster.default)
        return self._refused(Person(person_id, person_id, role), subject, "button") is None

    def _is_called_as(self, group: str, subject: Subject) -> bool:
        """Whether somebody may approve for being in this group; of one without a role of its own, those who have one."""
        roles = [self.roster.groups[group]] if group in self.roster.groups else list(Role)
        members = (Person("", "", role, frozenset({group})) for role in roles)
        return any(self._refused(member, subject, "button") is None for member in members)

    # -- what covers it -------------------------------------------------------------------------------------------------

    def covering(self, subject: Subject) -> list[Rule]:
        """The rules that hold for `subject`."""
        about = (subject.tool, subject.effect, subject.risk, subject.channel)
        return [rule for rule in self.rules if rule.scope.covers(*about)]

    def _freezes(self, subject: Subject, now: datetime) -> Iterator[Freeze]:
        about = (subject.tool, subject.effect, subject.risk, subject.channel)
        return (freeze for freeze in self.freezes if freeze.scope.covers(*about) and freeze.is_on(now))


def _may_ask(
    person: Person, tool: str, effect: Effect, channel: str, covering: Sequence[Rule]
) -> Phrase | None:
    refusal = people.may_ask(person, effect)
    if refusal is not None:
        return refusal
    for rule in covering:
        if rule.deny.includes(person):
            return say.DENIED.filled(tool=tool)
        if rule.ask is not None and not rule.ask.includes(person):
            return say.may_not_ask(tool, person, rule.ask)
        if rule.only_in is not None and channel not in rule.only_in:
            return say.only_in(tool, rule.only_in)
    return None


def _is_named(person: Person, covering: Sequence[Rule]) -> bool:
    """Whether every rule that names approvers names this person."""
    return all(rule.approve is None or rule.approve.includes(person) for rule in covering)


def _bounded(people_ids: list[str], groups: list[str]) -> Who:
    kept = people_ids[:MOST_CALLED]
    return Who(people=tuple(kept), groups=tuple(groups[: MOST_CALLED - len(kept)]))
