"""The bot looks again after an action was run, twice, and says on its card what it sees (`tool.Verdict`).

Where nobody knows what came of an action, anybody may have it look once more; what was seen already only gets a new time, so
that many presses do not make the record longer.

A look is a step of the proposal, by compare-and-set, so of several processes one look counts. It is due at a time after the
end of the action, so a restart forgets none and repeats none; one that comes late says so, and stands for all that were due.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.following import due_since
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Check, Proposal, ProposalState
from chatops_bot.domain.tool import Observation
from chatops_bot.ports import Clock, Proposals
from chatops_bot.rendering.escapes import exact
from chatops_bot.sessions.decisions import Decisions
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards
from chatops_bot.sessions.telling import Telling
from chatops_bot.tools.observing import Observer
from chatops_bot.tools.proposal_moves import NOBODY, ProposalMoves

LATE_AFTER = timedelta(minutes=1)

_NOTHING_TO_SEE = Phrase(
    "这类变更没有可供复查的依据；请在系统中核对 {target}。",
    "A change of this kind names nothing to look at; check {target} in the system itself.",
)
_MEANWHILE = Phrase(
    "卡片在此期间有变动，这次查看的结果没有记下；请先看卡片，需要时再按一次。",
    "The card changed meanwhile, so what was seen was not noted; read the card, and press again if it is still needed.",
)
_LATE = Phrase("{said}（晚了 {minutes} 分钟）", "{said} ({minutes} min late)")


class Watching:
    def __init__(
        self, *, proposals: Proposals, observer: Observer, moves: ProposalMoves, cards: ProposalCards,
        decisions: Decisions, telling: Telling, clock: Clock,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._observer = observer
        self._moves = moves
        self._cards = cards
        self._decisions = decisions
        self._telling = telling
        self._clock = clock

    async def press(self, event: ControlUsed) -> None:
        """A press on Look again, by somebody who may use the bot."""
        found = await self._decisions.opened(event)
        if found is None:
            return
        proposal, how = found
        if proposal.state is not ProposalState.OUTCOME_UNKNOWN:
            await self._telling.decided(proposal, event.person)
            return
        with bound(session=proposal.session, turn=proposal.turn_id, proposal=proposal.id):
            seen = await self._observer.look(proposal)
            if seen is None:
                await self._telling.about(
                    proposal, event.person, _NOTHING_TO_SEE.filled(target=exact(proposal.plan.target))
                )
            else:
                await self._note_asked(proposal, seen, event.person, how.told())

    async def look(self, proposal: Proposal, now: datetime) -> None:
        """Look at what came of the action, if a look is due; what is seen goes on the record, to the model and on the card."""
        due = due_since(proposal, now)
        if due is None:
            return
        with bound(session=proposal.session, turn=proposal.turn_id, proposal=proposal.id):
            seen = await self._observer.look(proposal)
            if seen is None:
                return
            said, late = seen.summary, now - due
            if late > LATE_AFTER:
                minutes = round(late.total_seconds() / 60)
                said = Phrase(
                    _LATE.zh.format(said=said.zh, minutes=minutes),
                    _LATE.en.format(said=said.en, minutes=minutes),
                )
            check = _check(replace(seen, summary=said), now)
            moved = await self._noted(proposal, check, (*proposal.checks, check), NOBODY, {})
            if moved is not None:
                await self._cards.settle(moved)

    async def _note_asked(
        self, proposal: Proposal, seen: Observation, person: Person, how: Mapping[str, object]
    ) -> None:
        """Note what was seen for `person`. What was seen the last time as well is neither kept nor told to the model twice."""
        check = _check(seen, self._clock.now())
        is_news = not proposal.checks or replace(proposal.checks[-1], at=check.at) != check
        checks = (*(proposal.checks if is_news else proposal.checks[:-1]), check)
        moved = await self._noted(proposal, check, checks, person, how)
        if moved is None:
            latest = await self._proposals.get(proposal.id) or proposal
            if latest.state is ProposalState.OUTCOME_UNKNOWN:
                await self._telling.about(latest, person, _MEANWHILE, "info")
            else:
                await self._telling.decided(latest, person)
        elif is_news:
            await self._cards.settle(moved)
        else:
            await self._cards.show_quietly(moved)

    async def _noted(
        self, proposal: Proposal, check: Check, checks: tuple[Check, ...], person: Person, how: Mapping[str, object]
    ) -> Proposal | None:  # fmt: skip
        told = {**how, "verdict": check.verdict, "seen": check.summary_en}
        return await self._moves.move(proposal, proposal.state, person, "looked_again", told, checks=checks)


def _check(seen: Observation, at: datetime) -> Check:
    return Check(at, seen.verdict, seen.summary.zh, seen.summary.en)
