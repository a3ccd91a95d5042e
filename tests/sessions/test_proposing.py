"""One card for one change: what waits already is not asked for twice, and a later wish replaces an earlier one."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.transcript import ProposalDecided
from tests.sessions.panel import ADAM, ANA, BEN, Panel, TwoMust
from tests.small_tools import SESSION

ONE = '{"task_id": 1, "action": "pause"}'


async def all_in(panel: Panel, state: ProposalState) -> list[Proposal]:
    return await panel.store.proposals.in_states(frozenset({state}))


@pytest.mark.parametrize("same", [ONE, '{"action": "pause", "note": "", "task_id": 1}'])
async def test_the_same_call_of_a_later_turn_gets_the_card_that_waits_already(panel: Panel, same: str):
    proposal = await panel.propose()
    panel.memory.writes.clear()
    planned = panel.switches.planned
    done = await panel.call(same, person=BEN, turn="turn_2")
    assert done.proposal is None
    assert (done.result.status, done.result.content["proposal"]) == ("waits", proposal.code)
    assert "no new card" in done.result.content["status"]
    assert (panel.switches.planned, panel.board.posted) == (planned, [proposal.id])
    assert [row.decision for row in await panel.rows()] == ["proposed", "known"]


@pytest.mark.case("hitl-C16")
async def test_other_arguments_are_another_card(panel: Panel):
    first = await panel.propose()
    second = (await panel.call('{"task_id": 1, "action": "pause", "note": "."}')).proposal
    assert second is not None
    assert second.id != first.id
    assert second.digest != first.digest


async def test_another_wish_for_the_same_target_in_a_later_turn_replaces_the_card(panel: Panel):
    old = await panel.propose(1, "pause")
    new = await panel.propose(1, "archive", turn="turn_2", person=BEN)
    old = await panel.now(old)
    assert (old.state, old.superseded_by, new.supersedes) == (ProposalState.SUPERSEDED, new.id, old.id)
    assert panel.board.cards[old.id].fallback.startswith("Replaced: ")
    await panel.press(ANA, old)
    assert panel.flips() == []
    assert panel.board.heard(ANA) == [
        "A newer proposal took the place of this one, so nothing was run; decide on the newer card."
    ]
    (entry,) = [e for e in await panel.store.transcripts.load(SESSION) if isinstance(e, ProposalDecided)]
    assert (entry.proposal_id, entry.state) == (old.id, "superseded")
    assert json.loads((await panel.rows(old))[-1].result) == {"superseded_by": new.id}
    assert (await panel.press(ANA, new)).state is ProposalState.APPLIED


async def test_two_wishes_of_one_turn_both_stand(panel: Panel):
    await panel.propose(1, "pause")
    await panel.propose(1, "archive")
    assert len(await all_in(panel, ProposalState.PENDING)) == 2


async def test_what_somebody_approved_already_is_not_replaced(panel: Panel):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    old = await panel.propose(1, "pause")
    await panel.press(ANA, old)
    new = await panel.propose(1, "archive", turn="turn_2")
    assert (await panel.now(old)).state is ProposalState.PENDING
    assert new.supersedes == ""


@pytest.mark.parametrize("other", ["target", "session"])
async def test_nothing_is_replaced_by_a_wish_for_another_target_or_elsewhere(panel: Panel, other: str):
    await panel.propose(1, "pause")
    if other == "target":
        await panel.propose(2, "archive", turn="turn_2")
    else:
        await panel.propose(1, "archive", turn="turn_2", session=replace(SESSION, thread="2.2"))
    assert len(await all_in(panel, ProposalState.PENDING)) == 2


async def test_what_expired_unnoticed_is_asked_for_anew(panel: Panel):
    old = await panel.propose()
    panel.clock.advance(timedelta(minutes=61))
    panel.memory.writes.clear()
    new = await panel.propose(turn="turn_2")
    assert new.id != old.id


@pytest.mark.case("hitl-C13")
@pytest.mark.parametrize("verdict", ["reject", "approve"])
async def test_what_was_decided_is_not_asked_for_again_in_the_same_turn(panel: Panel, verdict: str):
    proposal = await panel.propose()
    await panel.press(ADAM, proposal, verdict)
    again = await panel.call(ONE)
    assert again.proposal is None
    assert again.result.content["proposal"] == proposal.code
    assert panel.board.posted == [proposal.id]


@pytest.mark.case("hitl-C12")
async def test_a_changed_wish_is_a_new_proposal_that_is_judged_by_itself(panel: Panel):
    old = await panel.propose(1, "pause")
    new = await panel.propose(1, "archive", turn="turn_2")
    assert (new.digest == old.digest, new.votes) == (False, ())


async def in_doubt(panel: Panel, turn: str = "turn_1") -> Proposal:
    """A change of task 1 of which nobody knows what came."""
    panel.switches.fault, panel.switches.sticks = TimeoutError(), True
    done = await panel.press(ANA, await panel.propose(turn=turn))
    assert done.state is ProposalState.OUTCOME_UNKNOWN
    panel.switches.fault, panel.switches.sticks = None, False
    panel.memory.writes.clear()
    return done


@pytest.mark.parametrize(("hours", "is_said"), [(23.9, True), (24, False)])
async def test_a_day_long_the_next_card_says_that_it_may_be_the_second_time(
    panel: Panel, hours: float, is_said: bool
):
    proposal = await panel.propose()
    panel.clock.advance(timedelta(minutes=59))
    panel.switches.fault, panel.switches.sticks = TimeoutError(), True
    old = await panel.press(ANA, proposal)
    panel.memory.writes.clear()
    panel.clock.advance(timedelta(hours=hours))
    assert (await panel.propose(2, turn="turn_2")).may_repeat == ""
    assert (await panel.propose(turn="turn_3")).may_repeat == (old.id if is_said else "")


async def test_of_several_of_which_nobody_knows_what_came_the_newest_is_named(panel: Panel):
    first, second = await in_doubt(panel), await in_doubt(panel, "turn_2")
    assert second.may_repeat == first.id
    assert (await panel.propose(turn="turn_3")).may_repeat == second.id


async def test_the_doubt_lasts_until_the_change_was_done_and_not_until_it_was_proposed_again(panel: Panel):
    old = await in_doubt(panel)
    await panel.press(BEN, old, "again")
    panel.clock.advance(timedelta(hours=2))
    await panel.one.applying.sweep()
    again = await panel.propose(turn="turn_2")
    assert again.may_repeat == old.id
    assert (await panel.press(ANA, again)).state is ProposalState.APPLIED


async def test_what_was_done_in_its_place_leaves_no_doubt(panel: Panel):
    old = await in_doubt(panel)
    await panel.press(BEN, old, "again")
    (again,) = await all_in(panel, ProposalState.PENDING)
    assert (await panel.press(ANA, again)).state is ProposalState.APPLIED
    panel.switches.states[1] = "enabled"
    assert (await panel.propose(turn="turn_2")).may_repeat == ""
