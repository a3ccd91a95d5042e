"""The bot looks again after an action was run, twice, and says on its card what it sees (`tool.Verdict`).

A look is a step of the proposal, by compare-and-set, so of several processes one look counts. It is due at a time after the
end of the action, so a restart forgets none and repeats none; one that comes late says so, and stands for all that were due.
"""

from datetime import datetime, timedelta

from chatops_bot.domain.following import due_since
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.proposal import Check, Proposal
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards
from chatops_bot.tools.observing import Observer
from chatops_bot.tools.proposal_moves import NOBODY, ProposalMoves

LATE_AFTER = timedelta(minutes=1)

_LATE = Phrase("{said}（晚了 {minutes} 分钟）", "{said} ({minutes} min late)")


class Watching:
    def __init__(self, observer: Observer, moves: ProposalMoves, cards: ProposalCards) -> None:
        self._observer = observer
        self._moves = moves
        self._cards = cards

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
            check = Check(now, seen.verdict, said.zh, said.en)
            moved = await self._moves.move(
                proposal, proposal.state, NOBODY, "looked_again", {"verdict": check.verdict, "seen": said.en},
                checks=(*proposal.checks, check),
            )  # fmt: skip
            if moved is not None:
                await self._cards.settle(moved)
