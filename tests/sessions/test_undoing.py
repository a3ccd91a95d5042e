"""Undo: the inverse of an applied change becomes a proposal like any other, one for however many presses."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.view import Notice
from chatops_bot.ports import Store
from tests.scenarios.tapped_store import before
from tests.sessions.aftercare import Aftercare, ReversibleSwitches, passes
from tests.sessions.panel import ADAM, ANA, BEN, VERA, Panel
from tests.small_tools import OSCAR


@pytest.fixture
def panel(store: Store, clock: ManualClock) -> Panel:
    return Panel(store, clock, switches=ReversibleSwitches())


async def pending(panel: Panel) -> list[Proposal]:
    return await panel.store.proposals.in_states(frozenset({ProposalState.PENDING}))


async def test_the_card_says_beforehand_and_offers_afterwards_what_takes_it_back(panel: Panel):
    proposal = await panel.propose()
    assert "resume task #1" in str(panel.board.cards[proposal.id])
    assert "undo" not in panel.board.buttons(proposal.id)
    await panel.press(ANA, proposal)
    assert "undo" in panel.board.buttons(proposal.id)


async def test_a_press_proposes_the_inverse_which_runs_when_somebody_approves(panel: Panel):
    care, applied = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    undone = await care.press(OSCAR, applied, "undo")
    (inverse,) = await pending(panel)
    assert (undone.undone_by, inverse.inverse_of, inverse.requester_id) == (inverse.id, applied.id, OSCAR.id)
    assert inverse.arguments == {"task_id": 1, "action": "resume", "note": ""}
    assert "undo" not in panel.board.buttons(applied.id)
    assert inverse.code in str(panel.board.cards[applied.id])
    assert panel.switches.state(1) == "disabled", "nothing happens before somebody approves"
    assert (await panel.press(ANA, inverse)).state is ProposalState.APPLIED
    assert panel.switches.state(1) == "enabled"
    assert await panel.steps(applied) == ["proposed", "approved", "claimed", "applied", "undone"]
    content = json.loads((await panel.rows(applied))[-1].result)
    assert content == {"via": "button", "revision": applied.revision, "undone_by": inverse.id}


async def test_many_presses_in_two_processes_make_one(panel: Panel):
    cares = [Aftercare.of(panel), Aftercare.of(panel, panel.process("process_2"))]
    applied = await panel.press(ANA, await panel.propose())
    await asyncio.gather(
        *(cares[n % 2].press(person, applied, "undo") for n, person in enumerate((OSCAR, ANA, BEN, ADAM) * 2))
    )
    assert len(await pending(panel)) == 1
    assert len(panel.board.posted) == 2
    heard = [said for person in (OSCAR, ANA, BEN, ADAM) for said in panel.board.heard(person)]
    already = ("An undo was proposed already, as ", "Somebody is proposing an undo at this moment.")
    assert sum(said.startswith(already) for said in heard) == 7


async def test_an_undo_that_another_one_took_the_place_of_still_stands_for_it(panel: Panel):
    care, applied = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    await care.press(OSCAR, applied, "undo")
    (undo,) = await pending(panel)
    other = replace(undo, id="prop_x", code="XXXXXX")
    assert await panel.moves.supersede(undo, other, BEN)
    await panel.moves.add(other, BEN, {})
    await care.press(ADAM, applied, "undo")
    assert [one.id for one in await pending(panel)] == [other.id]
    ((_, told),) = panel.board.told
    assert told.fallback == "An undo was proposed already, as XXXXXX."
    assert [block.tone for block in told.blocks if isinstance(block, Notice)] == ["info"], (
        "nothing went wrong"
    )


async def test_who_may_not_ask_for_such_a_change_may_not_undo(panel: Panel):
    applied = await panel.press(ANA, await panel.propose())
    assert await Aftercare.of(panel).press(VERA, applied, "undo") == applied
    assert panel.board.heard(VERA)[-1].startswith("It cannot be taken back: Role viewer")
    assert (await panel.steps(applied))[-1] == "refused"


async def test_what_was_taken_back_already_is_not_proposed(panel: Panel):
    applied = await panel.press(ANA, await panel.propose())
    panel.switches.states[1] = "enabled"
    assert await Aftercare.of(panel).press(OSCAR, applied, "undo") == applied
    assert panel.board.heard(OSCAR) == ["It cannot be taken back: Task #1 is enabled already"]


async def test_a_change_without_an_inverse_is_not_undone(panel: Panel):
    applied = await panel.press(ANA, await panel.propose(1, "archive"))
    assert "undo" not in panel.board.buttons(applied.id)
    await Aftercare.of(panel).press(OSCAR, applied, "undo")
    assert await pending(panel) == []


async def test_an_undo_that_expired_is_offered_again_and_so_is_what_asks_for_it_again(panel: Panel):
    care, applied = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    await care.press(OSCAR, applied, "undo")
    (undo,) = await pending(panel)
    await passes(panel, care, seconds=7200)
    await panel.one.applying.sweep()
    await passes(panel, care, seconds=15)
    assert "undo" in panel.board.buttons(applied.id)
    await panel.one.press(panel.event(BEN, undo, "again"))
    (again,) = await pending(panel)
    assert (again.inverse_of, (await panel.now(applied)).undone_by) == (applied.id, again.id)
    assert "undo" not in panel.board.buttons(applied.id)
    await panel.press(ANA, again)
    await passes(panel, care, seconds=15)
    assert (await panel.steps(applied))[-1] == "taken_back"
    assert "undo" not in panel.board.buttons(applied.id)


async def test_an_undo_is_not_asked_for_again_beside_another_one(panel: Panel):
    care, applied = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    await care.press(OSCAR, applied, "undo")
    (undo,) = await pending(panel)
    panel.clock.advance(timedelta(hours=2))
    await panel.one.applying.sweep()
    await care.press(OSCAR, applied, "undo")
    (other,) = await pending(panel)
    panel.switches.states[1] = "disabled"
    await panel.one.press(panel.event(BEN, undo, "again"))
    assert await pending(panel) == [other]


async def test_an_undo_is_not_asked_for_again_after_another_one_has_taken_the_change_back(panel: Panel):
    care, applied = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    await care.press(OSCAR, applied, "undo")
    (undo,) = await pending(panel)
    panel.clock.advance(timedelta(hours=2))
    await panel.one.applying.sweep()
    await care.press(OSCAR, applied, "undo")
    (other,) = await pending(panel)
    assert (await panel.press(ANA, other)).state is ProposalState.APPLIED
    panel.switches.states[1] = "disabled"
    assert (await panel.press(BEN, undo, "again")).state is ProposalState.EXPIRED
    assert await pending(panel) == []
    assert panel.board.heard(BEN) == [f"An undo was proposed already, as {other.code}."]


async def test_who_presses_undo_while_another_press_is_stored_is_told_so(panel: Panel):
    applied = await panel.press(ANA, await panel.propose())
    slow = panel.over(
        before("proposals.add", partial(Aftercare.of(panel).press, BEN, applied, "undo"))(panel.store)
    )
    await Aftercare.of(slow).press(OSCAR, applied, "undo")
    (undo,) = await pending(panel)
    assert undo.requester_id == OSCAR.id
    assert panel.board.heard(BEN) == ["Somebody is proposing an undo at this moment."]


async def test_an_undo_that_made_way_for_another_wish_is_offered_again(panel: Panel):
    care, applied = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    await care.press(OSCAR, applied, "undo")
    (undo,) = await pending(panel)
    wish = await panel.propose(1, "archive", turn="turn_2")
    assert (await panel.now(undo)).superseded_by == wish.id
    await passes(panel, care, seconds=15)
    assert "undo" in panel.board.buttons(applied.id)
    row = (await panel.rows(applied))[-1]
    assert (row.decision, json.loads(row.result)) == (
        "undo_ended",
        {"undone_by": undo.id, "state": "superseded"},
    )
    assert (await panel.press(ANA, wish)).state is ProposalState.APPLIED
    assert (await panel.steps(applied))[-1] == "undo_ended", "what archived it took nothing back"


async def test_after_a_crash_before_the_undo_was_made_it_is_offered_again(panel: Panel):
    care, applied = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    await panel.moves.move(applied, ProposalState.APPLIED, OSCAR, "undone", {}, undone_by="prop_lost")
    for _ in range(3):
        await passes(panel, care, seconds=15)
    assert "undo" in panel.board.buttons(applied.id)
    await care.press(OSCAR, await panel.now(applied), "undo")
    assert len(await pending(panel)) == 1
