"""The messages that called people about a proposal, once it waits for nobody: each becomes a quiet line, so that no live call remains.

It is done before a card counts as shown, so that after a crash the card's catching up does it.
"""

import logging
from collections.abc import Iterator

from chatops_bot.domain.errors import PlatformError, PlatformUnavailable
from chatops_bot.domain.proposal import Proposal
from chatops_bot.ports import Place, Platform
from chatops_bot.rendering.reminder import answered_view

_log = logging.getLogger(__name__)

LEFT_ALONE = "not_reverted"
"""The kind of call that says that a change was not taken back."""

REMEMBERED = 1_000
"""Quiet messages that are not looked for again while their cards change on. With one more all are forgotten, and each is looked
for once again. One that is not there is looked for each time: it may be on its way for as long as the platform holds it back."""


def call_key(proposal: Proposal, kind: str) -> str:
    """The key under which a message that calls people about `proposal` is posted; also the words of its audit row."""
    return f"{proposal.id}/{kind}"


class AnsweredCalls:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._quiet: set[str] = set()

    async def see(self, proposal: Proposal) -> None:
        """Quieten what called people about `proposal` as it is now. Raises PlatformUnavailable; what the platform refuses stays."""
        for key in _answered(proposal):
            if key not in self._quiet:
                await self._quieten(proposal, key)

    async def _quieten(self, proposal: Proposal, key: str) -> None:
        try:
            found = await self._platform.find(Place(proposal.session.channel, proposal.session.thread), key)
            if found is None:  # not posted, or on its way
                return
            await self._platform.finish(found, answered_view(proposal))
        except PlatformUnavailable:
            raise
        except PlatformError as error:
            _log.warning("what called people about proposal %s stays: %s", proposal.id, error)
        if len(self._quiet) >= REMEMBERED:
            self._quiet.clear()
        self._quiet.add(key)


def _answered(proposal: Proposal) -> Iterator[str]:
    if not proposal.is_open:
        for kind, at in (("asked_again", proposal.asked_again_at), ("escalated", proposal.escalated_at)):
            if at is not None:
                yield call_key(proposal, kind)
    if proposal.keep_for is not None and proposal.taken_back_at is not None and proposal.keep_until is None:
        yield call_key(proposal, LEFT_ALONE)
