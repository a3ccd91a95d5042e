"""The sweep over what was run: what one of them fails with is told, whoever waits for it, and each is dealt with as of its own moment."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import StoreUnavailable
from chatops_bot.domain.proposal import Proposal
from chatops_bot.ports import Store
from chatops_bot.sessions.afterwards import AT_ONCE, Afterwards
from tests.sessions.panel import ANA, Panel


class Held:
    """Stands for all that may follow; none goes on before `gate` is set. `at` are the moments as of which they were dealt with."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.gate = asyncio.Event()
        self.entered: asyncio.Queue[str] = asyncio.Queue()
        self.at: list[datetime] = []

    async def revert(self, proposal: Proposal, now: datetime) -> bool:
        self.at.append(now)
        self.entered.put_nowait(proposal.id)
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return True


@pytest.fixture
def panel(store: Store, clock: ManualClock) -> Panel:
    return Panel(store, clock)


def afterwards(panel: Panel, held: Any) -> Afterwards:
    return Afterwards(
        proposals=panel.store.proposals, watching=held, undoing=held, reverting=held, clock=panel.clock
    )


async def test_what_fails_after_its_sweep_was_cut_off_is_told(panel: Panel, caplog):
    await panel.press(ANA, await panel.propose())
    held = Held(StoreUnavailable("The store is away."))
    care = afterwards(panel, held)
    sweeping = asyncio.create_task(care.sweep())
    async with asyncio.timeout(10):
        await held.entered.get()
    sweeping.cancel()
    await asyncio.wait({sweeping})
    held.gate.set()
    await care.rest(10)
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [StoreUnavailable]


async def test_what_waited_for_room_is_dealt_with_as_of_the_moment_in_which_it_gets_it(panel: Panel):
    for task in range(1, AT_ONCE + 2):
        await panel.press(ANA, await panel.propose(task))
    held, began = Held(), panel.clock.now()
    sweeping = asyncio.create_task(afterwards(panel, held).sweep())
    async with asyncio.timeout(10):
        for _ in range(AT_ONCE):
            await held.entered.get()
    panel.clock.advance(timedelta(minutes=5))
    held.gate.set()
    await sweeping
    assert held.at == [began] * AT_ONCE + [began + timedelta(minutes=5)]
