"""Commit-confirm: what nobody keeps is taken back, once, with the approval that the change had; what changed since is left alone."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import PlatformError, ToolFailed
from chatops_bot.domain.freeze import Freeze, Moment
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Role
from chatops_bot.domain.policy import Policy, Subject
from chatops_bot.domain.policy_rules import Rule, Who
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.ports import Store
from chatops_bot.sessions.decisions import How
from chatops_bot.tools.inverting import Inverter
from tests.scenarios.tapped_store import tapped
from tests.sessions.aftercare import Aftercare, ReversibleSwitches, passes
from tests.sessions.panel import ANA, BEN, VERA, Panel
from tests.small_tools import OSCAR

TEN = timedelta(minutes=10)
RULES = [Rule(keep_for=TEN)]
APPLIED = ProposalState.APPLIED


@pytest.fixture
def switches() -> ReversibleSwitches:
    return ReversibleSwitches()


@pytest.fixture
def panel(store: Store, clock: ManualClock, switches: ReversibleSwitches) -> Panel:
    return Panel(store, clock, switches=switches, policy=Policy(RULES))


async def applied(panel: Panel, task: int = 1) -> Proposal:
    return await panel.press(ANA, await panel.propose(task))


async def inverse(panel: Panel, of: Proposal) -> Proposal:
    """The newest proposal that takes it back, whatever became of it."""
    found = [
        row.proposal_id for row in await panel.rows() if row.decision == "proposed" and of.id in row.result
    ]
    return await panel.now_of(found[-1])


async def test_the_card_says_before_and_after_when_it_is_taken_back(panel: Panel):
    proposal = await panel.propose()
    assert "10 min" in str(panel.board.cards[proposal.id])
    done = await panel.press(ANA, proposal)
    assert (done.keep_until, done.outcome_text) == (panel.clock.now() + TEN, "flipped")
    assert "taken back at" in str(panel.board.cards[proposal.id])
    assert "keep" in panel.board.buttons(proposal.id)


async def test_what_nobody_keeps_is_taken_back_once_without_a_new_approval(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    await passes(panel, care, seconds=599)
    assert panel.switches.state(1) == "disabled"
    for _ in range(60):
        await passes(panel, care, seconds=60)
    assert panel.flips() == [(1, "pause"), (1, "resume")], (
        "and what takes it back is not taken back in its turn"
    )
    back = await inverse(panel, change)
    assert (back.state, back.inverse_of) == (APPLIED, change.id)
    assert [replace(vote, seal="") for vote in back.votes] == [
        replace(vote, seal="") for vote in change.votes
    ]
    assert back.keep_until is None
    assert (await panel.steps(back))[:3] == ["proposed", "claimed", "applied"]
    assert (await panel.steps(change))[-2:] == ["reverting", "taken_back"]
    assert back.code in str(panel.board.cards[change.id])
    assert "keep" not in panel.board.buttons(change.id)


async def test_the_session_remembers_when_it_was_decided_and_that_nobody_took_it_back(panel: Panel):
    care, decided_at = Aftercare.of(panel), panel.clock.now()
    change = await applied(panel)
    for _ in range(30):
        await passes(panel, care, seconds=60)
    entries = await panel.store.transcripts.load(change.session)
    told = [one for one in entries if isinstance(one, ProposalDecided)]
    assert {one.at for one in told if one.code == change.code} == {decided_at}, "also of a later look"
    undone = next(one for one in told if one.takes_back)
    assert (undone.takes_back, undone.person_name, undone.state) == (change.code, "", "applied")
    assert undone.at >= decided_at + TEN


@pytest.mark.parametrize("person", [ANA, BEN])
async def test_what_an_approver_keeps_stays(panel: Panel, person):
    care, change = Aftercare.of(panel), await applied(panel)
    kept = await care.press(person, change, "keep")
    assert (kept.kept_by_id, kept.undone_by) == (person.id, "")
    await passes(panel, care, seconds=3600)
    assert panel.flips() == [(1, "pause")]
    assert person.name in str(panel.board.cards[change.id])
    assert "kept" in await panel.steps(change)


@pytest.mark.parametrize("person", [OSCAR, VERA])
async def test_who_may_not_approve_may_not_keep(panel: Panel, person):
    care, change = Aftercare.of(panel), await applied(panel)
    assert await care.press(person, change, "keep") == change
    assert panel.board.heard(person) == ["Only somebody who may approve this change may say to keep it."]
    await passes(panel, care, seconds=600)
    assert panel.switches.state(1) == "enabled"


async def test_what_failed_is_not_taken_back(panel: Panel, switches):
    switches.fault, switches.sticks = ToolFailed(Phrase("不行", "It said no.")), True
    change = await applied(panel)
    assert (change.state, change.keep_until) == (ProposalState.FAILED, None)
    assert change.outcome_text == "It said no."
    await sweeps(panel, Aftercare.of(panel), 12)
    assert panel.flips() == [(1, "pause")]


async def test_where_nothing_can_take_it_back_by_itself_the_card_says_so_beforehand(panel: Panel):
    proposal = await panel.propose(1, "archive")
    assert proposal.keep_for is None
    assert "although the rules say after 10 min" in str(panel.board.cards[proposal.id])
    await panel.press(ANA, proposal)
    await sweeps(panel, Aftercare.of(panel), 12)
    assert panel.flips() == [(1, "archive")]


async def test_where_it_is_not_known_whether_it_ran_the_card_says_that_it_is_not_taken_back(
    panel: Panel, switches
):
    switches.fault = ToolFailed(Phrase("超时", "It timed out."), outcome_unknown=True)
    switches.sticks = True
    change = await applied(panel)
    assert change.state is ProposalState.OUTCOME_UNKNOWN
    assert "not taken back by itself" in str(panel.board.cards[change.id])


@pytest.mark.parametrize("then", ["nothing", "again", "undo"])
async def test_after_an_undo_of_which_nobody_knows_what_came_nothing_is_taken_back_by_itself(
    panel: Panel, switches, then: str
):
    care, change = Aftercare.of(panel), await applied(panel)
    await care.press(BEN, change, "undo")
    switches.fault, switches.sticks = ToolFailed(Phrase("超时", "It timed out."), outcome_unknown=True), True
    unknown = await panel.press(ANA, await inverse(panel, await panel.now(change)))
    switches.fault, switches.sticks = None, False
    await passes(panel, care, seconds=60)
    if then == "again":
        await panel.press(BEN, unknown, "again")
    elif then == "undo":
        await care.press(BEN, await panel.now(change), "undo")
        second = await inverse(panel, await panel.now(change))
        assert second.may_repeat == unknown.id
        assert "may be done a second time" in str(panel.board.cards[second.id])
    ran = panel.flips()
    await passes(panel, care, seconds=600)
    assert panel.flips() == ran
    assert "which may have taken effect" in str(panel.board.cards[change.id])


async def test_who_comes_too_late_to_keep_it_is_told(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    event = panel.event(ANA, change, "keep")
    panel.clock.advance(TEN)
    await care.keeping.press(event)
    assert panel.board.heard(ANA)[-1].startswith("There is nothing to keep any more")
    await passes(panel, care, seconds=15)
    assert panel.switches.state(1) == "enabled"


@pytest.mark.parametrize(
    ("fact", "said"), [("owner", "owner: ops → dba"), ("status", "Task #1 is enabled already")]
)
async def test_what_was_changed_since_is_left_alone_and_the_card_says_so(
    panel: Panel, switches, fact: str, said: str
):
    care, change = Aftercare.of(panel), await applied(panel)
    if fact == "owner":
        switches.owner = "dba"
    else:
        switches.states[1] = "enabled"
    for _ in range(3):
        await passes(panel, care, seconds=600)
    assert panel.flips() == [(1, "pause")]
    after = await panel.now(change)
    assert (after.keep_until, after.undone_by) == (None, "")
    assert said in str(panel.board.cards[change.id])
    assert (await panel.steps(change)).count("not_reverted") == 1


async def test_what_no_bot_approved_is_not_taken_back(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    (vote,) = change.votes
    forged = (replace(vote, person_id="U9"),)
    await panel.store.proposals.move(change, ProposalState.APPLIED, panel.clock.now(), votes=forged)
    await passes(panel, care, seconds=600)
    assert panel.flips() == [(1, "pause")]
    assert "was not written by this bot" in str(panel.board.cards[change.id])


def called(panel: Panel, change: Proposal) -> str:
    return str(panel.board.cards[f"{change.id}/not_reverted"])


async def sweeps(panel: Panel, care: Aftercare, minutes: int) -> None:
    for _ in range(minutes):
        await passes(panel, care, seconds=60)
        await panel.one.applying.sweep()


async def test_who_may_no_longer_approve_takes_nothing_back_and_the_approvers_are_called(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    panel.people.known[ANA.id] = type(ANA)(ANA.id, ANA.name, Role.VIEWER)
    await passes(panel, care, seconds=600)
    assert panel.flips() == [(1, "pause")]
    assert (await panel.steps(change))[-1] == "not_reverted"
    assert "Ana may not approve such a change any more" in called(panel, change)
    assert "undo" in panel.board.buttons(change.id)


async def test_an_undo_that_nobody_approves_does_not_keep_a_change(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    await care.press(OSCAR, change, "undo")
    undo = await inverse(panel, change)
    await sweeps(panel, care, 12)
    assert panel.flips() == [(1, "pause"), (1, "resume")]
    assert (await panel.now(undo)).state is ProposalState.SUPERSEDED
    back = await inverse(panel, change)
    assert back.code in str(panel.board.cards[undo.id])
    assert [
        step for step in (await panel.steps(change)) if step in ("undone", "reverting", "taken_back")
    ] == ["undone", "reverting", "taken_back"]


async def test_an_undo_that_made_way_for_a_revert_that_was_not_made_says_so_on_its_card(panel: Panel, store):
    care, change = Aftercare.of(panel), await applied(panel)
    await care.press(OSCAR, change, "undo")
    undo, moves = await inverse(panel, change), 0

    async def another_is_faster(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        nonlocal moves
        moves += name == "proposals.move"
        if (name, moves) == ("proposals.move", 2):
            await panel.moves.move(await panel.now(change), APPLIED, OSCAR, "looked_again", {})
        return await call()

    slower = panel.over(tapped(another_is_faster)(store))
    await passes(slower, Aftercare.of(slower, slower.process("process_2")), seconds=600)
    assert (await panel.now(undo)).state is ProposalState.SUPERSEDED
    assert "cut off before the new proposal was made" in str(panel.board.cards[undo.id])
    await passes(panel, care, seconds=20)
    assert panel.flips() == [(1, "pause"), (1, "resume")]


async def test_an_undo_that_was_rejected_gives_keep_and_undo_back_and_is_no_keep(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    await care.press(OSCAR, change, "undo")
    await panel.press(ANA, await inverse(panel, change), "reject")
    await passes(panel, care, seconds=20)
    assert {"keep", "undo"} <= panel.board.buttons(change.id).keys()
    await sweeps(panel, care, 12)
    assert panel.switches.state(1) == "enabled"


async def test_an_undo_that_runs_when_the_time_is_over_is_the_only_one(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    await care.press(OSCAR, change, "undo")
    await panel.press(ANA, await inverse(panel, change))
    await sweeps(panel, care, 12)
    assert panel.flips() == [(1, "pause"), (1, "resume")]
    assert (await panel.steps(change)).count("taken_back") == 1


async def test_while_it_cannot_be_asked_who_approved_it_is_tried_again(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    panel.people.silent.add(ANA.id)
    await sweeps(panel, care, 12)
    assert panel.switches.state(1) == "disabled"
    panel.people.silent.clear()
    await sweeps(panel, care, 1)
    assert panel.switches.state(1) == "enabled"
    assert (await panel.steps(change)).count("reverting") == 1


async def test_what_cannot_be_asked_for_an_hour_is_said_to_the_approvers(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    panel.people.silent.add(ANA.id)
    await sweeps(panel, care, 75)
    assert "could not be asked" in called(panel, change)
    assert (await panel.steps(change)).count("not_reverted") == 1


async def test_a_target_that_is_busy_for_the_life_of_a_revert_is_waited_for(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    target = f"target:{change.plan.target}"
    assert await panel.store.leases.take(target, "process_9/other", 3600 * 24)
    panel.clock.advance(TEN)
    sweeping = asyncio.create_task(care.afterwards.sweep())
    async with asyncio.timeout(5):
        while not any("waits for another" in str(card) for card in panel.board.cards.values()):
            panel.board.changed.clear()
            await panel.board.changed.wait()
    panel.clock.advance(timedelta(hours=2))
    await sweeping
    await care.process.applying.rest(10)
    assert (await inverse(panel, change)).state is ProposalState.EXPIRED
    await panel.store.leases.drop(target, "process_9/other")
    await sweeps(panel, care, 2)
    assert panel.switches.state(1) == "enabled"


async def test_a_revert_takes_as_many_as_the_policy_asks_for_it(panel: Panel, store, clock, switches):
    class TwoForBack(Policy):
        def quorum(self, subject: Subject) -> int:
            return 2 if switches.state(1) == "disabled" else 1

    strict = Panel(store, clock, switches=switches, policy=TwoForBack(RULES))
    care, change = Aftercare.of(strict), await applied(strict)
    await passes(strict, care, seconds=600)
    assert strict.flips() == [(1, "pause")]
    assert "takes 2 approvals" in called(strict, change)


async def test_glass_that_was_broken_for_a_change_is_whole_for_its_revert(store, clock, switches):
    start, end = Moment.parse("2000-01-01 00:00"), Moment.parse("2099-01-01 00:00")
    freeze = Freeze(start, end, ZoneInfo("UTC"), break_glass=Who(people=(ANA.id,)))
    frozen = Panel(store, clock, switches=switches, policy=Policy(RULES, [freeze]))
    care, proposal = Aftercare.of(frozen), await frozen.propose()
    await frozen.one.decisions.approve(proposal, ANA, How("button", 0), break_glass="payments are down")
    await passes(frozen, care, seconds=600)
    assert frozen.flips() == [(1, "pause")]
    assert "a freeze holds" in called(frozen, proposal)


async def test_an_undo_that_is_just_being_stored_is_not_taken_for_a_death(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    panel.clock.advance(TEN)
    draft = await Inverter(panel.registry, panel.drafter).draft(change, OSCAR)
    await panel.moves.move(change, APPLIED, OSCAR, "undone", {}, undone_by=draft.id)
    await care.afterwards.sweep()
    await panel.moves.add(draft, OSCAR, {})
    assert (await panel.now(draft)).state is ProposalState.PENDING
    await sweeps(panel, care, 2)
    assert panel.flips() == [(1, "pause"), (1, "resume")]


async def test_a_failed_revert_is_not_tried_twice_and_calls_the_approvers(panel: Panel, switches):
    care, change = Aftercare.of(panel), await applied(panel)
    switches.sticks = True
    switches.fault = ToolFailed(Phrase("坏了", "it broke"))
    await sweeps(panel, care, 12)
    assert panel.flips() == [(1, "pause"), (1, "resume")]
    assert (await inverse(panel, change)).code in called(panel, change)


async def test_while_nobody_can_be_asked_who_people_are_it_waits(panel: Panel):
    care, change = Aftercare.of(panel), await applied(panel)
    panel.people.fault = PlatformError("Slack is down.")
    await passes(panel, care, seconds=600)
    assert (await panel.now(change)).undone_by == ""
    panel.people.fault = None
    await passes(panel, care, seconds=15)
    assert panel.switches.state(1) == "enabled"


async def test_two_processes_take_it_back_once(panel: Panel):
    cares = [Aftercare.of(panel), Aftercare.of(panel, panel.process("process_2"))]
    await applied(panel)
    await passes(panel, *cares, seconds=600)
    await passes(panel, *cares, seconds=15)
    assert panel.flips() == [(1, "pause"), (1, "resume")]


CLAIM = 2
"""The write that claims the revert: noted, stored, claimed."""


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(9))
async def test_a_process_that_dies_at_any_write_leaves_a_revert_that_is_run_once(
    panel: Panel, store, at: int, after: bool
):
    change = await applied(panel)
    writes = 0

    async def dies(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        nonlocal writes
        if name not in (
            "proposals.move",
            "proposals.add",
            "proposals.shown",
            "audit.record",
            "transcripts.append",
        ):
            return await call()
        if writes == at and not after:
            raise Killed
        done = await call()
        if writes == at:
            raise Killed
        writes += 1
        return done

    dying = panel.over(tapped(dies)(store))
    with contextlib.suppress(Killed, BaseExceptionGroup):
        await passes(dying, Aftercare.of(dying, dying.process("process_2")), seconds=600)
    panel.dead.add("process_2")
    next_one = panel.process("process_3")
    await next_one.applying.recover()
    care = Aftercare.of(panel, next_one)
    for _ in range(4):
        await passes(panel, care, seconds=20)
    back = await inverse(panel, change)
    flips = len(panel.flips())
    if (at, after) == (
        CLAIM,
        True,
    ):  # claimed, and nothing done yet: nobody can know, so it is not tried again
        assert (back.state, flips) == (ProposalState.OUTCOME_UNKNOWN, 1)
    else:
        assert (back.state, flips) == (APPLIED, 2)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_change_that_is_taken_back_slowly_holds_up_no_other(panel: Panel, switches):
    care = Aftercare.of(panel)
    slow, _ = await applied(panel, 1), await applied(panel, 2)
    panel.clock.advance(TEN)
    switches.planning[1] = held = asyncio.Event()
    sweeping = asyncio.create_task(care.afterwards.sweep())
    async with asyncio.timeout(10):
        assert [await switches.entered.get() for _ in range(3)] == [1, 2, 2]
    assert panel.switches.state(2) == "enabled"
    assert (await panel.now(slow)).undone_by == "", "it is still being asked about"
    held.set()
    await sweeping
    await care.afterwards.rest(10)
    await care.process.applying.rest(10)
    assert sorted(panel.flips())[-2:] == [(2, "pause"), (2, "resume")]
    assert panel.switches.state(1) == "enabled"


async def test_one_that_never_answers_is_not_begun_twice_and_ends_with_the_bot(panel: Panel, switches):
    care, change = Aftercare.of(panel), await applied(panel)
    panel.clock.advance(TEN)
    switches.planning[1] = asyncio.Event()
    planned = switches.planned
    sweeping = asyncio.create_task(care.afterwards.sweep())
    async with asyncio.timeout(10):
        await switches.held_up.wait()
    panel.clock.advance(timedelta(seconds=20))
    await care.afterwards.sweep()
    assert switches.planned == planned + 1
    await care.afterwards.rest(0.01)
    await sweeping
    assert (await panel.now(change)).undone_by == ""
    assert asyncio.all_tasks() == {asyncio.current_task()}
