"""The messages that show proposals: posted once, edited as states change, caught up after a crash.

A card is drawn from the stored proposal alone. It comes last: after the state, and after the effect.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.domain.view import View
from chatops_bot.ports import Clock, Place, Platform, Store
from chatops_bot.sessions.answered_calls import AnsweredCalls
from chatops_bot.sessions.recording import shown_record
from chatops_bot.sessions.refusals import Refusals, shown_nowhere

_log = logging.getLogger(__name__)

_NEVER_MADE = Phrase(
    "机器人在提出新的提案之前被中断；如仍需要，请重新发起请求。",
    "The bot was cut off before the new proposal was made; ask for the change again if it is still needed.",
)


def language_of(proposal: Proposal) -> Language:
    return "zh" if proposal.language == "zh" else "en"


class Draw(Protocol):
    def __call__(self, proposal: Proposal, *, codes: Mapping[str, str]) -> View:
        """The card of a proposal; `codes` are those of the proposals that it points to, by id."""


class ProposalCards:
    def __init__(self, store: Store, platform: Platform, draw: Draw, clock: Clock) -> None:
        self._store = store
        self._platform = platform
        self._draw = draw
        self._clock = clock
        self._refusals = Refusals(clock)
        self._calls = AnsweredCalls(platform)

    async def show(self, proposal: Proposal) -> None:
        """Post or update the proposal's card, unless it shows a newer state, and remember which revision it shows.

        Another process may show a newer one while this one is on its way; then that is shown again, on top of this one.
        """
        stored = await self._store.proposals.get(proposal.id)
        if stored is not None and stored.shown_revision > proposal.revision:
            return
        view = self._draw(proposal, codes=await self._codes(proposal))
        place = Place(proposal.session.channel, proposal.session.thread)
        known = proposal.card
        if known is None and proposal.revision > 0:
            # Somebody saw it and decided, so it was posted, in the moment in which its turn was stopped.
            known = await self._platform.find(place, proposal.id)
        if known is not None:
            card = await self._platform.finish(known, view)
        else:
            card = await self._platform.post(place, view, key=proposal.id)
        await self._calls.see(proposal)
        await self._store.audit.record(shown_record(proposal, card, self._clock.now()))
        await self._store.proposals.shown(proposal.id, card, proposal.revision)
        latest = await self._store.proposals.get(proposal.id)
        if latest is not None and latest.shown_revision > proposal.revision:
            await self.show(latest)

    async def _codes(self, proposal: Proposal) -> Mapping[str, str]:
        pointers = {
            proposal.supersedes, proposal.superseded_by, proposal.may_repeat, proposal.inverse_of, proposal.undone_by,
        }  # fmt: skip
        found = [await self._store.proposals.get(pointer) for pointer in pointers if pointer]
        return {other.id: other.code for other in found if other is not None}

    async def show_new(self, proposal: Proposal) -> None:
        """Post the card of a new proposal, and let those that it replaces point to it."""
        await self.show(proposal)
        if proposal.supersedes:
            for stale in await self._store.proposals.with_stale_card():
                if stale.superseded_by == proposal.id:
                    await self.catch_up(stale)

    async def show_quietly(self, proposal: Proposal) -> None:
        """Show the card; when the platform fails, it stays stale and is caught up later."""
        try:
            await self.show(proposal)
        except PlatformError as error:
            _log.warning("the card of proposal %s could not be updated: %s", proposal.id, error)
            await self._refused(proposal, error)
        else:
            self._refusals.forget(proposal.id)

    async def _refused(self, proposal: Proposal, error: PlatformError) -> None:
        if self._refusals.note(proposal.id, error):
            _log.warning("the card of proposal %s is given up", proposal.id)
            card = shown_nowhere(proposal.card, proposal.session)
            await self._store.proposals.shown(proposal.id, card, proposal.revision)

    async def show_note(self, proposal: Proposal, note: Phrase) -> None:
        """Show the card with a passing note that is not worth storing. Never raises PlatformError."""
        await self.show_quietly(replace(proposal, outcome_text=note.said_in(language_of(proposal))))

    async def catch_up(self, proposal: Proposal) -> None:
        """Bring up to date the card, and before it the session's memory, of a proposal whose last step they missed; a card that the
        platform refuses is tried again more and more rarely."""
        if self._refusals.rests(proposal.id):
            return
        try:
            if proposal.card is None:
                place = Place(proposal.session.channel, proposal.session.thread)
                proposal = replace(proposal, card=await self._platform.find(place, proposal.id))
        except PlatformError as error:
            _log.warning("the card of proposal %s could not be looked for: %s", proposal.id, error)
            await self._refused(proposal, error)
            return
        if proposal.state is ProposalState.SUPERSEDED:
            newer = await self._store.proposals.get(proposal.superseded_by)
            if newer is None:
                proposal = replace(proposal, outcome_text=_NEVER_MADE.said_in(language_of(proposal)))
        if proposal.is_open or await self._is_remembered(proposal):
            await self.show_quietly(proposal)
        else:
            await self.settle(proposal)

    async def settle(self, final: Proposal) -> None:
        """The proposal has reached an end: remember it in the session, then show it."""
        await self._store.transcripts.append(final.session, [await self._entry(final)])
        _log.info("the proposal is %s", final.state)
        await self.show_quietly(final)

    async def _is_remembered(self, proposal: Proposal) -> bool:
        entries = await self._store.transcripts.load(proposal.session)
        return any(
            isinstance(entry, ProposalDecided)
            and (entry.proposal_id, entry.state, entry.reason, entry.seen)
            == (proposal.id, proposal.state.value, proposal.reason, _seen(proposal))
            for entry in entries
        )

    async def _entry(self, final: Proposal) -> ProposalDecided:
        undone = await self._store.proposals.get(final.inverse_of) if final.inverse_of else None
        return ProposalDecided(
            turn_id=final.turn_id,
            at=final.decided_at or self._clock.now(),
            proposal_id=final.id,
            code=final.code,
            tool=final.tool,
            target=final.plan.target,
            state=final.state.value,
            person_name="" if _is_automatic(final) else final.decided_by_name,
            outcome=final.outcome_text,
            reason=final.reason,
            seen=_seen(final),
            takes_back=undone.code if undone is not None else "",
        )


def _is_automatic(proposal: Proposal) -> bool:
    """Whether nobody decided it, but a rule: its approvals are those of the change that it takes back, and older than itself."""
    votes = proposal.votes
    return bool(proposal.inverse_of and votes) and all(vote.at < proposal.created_at for vote in votes)


def _seen(proposal: Proposal) -> str:
    """What the newest look said, for the model."""
    if not proposal.checks:
        return ""
    check = proposal.checks[-1]
    return f"{check.verdict}, {check.at:%H:%M} UTC: {check.summary_en}"
