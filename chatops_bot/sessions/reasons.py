"""Why a proposal was rejected, said afterwards: Reject takes one press, and *Say why* on the rejected card opens a dialog.

Where there are no dialogs the same is typed, `reject CODE because …`, before or after.
"""

import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.event import ControlUsed, ModalSubmitted
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.sealed_button import opened_button, sealed_button
from chatops_bot.ports import Directory, Platform, Proposals
from chatops_bot.rendering import card_notices as notices
from chatops_bot.rendering.reason_modal import REASON, reason_modal
from chatops_bot.sessions.decisions import REASON_CHARS, Decisions, How, lacks_reason_of
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.proposal_cards import ProposalCards, language_of
from chatops_bot.sessions.telling import Telling

Beside = Callable[[Coroutine[Any, Any, None]], object]
"""Starts work for which nobody waits."""

_log = logging.getLogger(__name__)


class Reasons:
    """`platform` shows the dialog; `keys` are those of buttons: the first one seals, each opens."""

    def __init__(
        self, *, proposals: Proposals, platform: Platform, directory: Directory, decisions: Decisions, cards: ProposalCards,
        keys: Sequence[bytes],
    ) -> None:  # fmt: skip
        self._proposals = proposals
        self._platform = platform
        self._telling = Telling(platform)
        self._directory = directory
        self._decisions = decisions
        self._cards = cards
        self._keys = keys

    async def open(self, event: ControlUsed) -> None:
        """A press on Say why."""
        found = await self._decisions.opened(event)
        if found is None:
            return
        proposal = found[0]
        if not lacks_reason_of(proposal, event.person):
            await self._telling.about(proposal, event.person, notices.WHY_NOT_YOURS)
            return
        modal = reason_modal(
            proposal,
            lambda press, id_, revision: sealed_button(self._keys[0], press, id_, revision),
            REASON_CHARS,
        )
        try:
            await self._platform.open_modal(event.trigger, modal)
        except PlatformError as error:
            _log.warning("the dialog about proposal %s could not be opened: %s", proposal.id, error)

    async def submitted(self, event: ModalSubmitted, beside: Beside) -> Mapping[str, str] | None:
        """Take the reason from the dialog; what is wrong by input, or None when the dialog is another one.

        The dialog waits for this for three seconds, so the card is shown by `beside`: its edit may be held up for minutes.
        """
        opened = opened_button(self._keys, REASON, event.value)
        proposal = None if opened is None else await self._proposals.get(opened[0])
        if opened is None or proposal is None:
            return None
        with bound(session=proposal.session, turn=proposal.turn_id, proposal=proposal.id):
            # In the dialog nobody knew in which channel it was sent off, and roles may differ by channel.
            person = await self._directory.person(event.person.id, proposal.session.channel)
            said = self._decisions.reason_kept("".join(event.inputs.get(REASON, ())))
            if proposal.decided_by_id == person.id and proposal.reason and proposal.reason == said:
                return {}  # sent off once more, since the first answer did not arrive
            wrong: Phrase | None
            if not lacks_reason_of(proposal, person):
                wrong = notices.WHY_NOT_YOURS
            elif not said:
                wrong = notices.WHY_EMPTY
            else:
                wrong = await self._take(proposal, person, How("button", opened[1]), said, beside)
            return {REASON: wrong.said_in(language_of(proposal))} if wrong is not None else {}

    async def _take(
        self, proposal: Proposal, person: Person, how: How, reason: str, beside: Beside
    ) -> Phrase | None:
        explained = await self._decisions.explain(proposal, person, how, reason)
        if isinstance(explained, Phrase):
            return explained
        if explained is None:
            return notices.WHY_NOT_YOURS
        beside(self._cards.settle(explained))
        return None
