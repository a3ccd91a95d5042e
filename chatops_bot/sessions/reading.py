"""Reading a long action before approving it: *Show all* opens its pages, and the press on the last one goes on record.

Reading is a fact about a person, like a vote: stored on the proposal by one compare-and-set with its audit row, and asked for
when they approve (`decisions`). Anybody who sees the card may turn its pages; who could neither approve nor reject leaves no
mark on it.
"""

import logging
import re
from collections.abc import Sequence

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.event import ControlUsed, DialogUsed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.sealed_button import opened_button, sealed_button
from chatops_bot.domain.sealed_vote import VoteSeals
from chatops_bot.domain.view import Modal, View
from chatops_bot.ports import Clock, Directory, Place, Platform, Proposals
from chatops_bot.rendering.card import needs_reading
from chatops_bot.rendering.card_reading import page_modal, read_modal, whole_view
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.decisions import Decisions
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards, language_of
from chatops_bot.tools.drafting import subject_of
from chatops_bot.tools.proposal_moves import ProposalMoves

_log = logging.getLogger(__name__)

_PAGE = re.compile(r"page_([1-9][0-9]{0,5})")
_NOT_OPENED = Phrase(
    "没能打开完整内容，请再按一次“显示全部”。", "The whole could not be opened; press Show all once more."
)


class Reading:
    """`platform` shows the pages; `keys` are those of buttons: the first one seals, each opens."""

    def __init__(
        self, *, proposals: Proposals, platform: Platform, directory: Directory, policy: Policy, moves: ProposalMoves,
        cards: ProposalCards, decisions: Decisions, redactor: Redactor, clock: Clock, keys: Sequence[bytes],
        seals: VoteSeals,
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._platform = platform
        self._directory = directory
        self._policy = policy
        self._moves = moves
        self._cards = cards
        self._decisions = decisions
        self._redactor = redactor
        self._clock = clock
        self._keys = keys
        self._seals = seals

    async def open(self, event: ControlUsed) -> None:
        """A press on Show all."""
        found = await self._decisions.opened(event)
        if found is None:
            return
        proposal, person = found[0], event.person
        try:
            await self._platform.open_modal(event.trigger, self._page(proposal, 1, person))
        except PlatformError as error:
            _log.warning("the pages of proposal %s could not be opened: %s", proposal.id, error)
            place = Place(proposal.session.channel, proposal.session.thread)
            said = whisper_view(_NOT_OPENED, language_of(proposal))
            await self._platform.whisper(place, person.id, said)

    async def press(self, event: DialogUsed) -> None:
        """A press in the dialog: to another page, or the one on the last page. One that is not ours changes nothing."""
        opened = opened_button(self._keys, event.control, event.value)
        proposal = None if opened is None else await self._proposals.get(opened[0])
        if proposal is None:
            _log.warning("a press %r in dialog %s belongs to no proposal here", event.control, event.dialog)
            return
        with bound(session=proposal.session, turn=proposal.turn_id, proposal=proposal.id):
            try:
                # In the dialog nobody knew in which channel it was pressed, and roles may differ by channel.
                person = await self._directory.person(event.person.id, proposal.session.channel)
                await self._pressed(event, proposal, person)
            except PlatformError as error:
                _log.warning("dialog %s could not be brought up to date: %s", event.dialog, error)

    async def here(self, proposal: Proposal, person: Person) -> View | None:
        """All of a long action for somebody at a terminal, who has it before them then; that goes on record.

        None when there is nothing that they have to read first.
        """
        if (
            not proposal.is_open
            or self._seals.has_read(proposal, person.id)
            or not self._may_record(proposal, person)
        ):
            return None
        if not needs_reading(proposal, self._redactor.text):
            return None
        recorded = await self._recorded(proposal, person)
        return whole_view(proposal, self._redactor.text) if recorded is not None else None

    async def _pressed(self, event: DialogUsed, proposal: Proposal, person: Person) -> None:
        page = _PAGE.fullmatch(event.control)
        if page is not None:
            shown = self._page(proposal, int(page.group(1)), person)
            await self._platform.update_modal(event.dialog, shown)
        elif event.control == "read":
            may = self._may_record(proposal, person)
            recorded = await self._recorded(proposal, person) if may else None
            shown = read_modal(proposal, is_recorded=recorded is not None)
            await self._platform.update_modal(event.dialog, shown)

    async def _recorded(self, proposal: Proposal, person: Person) -> Proposal | None:
        """The proposal with its reader on record; None when there is nothing left to decide."""
        while proposal.is_open:
            if self._seals.has_read(proposal, person.id):
                return proposal
            moved = await self._moves.move(
                proposal, ProposalState.PENDING, person, "read", {"digest": proposal.digest},
                read_by=(*proposal.read_by, self._seals.reader(proposal, person.id)),
            )  # fmt: skip
            if moved is not None:
                await self._cards.show_quietly(moved)
                return moved
            newer = await self._proposals.get(proposal.id)
            if newer is None or newer.revision == proposal.revision:
                return None
            proposal = newer
        return None

    def _page(self, proposal: Proposal, number: int, person: Person) -> Modal:
        return page_modal(
            proposal,
            number,
            sealed=lambda press, id_, revision: sealed_button(self._keys[0], press, id_, revision),
            redact=self._redactor.text,
            may_record=self._may_record(proposal, person) and not self._seals.has_read(proposal, person.id),
        )

    def _may_record(self, proposal: Proposal, person: Person) -> bool:
        is_in_time = proposal.is_open and self._clock.now() < proposal.expires_at
        return is_in_time and self._policy.may_reject(person, subject_of(proposal)) is None
