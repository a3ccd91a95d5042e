"""Undo: what takes an applied action back is proposed like any other change, on a card of its own.

The applied proposal notes first, by compare-and-set, which proposal takes it back, so that two presses make one.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from chatops_bot.domain.errors import ToolError, ToolRefused
from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.ports import Proposals
from chatops_bot.sessions.decisions import Decisions, How
from chatops_bot.sessions.inverses import IN_THE_WAY, newest_inverse, pointed
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards
from chatops_bot.sessions.telling import Telling
from chatops_bot.tools.inverting import Inverter
from chatops_bot.tools.proposal_moves import NOBODY, ProposalMoves

_CANNOT = Phrase("无法撤销：{why_zh}", "It cannot be taken back: {why_en}")


class Undoing:
    def __init__(
        self, *, proposals: Proposals, inverter: Inverter, moves: ProposalMoves, cards: ProposalCards,
        decisions: Decisions, telling: Telling, redactor: Redactor,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._inverter = inverter
        self._moves = moves
        self._cards = cards
        self._decisions = decisions
        self._telling = telling
        self._redactor = redactor
        self._missing: set[str] = set()

    async def press(self, event: ControlUsed) -> None:
        """A press on Undo."""
        found = await self._decisions.opened(event)
        if found is not None:
            applied, how = found
            with bound(session=applied.session, turn=applied.turn_id, proposal=applied.id):
                await self.undo(applied, event.person, how)

    async def undo(self, applied: Proposal, person: Person, how: How) -> None:
        """Propose the inverse of `applied` for `person`, who may ask for such a change."""
        if applied.state is not ProposalState.APPLIED:
            await self._telling.decided(applied, person)
            return
        try:
            draft = await self._inverter.draft(applied, person)
        except ToolError as error:
            why = self._redactor.phrase(error.phrase)
            if isinstance(error, ToolRefused):
                await self._moves.refuse(applied, person, why, how.told())
            await self._telling.about(applied, person, _CANNOT.filled(why_zh=why.zh, why_en=why.en))
            return
        noted = await pointed(self._proposals, self._moves, self._telling, applied, draft, person, how.told())
        if noted is not None:
            await self._moves.add(draft, person, how.told())
            await self._cards.show_new(draft)
            await self._cards.show_quietly(noted)

    async def follow(self, applied: Proposal, now: datetime) -> None:
        """Note that `applied` was taken back, or let Undo be pressed again where that came to nothing: where what takes it back
        ended otherwise, or was never made since its process died (seen missing twice in a row). `Reverting` counts on this: as long
        as `undone_by` names what nobody can find, it leaves `applied` alone."""
        if not applied.undone_by or applied.taken_back_at is not None:
            return
        inverse = await newest_inverse(self._proposals, applied)
        if inverse is None and applied.id not in self._missing:
            self._missing.add(applied.id)
            return
        self._missing.discard(applied.id)
        content = {"undone_by": applied.undone_by if inverse is None else inverse.id}
        if inverse is None:
            await self._free(applied, "undo_lost", content)
        elif inverse.state is ProposalState.APPLIED:
            taken_back = await self._moves.move(
                applied, ProposalState.APPLIED, NOBODY, "taken_back", content, taken_back_at=now
            )
            if taken_back is not None:
                await self._cards.show_quietly(taken_back)
        elif inverse.state not in IN_THE_WAY:
            await self._free(applied, "undo_ended", {**content, "state": inverse.state.value})

    async def _free(self, applied: Proposal, decision: str, content: Mapping[str, Any]) -> None:
        free = await self._moves.move(applied, ProposalState.APPLIED, NOBODY, decision, content, undone_by="")
        if free is not None:
            await self._cards.show_quietly(free)
