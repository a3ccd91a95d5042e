"""A card that nobody decides about asks once more, then asks the policy's next people.

Each is a step of the proposal, made by compare-and-set before anybody is called, so that of several processes one asks, and
nobody is called about what was decided meanwhile. It is a message of its own, since an edit notifies nobody. A crash between
the step and its message leaves a step without one; the message is looked for by its key, and posted if it is not there.

The beat of the sweep (seconds) is finer than anything a policy says (minutes), so nothing wakes for a moment that is due.
"""

import logging
from datetime import datetime, timedelta

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_rules import Who
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.voice import LOCAL_PREFIX
from chatops_bot.ports import Clock, Place, Platform, Proposals
from chatops_bot.rendering.reminder import Reminder, reminder_view
from chatops_bot.sessions.answered_calls import call_key
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards
from chatops_bot.tools.drafting import subject_of
from chatops_bot.tools.proposal_moves import NOBODY, ProposalMoves

_log = logging.getLogger(__name__)

ASKS_AGAIN_AT, ESCALATES_AT = 1 / 2, 3 / 4
"""Of a proposal's lifetime, where no rule says when."""
SETTLED_AFTER = timedelta(seconds=30)
"""A step this old whose message this process has not seen is one of a process that died, or of one that Slack refused."""


def approvers_called(policy: Policy, proposal: Proposal) -> tuple[str, ...]:
    """The platform ids of those who may approve and have not yet: people first, then groups."""
    return _ids(policy.approvers(subject_of(proposal)), proposal)


class Reminders:
    def __init__(
        self, *, proposals: Proposals, platform: Platform, policy: Policy, moves: ProposalMoves, cards: ProposalCards,
        redactor: Redactor, clock: Clock,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._platform = platform
        self._policy = policy
        self._moves = moves
        self._cards = cards
        self._redactor = redactor
        self._clock = clock
        self._posted: set[str] = set()

    async def sweep(self) -> None:
        """Ask for what is due now, and see to it that what was asked before can be seen."""
        now = self._clock.now()
        pending = await self._proposals.in_states(frozenset({ProposalState.PENDING}))
        waiting = [one for one in pending if one.card is not None and now < one.expires_at]
        self._posted &= {call_key(one, kind) for one in waiting for kind, _ in _asked(one)}
        for proposal in waiting:
            with bound(session=proposal.session, turn=proposal.turn_id, proposal=proposal.id):
                kind = self._due(proposal, now)
                if kind is not None:
                    await self._ask(proposal, kind, now)
                else:
                    await self._make_sure(proposal, now)

    def _due(self, proposal: Proposal, now: datetime) -> Reminder | None:
        """Who comes late asks the next people at once, and not the first ones as well."""
        if proposal.escalated_at is not None:
            return None
        lifetime = proposal.expires_at - proposal.created_at
        if now >= proposal.created_at + lifetime * ESCALATES_AT and self._called(proposal, "escalated"):
            return "escalated"
        after = self._policy.reminder_after(subject_of(proposal)) or lifetime * ASKS_AGAIN_AT
        is_due = proposal.asked_again_at is None and now >= proposal.created_at + after
        return "asked_again" if is_due else None

    def _called(self, proposal: Proposal, kind: Reminder) -> tuple[str, ...]:
        if kind == "asked_again":
            return approvers_called(self._policy, proposal)
        return _ids(self._policy.escalation(subject_of(proposal)), proposal)

    async def _ask(self, proposal: Proposal, kind: Reminder, now: datetime) -> None:
        called = self._called(proposal, kind)
        moved = await self._moves.move(
            proposal, ProposalState.PENDING, NOBODY, kind, {"called": list(called)}, **{f"{kind}_at": now}
        )
        if moved is not None:
            await self._post(moved, kind)
            await self._cards.show_quietly(moved)

    async def _make_sure(self, proposal: Proposal, now: datetime) -> None:
        for kind, at in _asked(proposal):
            key = call_key(proposal, kind)
            if key in self._posted or now - at < SETTLED_AFTER:
                continue
            try:
                found = await self._platform.find(_place(proposal), key)
            except PlatformError as error:
                _log.warning("the reminder of proposal %s could not be looked for: %s", proposal.id, error)
                continue
            if found is None:
                await self._post(proposal, kind)
            else:
                self._posted.add(key)

    async def _post(self, asked: Proposal, kind: Reminder) -> None:
        latest = await self._proposals.get(asked.id)
        if latest is None or not latest.is_open:
            return
        try:
            link = await self._platform.link(latest.card) if latest.card is not None else ""
            view = reminder_view(latest, kind, self._called(latest, kind), link, self._redactor.text)
            await self._platform.post(_place(latest), view, key=call_key(latest, kind))
        except PlatformError as error:
            _log.warning("the reminder of proposal %s could not be posted: %s", latest.id, error)
            return
        self._posted.add(call_key(latest, kind))
        after = await self._proposals.get(asked.id)
        if after is not None and not after.is_open:  # decided while it was on its way
            await self._cards.show_quietly(after)


def _asked(proposal: Proposal) -> list[tuple[Reminder, datetime]]:
    """The reminders of a proposal so far, and when."""
    both: tuple[tuple[Reminder, datetime | None], ...] = (
        ("asked_again", proposal.asked_again_at),
        ("escalated", proposal.escalated_at),
    )
    return [(kind, at) for kind, at in both if at is not None]


def _ids(who: Who, proposal: Proposal) -> tuple[str, ...]:
    voted = {vote.person_id for vote in proposal.votes}
    people = (one for one in who.people if one not in voted and not one.startswith(LOCAL_PREFIX))
    return (*people, *who.groups)


def _place(proposal: Proposal) -> Place:
    return Place(proposal.session.channel, proposal.session.thread)
