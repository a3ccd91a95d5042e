"""Around the run itself: what is kept of a claim, what comes before what on the card, what a sweep picks up, and what it leaves."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import Proposal, ProposalState, Vote
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.view import View
from chatops_bot.sessions.applying import STALE_AFTER
from tests.sessions.panel import ANA, BEN, SEALS, Board, Panel, People
from tests.sessions.test_applying import approved, claimed
from tests.small_tools import HOUR

APPLIED, CLAIMED, UNKNOWN = ProposalState.APPLIED, ProposalState.CLAIMED, ProposalState.OUTCOME_UNKNOWN
AWAY = PlatformError("Slack is away.", "unreachable")
ONE = timedelta(seconds=1)


@dataclass
class SlowBoard(Board):
    """The card of a running change is not shown before `shows`; `order` is what was shown, by the first word."""

    shows: asyncio.Event = field(default_factory=asyncio.Event)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    order: list[str] = field(default_factory=list)

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        word = view.fallback.partition(":")[0]
        if word == "Running":
            self.reached.set()
            await self.shows.wait()
        self.order.append(word)
        return await Board.finish(self, ref, view)


def on(panel: Panel, board: Board) -> None:
    panel.board = board
    panel.one = panel.process("process_1")


async def content(panel: Panel, proposal: Proposal, decision: str) -> Any:
    (row,) = [row for row in await panel.rows(proposal) if row.decision == decision]
    return json.loads(row.result)


def showing() -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if task.get_name() == "card of a running change"]


# -- the run ----------------------------------------------------------------------------------------------------------


async def test_the_audit_says_which_process_claimed_it_and_with_which_fence(panel: Panel):
    proposal = await panel.propose()
    done = await panel.press(ANA, proposal)
    assert await content(panel, proposal, "claimed") == {"process": "process_1", "fence": 1}
    assert (done.finished_at, done.outcome_text) == (panel.clock.now(), "flipped")


async def test_the_effect_waits_for_no_card_and_the_last_card_for_the_one_before(panel: Panel):
    board = SlowBoard()
    on(panel, board)
    proposal = await panel.propose()
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    async with asyncio.timeout(10):
        while (await panel.now(proposal)).state is not APPLIED:
            pass
        await board.reached.wait()
        for _ in range(20):
            await panel.now(proposal)
    assert "Done" not in board.order
    board.shows.set()
    await pressing
    assert board.order[-2:] == ["Running", "Done"]


async def test_a_run_that_is_cut_off_leaves_no_card_on_its_way(panel: Panel):
    board = SlowBoard()
    on(panel, board)
    panel.switches.gate = asyncio.Event()
    pressing = asyncio.create_task(panel.press(ANA, await panel.propose()))
    await panel.switches.entered.get()
    await board.reached.wait()
    pressing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pressing
    if left := showing():
        await asyncio.wait(left, timeout=1)
    assert showing() == []


async def test_what_was_cut_off_before_its_claim_can_run_in_the_same_process(panel: Panel):
    proposal = await panel.propose()
    panel.people.gate = asyncio.Event()
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await panel.people.reached.wait()
    pressing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pressing
    assert (await panel.now(proposal)).state is ProposalState.APPROVED
    panel.people.gate.set()
    await panel.one.applying.recover()
    assert (await panel.now(proposal)).state is APPLIED


@dataclass
class Slow(People):
    """Whoever is asked for afresh takes `panel` over the end of a proposal's time."""

    panel: Panel | None = None

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        if fresh and self.panel is not None:
            self.panel.clock.advance(HOUR)
        return await People.person(self, user_id, channel, fresh=fresh)


async def test_what_expires_while_its_approver_is_looked_up_does_not_run(panel: Panel):
    panel.people = Slow(panel.people.known, panel=panel)
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    done = await panel.press(ANA, proposal)
    late = "This proposal expired at 15:32 UTC; nothing was run. Press Propose again on its card if it is still needed."
    assert (done.state, done.outcome_text, panel.flips()) == (ProposalState.EXPIRED, late, [])
    assert await content(panel, proposal, "expired") == {"why": late}
    assert panel.board.cards[proposal.id].fallback.startswith("Expired: ")


async def test_what_could_not_have_its_target_in_time_asks_for_nobody(panel: Panel):
    proposal = await approved(panel)
    assert await panel.store.leases.take("target:task #1", "process_9/prop_9", 8000)
    panel.clock.advance(HOUR)
    async with asyncio.timeout(10):
        await panel.one.applying.run(proposal)
    assert (await panel.now(proposal)).state is ProposalState.EXPIRED
    assert panel.people.asked == []


# -- sweeping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("late", "state"), [(-ONE, "pending"), (timedelta(), "expired"), (ONE, "expired")])
async def test_a_sweep_closes_what_is_over_from_that_moment_on(panel: Panel, late: timedelta, state: str):
    proposal = await panel.propose()
    panel.clock.advance(HOUR + late)
    await panel.one.applying.sweep()
    assert (await panel.now(proposal)).state.value == state


@pytest.mark.parametrize(("after", "runs"), [(-ONE, False), (timedelta(), False), (ONE, True)])
async def test_a_sweep_runs_what_was_approved_and_left(panel: Panel, after: timedelta, runs: bool):
    panel.clock.advance(ONE)
    waiting = await panel.propose()
    panel.clock.advance(HOUR / 2)
    moved = await panel.moves.move(
        waiting, ProposalState.APPROVED, ANA, "approved", {}, votes=(_vote(panel, waiting),), decided_at=panel.clock.now()
    )  # fmt: skip
    assert moved is not None
    panel.clock.advance(STALE_AFTER + after)
    await panel.one.applying.sweep()
    assert ((await panel.now(waiting)).state is not ProposalState.APPROVED) is runs


def _vote(panel: Panel, proposal: Proposal) -> Vote:
    vote = Vote(ANA.id, ANA.name, ANA.role.value, panel.clock.now(), "button")
    return SEALS.vote(proposal, vote)


@pytest.mark.parametrize(("after", "shown"), [(-ONE, False), (timedelta(), False), (ONE, True)])
async def test_a_sweep_brings_a_card_up_to_date_that_an_edit_did_not_reach(
    panel: Panel, after: timedelta, shown: bool
):
    proposal = await panel.propose()
    panel.board.refusal = AWAY
    await panel.press(ANA, proposal)
    panel.board.refusal = None
    assert not panel.board.cards[proposal.id].fallback.startswith("Done")
    panel.clock.advance(STALE_AFTER + after)
    await panel.one.applying.sweep()
    assert panel.board.cards[proposal.id].fallback.startswith("Done") is shown


async def test_a_sweep_settles_what_a_dead_process_ran(panel: Panel):
    proposal = await claimed(panel, "process_0")
    await panel.one.applying.sweep()
    assert (await panel.now(proposal)).state is CLAIMED
    panel.dead.add("process_0")
    await panel.one.applying.sweep()
    assert (await panel.now(proposal)).state is UNKNOWN


@pytest.mark.parametrize("way", ["sweep", "recover"])
async def test_the_card_of_what_another_process_runs_is_left_to_it(panel: Panel, way: str):
    proposal = await claimed(panel, "process_0")
    before = panel.board.cards[proposal.id]
    panel.clock.advance(2 * STALE_AFTER)
    await (panel.one.applying.sweep() if way == "sweep" else panel.one.applying.recover())
    assert (await panel.now(proposal)).state is CLAIMED
    assert panel.board.cards[proposal.id] == before


# -- after a crash ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["", "process_1"])
async def test_what_an_earlier_run_of_this_process_claimed_is_settled(panel: Panel, by: str):
    proposal = await claimed(panel, by)
    await panel.one.applying.recover()
    assert (await panel.now(proposal)).state is UNKNOWN


@pytest.mark.parametrize(("away", "role"), [(False, "approver"), (True, "guest")])
async def test_the_last_approver_is_named_in_the_audit_with_what_they_may_now(
    panel: Panel, away: bool, role: str
):
    proposal = await claimed(panel, "process_0")
    panel.dead.add("process_0")
    panel.people.fault = AWAY if away else None
    await panel.one.applying.recover()
    last = (await panel.rows(proposal))[-1]
    assert (last.decision, last.person_id, last.person_name, last.role) == (
        "outcome_unknown",
        ANA.id,
        "Ana",
        role,
    )


async def test_without_any_vote_nobody_is_named(panel: Panel):
    proposal = await panel.propose()
    for state, more in ((ProposalState.APPROVED, {}), (CLAIMED, {"claimed_by": "process_0"})):
        moved = await panel.moves.move(proposal, state, BEN, state.value, {}, **more)
        assert moved is not None
        proposal = moved
    panel.dead.add("process_0")
    await panel.one.applying.recover()
    last = (await panel.rows(proposal))[-1]
    assert (last.decision, last.person_id, last.role) == ("outcome_unknown", "", Role.GUEST.value)


async def test_of_several_who_lost_the_right_each_is_named(panel: Panel):
    votes = tuple(Vote(p.id, p.name, p.role.value, panel.clock.now(), "button") for p in (ANA, BEN))
    proposal = await approved(panel, votes=votes)
    for person in (ANA, BEN):
        panel.people.known[person.id] = replace(person, role=Role.VIEWER)
    await panel.one.applying.recover()
    now = await panel.now(proposal)
    assert now.outcome_text.startswith("Ana, Ben may not approve this any more, so nothing was run")
