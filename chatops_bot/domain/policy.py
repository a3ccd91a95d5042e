"""Who may ask, approve and reject which change: the one place that buttons, typed codes, the local API and the command line ask.

Deny beats allow, and nobody is allowed by silence. A policy is asked at the click and once more right before the stored
action runs.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import RIGHTS, Effect, Person, Risk, may_approve, may_ask, may_reject


@dataclass(frozen=True, slots=True)
class Subject:
    """The change that a question about rights is about. `channel` is where it was asked for; `target` what it changes."""

    tool: str
    effect: Effect
    risk: Risk
    target: str
    requester_id: str
    channel: str


class Policy:
    """The rules of this installation; without any of their own, the table of roles."""

    @property
    def version(self) -> str:
        """A hash of the rules, so that a decision is bound to those under which it was shown."""
        return hashlib.sha256(repr(sorted(RIGHTS)).encode()).hexdigest()[:16]

    def may_ask(self, person: Person, tool: str, effect: Effect, channel: str) -> Phrase | None:
        """None when `person` may call this tool from this channel; otherwise the reason for the refusal."""
        return may_ask(person, effect)

    def may_approve(
        self, person: Person, subject: Subject, now: datetime, *, break_glass: str = ""
    ) -> Phrase | None:
        """None when `person` may approve at `now`; `break_glass` is their reason to do so in spite of a freeze."""
        return may_approve(person, subject.effect, subject.risk, requester_id=subject.requester_id)

    def may_reject(self, person: Person, subject: Subject) -> Phrase | None:
        """None when `person` may reject: whoever could approve, and whoever asked."""
        return may_reject(person, subject.effect, requester_id=subject.requester_id)

    def quorum(self, subject: Subject) -> int:
        """How many different people must approve, at least one."""
        return 1
