"""Proposals and forms whose time is over are closed, at a beat, as long as the bot runs."""

import asyncio
import logging

from chatops_bot.domain.errors import ChatopsError
from chatops_bot.sessions.approvals import Approvals
from chatops_bot.sessions.forms import Forms

_log = logging.getLogger(__name__)

EXPIRY_SWEEP_SECONDS = 5.0


async def sweep(approvals: Approvals, forms: Forms) -> None:
    """Close what is over, until cancelled."""
    while True:
        await asyncio.sleep(EXPIRY_SWEEP_SECONDS)
        try:
            await approvals.sweep()
            await forms.sweep()
        except ChatopsError as error:
            _log.error("the sweep of proposals and forms failed and is tried again: %s", error)
