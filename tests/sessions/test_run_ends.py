"""How runs come to their ends when others are in the way: another process, a store that is away, a freeze, the end of the process."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.freeze import Freeze, Moment
from chatops_bot.domain.people import Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_rules import Rule
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.tool import Outcome, Plan
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.ports import Store, ToolContext
from tests.scenarios.tapped_store import before, tapped
from tests.sessions.panel import ANA, BEN, FlipArgs, Panel, Switches
from tests.sessions.test_applying import approved, claimed, vote_by
from tests.small_tools import HOUR, SESSION

APPLIED, CLAIMED, UNKNOWN = ProposalState.APPLIED, ProposalState.CLAIMED, ProposalState.OUTCOME_UNKNOWN
TEN = timedelta(minutes=10)


async def remembered(panel: Panel) -> list[str]:
    """The ends that the session remembers."""
    entries = await panel.store.transcripts.load(SESSION)
    return [entry.state for entry in entries if isinstance(entry, ProposalDecided)]


async def fails() -> None:
    raise StoreError("The disk is full.")


# -- two processes ----------------------------------------------------------------------------------------------------


async def test_what_another_process_brought_to_its_end_is_not_run_again(panel: Panel):
    stale = await approved(panel)
    await panel.process("process_2").applying.run(stale)
    await panel.one.applying.run(stale)
    assert panel.flips() == [(1, "pause")]
    assert await remembered(panel) == ["applied"]


async def test_a_sweep_lets_somebody_reject_in_the_moment_in_which_it_would_expire(panel: Panel):
    proposal = await panel.propose()
    panel.clock.advance(HOUR)

    async def reject() -> None:
        await panel.press(BEN, proposal, "reject")

    await panel.over(before("proposals.move", reject)(panel.store)).one.applying.sweep()
    assert (await panel.now(proposal)).state is ProposalState.REJECTED
    assert await remembered(panel) == ["rejected"]


@dataclass
class SlowToProve(Switches):
    """The first one who reads back what came of it takes its time."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    answers: asyncio.Event = field(default_factory=asyncio.Event)

    async def probe(self, arguments: FlipArgs, plan: Plan, context: ToolContext) -> Outcome | None:
        if not self.asked.is_set():
            self.asked.set()
            await self.answers.wait()
        return await Switches.probe(self, arguments, plan, context)


async def test_of_two_processes_that_read_back_one_says_what_came_of_it(store: Store, clock: ManualClock):
    switches = SlowToProve()
    panel = Panel(store, clock, switches=switches)
    proposal = await claimed(panel, "process_0")
    switches.states[1] = "disabled"
    panel.dead.add("process_0")
    slower = asyncio.create_task(panel.process("process_2").applying.recover())
    await switches.asked.wait()
    await panel.process("process_3").applying.recover()
    switches.answers.set()
    await slower
    assert await panel.steps(proposal) == ["proposed", "approved", "claimed", "applied"]
    assert await remembered(panel) == ["applied"]


async def test_what_neither_the_process_nor_the_one_that_took_it_for_dead_can_say_stays_unknown(panel: Panel):
    proposal = await panel.propose()
    panel.switches.gate, panel.switches.fault, panel.switches.sticks = asyncio.Event(), TimeoutError(), True
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await panel.switches.entered.get()
    panel.dead.add("process_1")
    await panel.process("process_2").applying.sweep()
    panel.switches.gate.set()
    assert (await pressing).state is UNKNOWN
    assert await panel.steps(proposal) == ["proposed", "approved", "claimed", "outcome_unknown"]
    assert await remembered(panel) == ["outcome_unknown"]


async def test_what_the_process_saw_that_ran_it_is_stored_though_somebody_presses_a_button_meanwhile(
    panel: Panel,
):
    proposal, ends = await panel.propose(), 0

    async def somebody_is_faster(called: str, call: Callable[[], Awaitable[Any]]) -> Any:
        nonlocal ends
        stored = await panel.now(proposal)
        if called == "proposals.move" and stored.state is UNKNOWN:
            ends += 1
            if ends == 2:  # the first finds that this process was taken for dead
                await panel.moves.move(stored, UNKNOWN, BEN, "looked_again", {})
        return await call()

    panel.switches.gate, panel.switches.sticks = asyncio.Event(), True
    one = panel.over(tapped(somebody_is_faster)(panel.store))
    pressing = asyncio.create_task(one.press(ANA, proposal))
    await panel.switches.entered.get()
    panel.dead.add("process_1")
    await panel.process("process_2").applying.sweep()
    assert (await panel.now(proposal)).state is UNKNOWN
    panel.switches.states[1] = "disabled"
    panel.switches.gate.set()
    assert (await pressing).state is APPLIED
    assert (await panel.steps(proposal))[-2:] == ["looked_again", "applied"]


# -- the store --------------------------------------------------------------------------------------------------------


async def test_nothing_runs_while_nobody_can_say_whether_it_is_still_to_be_run_here(panel: Panel):
    proposal = await approved(panel)
    await panel.over(before("leases.renew", fails)(panel.store)).one.applying.run(proposal)
    done = await panel.now(proposal)
    assert (done.state, panel.flips()) == (ProposalState.FAILED, [])
    assert "nothing ran" in done.outcome_text


async def test_a_result_is_offered_to_the_store_every_second_for_ten_minutes_and_then_read_back(panel: Panel):
    proposal, tries = await approved(panel), list[float]()

    async def tap(called: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if called == "proposals.move" and panel.flips():
            tries.append(asyncio.get_running_loop().time())
            panel.clock.advance(TEN / 2)
            await fails()
        return await call()

    with pytest.raises(StoreError):
        await panel.over(tapped(tap)(panel.store)).one.applying.run(proposal)
    first, last = tries
    assert 0.9 < last - first < 1.9
    assert (await panel.now(proposal)).state is CLAIMED
    await panel.one.applying.sweep()
    assert (await panel.now(proposal)).state is APPLIED
    assert panel.flips() == [(1, "pause")]


# -- who --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [[ANA], [ANA, BEN]])
async def test_who_lost_the_right_is_told_from_whom_a_freeze_stops(store: Store, clock: ManualClock, lost):
    begins, ends = (clock.now() + timedelta(minutes=minutes) for minutes in (1, 180))
    freeze = Freeze(Moment.parse(f"{begins:%H:%M}"), Moment.parse(f"{ends:%H:%M}"), ZoneInfo("UTC"))
    panel = Panel(store, clock, policy=Policy([Rule(count=2)], [freeze]))
    proposal = await approved(panel, votes=(vote_by(panel, ANA), vote_by(panel, BEN)))
    clock.advance(timedelta(minutes=2))
    for person in lost:
        panel.people.known[person.id] = replace(person, role=Role.VIEWER)
    await panel.one.applying.recover()
    names = ", ".join(person.name for person in lost)
    said = (
        f"{names} may not approve this any more, so nothing was run. Propose it again if it is still needed."
    )
    assert (await panel.now(proposal)).outcome_text == said
    row = (await panel.rows(proposal))[-1]
    assert json.loads(row.result) == {
        "why": said,
        "cause": "lost_right",
        "voters": [person.id for person in lost],
    }


# -- the end of the process -------------------------------------------------------------------------------------------


async def waits_for_its_target(panel: Panel) -> Proposal:
    """An approved change that the next start began to run, while another process has its target."""
    proposal = await approved(panel)
    assert await panel.store.leases.take("target:task #1", "process_9/prop_9", 600)
    await panel.one.applying.recover()
    assert (await panel.now(proposal)).state is ProposalState.APPROVED
    return proposal


async def test_before_the_end_what_runs_beside_may_come_to_its_own(panel: Panel):
    await panel.one.applying.rest(5)
    proposal = await waits_for_its_target(panel)
    resting = asyncio.create_task(panel.one.applying.rest(5))
    await asyncio.sleep(0)
    await panel.store.leases.drop("target:task #1", "process_9/prop_9")
    await resting
    assert (await panel.now(proposal)).state is APPLIED


async def test_what_runs_beside_holds_up_the_end_no_longer_than_it_may(panel: Panel):
    proposal = await waits_for_its_target(panel)
    async with asyncio.timeout(4):
        await panel.one.applying.rest(0.05)
    assert f"run of {proposal.id}" not in [task.get_name() for task in asyncio.all_tasks()]
    assert (await panel.now(proposal)).state is ProposalState.APPROVED


async def test_a_run_that_fails_beside_a_start_is_said_in_the_log_and_the_start_goes_on(
    panel: Panel, caplog: pytest.LogCaptureFixture
):
    proposal = await approved(panel)
    await panel.over(before("leases.take", fails)(panel.store)).one.applying.recover()
    assert f"the run of {proposal.id} failed" in caplog.text
    assert (await panel.now(proposal)).state is ProposalState.APPROVED
