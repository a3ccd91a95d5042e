"""Propose again: the same call, planned as things are now, for whoever presses; one new card for however many presses."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.proposal import Proposal, ProposalState, action_digest
from chatops_bot.domain.secret_argument import reference
from chatops_bot.domain.tool import Plan
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.ports import Store, ToolContext
from tests.scenarios.tapped_store import before
from tests.sessions.panel import ADAM, ANA, BEN, VERA, FlipArgs, Panel, Switches, TwoMust
from tests.small_tools import OSCAR, SESSION

PENDING, SUPERSEDED = ProposalState.PENDING, ProposalState.SUPERSEDED


async def drifted(panel: Panel) -> Proposal:
    proposal = await panel.propose(1, "pause")
    panel.switches.states[1] = "archived"
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.DRIFTED
    return done


async def expired(panel: Panel) -> Proposal:
    proposal = await panel.propose(1, "pause")
    panel.clock.advance(timedelta(minutes=61))
    await panel.one.applying.sweep()
    return await panel.now(proposal)


async def unknown(panel: Panel) -> Proposal:
    """The action took its time, and nobody knows whether it took effect; it did not."""
    proposal = await panel.propose(1, "pause")
    panel.switches.sticks, panel.switches.fault = (
        True,
        ToolFailed(Phrase("超时", "It timed out."), outcome_unknown=True),
    )
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.OUTCOME_UNKNOWN
    panel.switches.sticks, panel.switches.fault = False, None
    return done


async def failed(panel: Panel) -> Proposal:
    proposal = await panel.propose(1, "pause")
    panel.switches.sticks = True
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.FAILED
    panel.switches.sticks = False
    return done


async def pending(panel: Panel) -> list[Proposal]:
    return await panel.store.proposals.in_states(frozenset({PENDING}))


@pytest.mark.parametrize("made", [drifted, expired])
async def test_the_same_call_is_proposed_anew_as_things_are_now(panel: Panel, made):
    old = await made(panel)
    before = panel.switches.state(1)
    superseded = await panel.press(BEN, old, "again")
    (new,) = await pending(panel)
    assert (superseded.state, superseded.superseded_by, new.supersedes) == (SUPERSEDED, new.id, old.id)
    assert (new.arguments, new.tool, new.requester_id) == (old.arguments, old.tool, BEN.id)
    assert new.plan.preconditions == {"status": before}
    assert new.expires_at == panel.clock.now() + timedelta(hours=1)
    assert panel.board.posted == [old.id, new.id]
    assert panel.board.cards[old.id].fallback.startswith("Replaced: ")
    assert (await panel.press(ANA, new)).state is ProposalState.APPLIED
    entries = await panel.store.transcripts.load(SESSION)
    told = [(entry.proposal_id, entry.state) for entry in entries if isinstance(entry, ProposalDecided)]
    assert told == [(old.id, old.state.value), (old.id, "superseded"), (new.id, "applied")]
    assert await panel.steps(new) == ["proposed", "approved", "claimed", "applied"]


@pytest.mark.parametrize("made", [unknown, failed])
async def test_what_was_tried_is_proposed_once_more_and_its_card_keeps_saying_what_came_of_it(
    panel: Panel, made
):
    old = await made(panel)
    after = await panel.press(BEN, old, "again")
    (new,) = await pending(panel)
    assert (after.state, after.outcome_text, after.superseded_by) == (old.state, old.outcome_text, new.id)
    assert panel.flips() == [(1, "pause")], "a press on Propose again runs nothing"
    is_in_doubt = old.state is ProposalState.OUTCOME_UNKNOWN
    assert new.may_repeat == (old.id if is_in_doubt else "")
    card = str(panel.board.cards[new.id])
    assert ("This may be done a second time: nobody knows what came of proposal" in card) is is_in_doubt
    assert f"Proposed again, as {new.code}." in str(panel.board.cards[old.id]) or f"as {new.id}" in str(
        panel.board.cards[old.id]
    )
    assert "again" not in panel.board.buttons(old.id)
    assert await panel.press(ADAM, after, "again") == after
    assert panel.board.heard(ADAM) == ["This was proposed again already; decide on the newer card."]
    assert (await panel.press(ANA, new)).state is ProposalState.APPLIED
    assert panel.flips(new) == [(1, "pause")]


async def test_what_turns_out_to_have_run_after_all_is_not_run_a_second_time(panel: Panel):
    old = await panel.press(BEN, await unknown(panel), "again")
    (new,) = await pending(panel)
    now = panel.clock.now()
    assert await panel.store.proposals.move(old, ProposalState.APPLIED, now, finished_at=now) is not None
    ran = panel.flips()
    assert (await panel.press(ANA, new)).state is ProposalState.WITHDRAWN
    assert panel.flips() == ran
    assert "did take effect after all; so this one was not run" in str(panel.board.cards[new.id])


async def test_an_expired_card_says_when_it_is_proposed_again_that_the_same_may_have_been_done_since(
    panel: Panel,
):
    expired = await panel.propose(1, "pause")
    panel.clock.advance(timedelta(minutes=61))
    await panel.one.applying.sweep()
    panel.memory.writes.clear()
    old = await unknown(panel)
    await panel.press(BEN, await panel.now(expired), "again")
    (new,) = await pending(panel)
    assert new.may_repeat == old.id


async def test_the_doubt_is_sealed_and_goes_on_with_a_card_that_expired(panel: Panel):
    await panel.press(BEN, await unknown(panel), "again")
    (new,) = await pending(panel)
    assert action_digest(new) != action_digest(replace(new, may_repeat=""))
    panel.clock.advance(timedelta(minutes=61))
    await panel.one.applying.sweep()
    await panel.press(BEN, await panel.now(new), "again")
    (newest,) = await pending(panel)
    assert (newest.supersedes, newest.may_repeat) == (new.id, new.may_repeat)


async def test_asked_for_anew_in_words_the_card_says_as_well_that_it_may_be_the_second_time(panel: Panel):
    old = await unknown(panel)
    panel.memory.writes.clear()
    assert (await panel.propose(2, "pause", turn="turn_2")).may_repeat == ""
    assert (await panel.propose(1, "pause", turn="turn_3")).may_repeat == old.id
    panel.clock.advance(timedelta(days=1, minutes=1))
    panel.memory.writes.clear()
    assert (await panel.propose(1, "pause", turn="turn_4")).may_repeat == ""


async def test_what_somebody_changed_in_the_store_is_not_proposed_again(panel: Panel):
    proposal = await panel.propose(1, "pause")
    forged = replace(proposal, state=ProposalState.FAILED, outcome={"tampered": True})
    assert not forged.may_be_asked_again
    assert replace(forged, outcome={}).may_be_asked_again


async def test_whoever_proposes_again_is_the_one_who_asked(panel: Panel):
    await panel.press(ANA, await drifted(panel), "again")
    (new,) = await pending(panel)
    assert (await panel.press(ANA, new)).state is PENDING
    assert panel.board.heard(ANA)[-1].startswith("You asked for this change yourself")


async def test_many_presses_make_one_new_card(panel: Panel):
    old = await drifted(panel)
    processes = [panel.one, panel.process("process_2")]
    presses = [panel.event(person, old, "again") for person in (OSCAR, ANA, BEN, ADAM)] * 3
    await asyncio.gather(*(processes[n % 2].press(press) for n, press in enumerate(presses)))
    assert len(await pending(panel)) == 1
    assert len(panel.board.posted) == 2
    assert (await panel.now(old)).state is SUPERSEDED


async def test_two_old_cards_of_one_call_pressed_at_once_leave_one_that_waits(panel: Panel):
    first = await drifted(panel)
    panel.switches.states[1] = "enabled"
    panel.memory.writes.clear()
    second = await expired(panel)
    assert first.arguments == second.arguments
    events = [panel.event(BEN, first, "again"), panel.event(ADAM, second, "again")]
    processes = [panel.one, panel.process("process_2")]
    await asyncio.gather(*(at.press(event) for at, event in zip(processes, events, strict=True)))
    (stands,) = await pending(panel)
    assert panel.board.cards[stands.id].fallback.startswith("Approval needed: ")
    assert list(panel.board.buttons(stands.id)) == ["approve", "reject"]


async def test_who_may_not_ask_for_it_may_not_ask_again(panel: Panel):
    old = await drifted(panel)
    assert await panel.press(VERA, old, "again") == old
    (told,) = panel.board.heard(VERA)
    assert told.startswith("Role viewer may read but not ask for changes")
    assert await panel.steps(old) == ["proposed", "approved", "claimed", "drifted", "refused"]


async def test_what_makes_no_sense_any_more_is_told_and_the_old_card_stays(panel: Panel):
    old = await drifted(panel)
    panel.switches.states[1] = "disabled"
    assert await panel.press(BEN, old, "again") == old
    assert panel.board.heard(BEN) == ["It cannot be proposed again: Task #1 is disabled already"]
    assert await pending(panel) == []


async def test_what_somebody_asked_for_again_in_words_gets_no_second_card(panel: Panel):
    old = await expired(panel)
    panel.memory.writes.clear()
    new = await panel.propose(1, "pause", turn="turn_2")
    assert await panel.press(BEN, old, "again") == old
    assert panel.board.heard(BEN) == [
        f"The same change waits for approval already, as {new.code}; it was not proposed a second time."
    ]


@pytest.mark.parametrize("state", ["pending", "applied", "rejected", "superseded"])
async def test_what_waits_or_has_its_end_is_not_proposed_again(panel: Panel, state: str):
    proposal = await panel.propose(1)
    if state == "applied":
        await panel.press(ANA, proposal)
    elif state == "rejected":
        await panel.press(ANA, proposal, "reject")
    elif state == "superseded":
        await panel.moves.supersede(proposal, replace(proposal, id="prop_x", code="XXXXXX"), OSCAR)
    before = await panel.now(proposal)
    assert await panel.press(BEN, before, "again") == before
    assert len(panel.board.posted) == 1
    (told,) = panel.board.heard(BEN)
    if state == "superseded":
        assert told.startswith("A newer proposal took the place of this one")
    elif state == "pending":
        assert told == "This proposal still waits to be decided."
    else:
        assert told.startswith(f"This proposal is decided already: {'done' if state == 'applied' else state}")


@dataclass
class Eventful(Switches):
    """The first time it plans after `meanwhile` was given, that happens."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def plan(self, arguments: FlipArgs, context: ToolContext) -> Plan:
        if self.meanwhile is not None:
            await self.meanwhile()
        return await Switches.plan(self, arguments, context)


async def test_whoever_was_a_moment_slower_hears_of_the_newer_card(store: Store, clock: ManualClock):
    eventful = Eventful()
    panel = Panel(store, clock, switches=eventful)
    old = await drifted(panel)
    newer = replace(old, id="prop_x", code="XXXXXX")
    eventful.meanwhile = partial(panel.moves.supersede, old, newer, ANA)
    assert (await panel.press(BEN, old, "again")).superseded_by == "prop_x"
    assert panel.board.heard(BEN) == [
        "A newer proposal took the place of this one, so nothing was run; decide on the newer card."
    ]
    assert await pending(panel) == []


async def test_of_two_presses_that_did_not_see_each_other_the_later_gives_way_and_is_told(
    store: Store, clock: ManualClock
):
    eventful = Eventful()
    panel = Panel(store, clock, switches=eventful)
    first = await drifted(panel)
    panel.switches.states[1] = "enabled"
    panel.memory.writes.clear()
    second = await expired(panel)

    async def the_other_press() -> None:
        eventful.meanwhile = None
        await panel.press(ADAM, second, "again")

    eventful.meanwhile = the_other_press
    await panel.press(BEN, first, "again")
    (stands,) = await pending(panel)
    assert stands.supersedes == second.id
    assert panel.board.cards[stands.id].fallback.startswith("Approval needed: ")
    later = await panel.store.proposals.get((await panel.now(first)).superseded_by)
    assert later is not None
    assert (later.state, later.superseded_by) == (SUPERSEDED, stands.id)
    assert panel.board.cards[later.id].fallback.startswith("Replaced: ")
    assert panel.board.heard(BEN) == [
        f"The same change waits for approval already, as {stands.code}; it was not proposed a second time."
    ]
    assert panel.board.heard(ADAM) == []


async def twice_expired(panel: Panel) -> tuple[Proposal, Proposal]:
    """Two old cards of one call."""
    first = await expired(panel)
    panel.memory.writes.clear()
    return first, await expired(panel)


@pytest.mark.parametrize("voted", [False, True])
async def test_of_two_that_were_stored_at_once_the_older_one_stands_unless_somebody_approved_the_other(
    store: Store, clock: ManualClock, voted: bool
):
    panel = Panel(store, clock, policy=TwoMust())
    first, second = await twice_expired(panel)

    async def the_other_press() -> None:
        clock.advance(timedelta(seconds=1))
        await panel.press(ADAM, second, "again")
        (newer,) = await pending(panel)
        if voted:
            await panel.press(ANA, newer)

    await panel.over(before("proposals.add", the_other_press)(store)).press(BEN, first, "again")
    (stands,) = await pending(panel)
    assert stands.supersedes == (second if voted else first).id
    assert panel.board.cards[stands.id].fallback.startswith("Approval needed: ")
    gone = await panel.now_of((await panel.now(first if voted else second)).superseded_by)
    assert (gone.state, gone.superseded_by) == (SUPERSEDED, stands.id)
    assert panel.board.cards[gone.id].fallback.startswith("Replaced: ")
    told = f"The same change waits for approval already, as {stands.code}; it was not proposed a second time."
    assert (panel.board.heard(BEN), panel.board.heard(ADAM)) == ([told] if voted else [], [])


async def test_what_somebody_approves_just_before_it_would_make_way_is_run(panel: Panel):
    first, second = await twice_expired(panel)

    async def the_other_press() -> None:
        panel.clock.advance(timedelta(seconds=1))
        await panel.press(ADAM, second, "again")

    async def approve_that() -> None:
        await panel.press(ANA, await panel.now_of((await panel.now(second)).superseded_by))

    late = before("proposals.move", approve_that, nth=2)(
        before("proposals.add", the_other_press)(panel.store)
    )
    await panel.over(late).press(BEN, first, "again")
    assert panel.flips() == [(1, "pause")]
    (stands,) = await pending(panel)
    assert list(panel.board.buttons(stands.id)) == ["approve", "reject"]
    assert (await panel.press(ANA, stands)).state is ProposalState.DRIFTED


async def test_what_somebody_typed_in_secret_is_gone_so_it_is_asked_for_anew(panel: Panel):
    arguments = panel.switches.spec.arguments(task_id=1, action="pause", note=reference("form_1", "s_1"))
    context = ToolContext(OSCAR, SESSION, "turn_1")
    old = await panel.drafter.draft(panel.switches, arguments, context, call_id="c", language="en")
    await panel.moves.add(old, OSCAR, {})
    await panel.one.cards.show_new(old)
    panel.clock.advance(timedelta(hours=1))
    await panel.one.applying.sweep()
    assert (await panel.press(BEN, old, "again")).state is ProposalState.EXPIRED
    assert panel.board.heard(BEN) == [
        "It cannot be proposed again: what was typed into its form is deleted; ask for the change again and fill it in anew."
    ]


async def test_a_secret_in_the_reason_why_it_cannot_be_is_not_told(store: Store, clock: ManualClock):
    eventful = Eventful()
    panel = Panel(store, clock, switches=eventful)
    old = await drifted(panel)

    async def refuse() -> None:
        raise ToolFailed(Phrase("不行", "No login with hunter2-and-more."))

    eventful.meanwhile = refuse
    assert await panel.press(BEN, old, "again") == old
    (told,) = panel.board.heard(BEN)
    assert told.startswith("It cannot be proposed again: No login with ")
    assert "hunter2" not in told


async def test_the_audit_says_how_it_was_asked_for_again_and_of_whom(panel: Panel):
    old = await drifted(panel)
    await panel.press(BEN, old, "again")
    (new,) = await pending(panel)
    (row,) = await panel.rows(new)
    assert (
        json.loads(row.result).items()
        >= {"via": "button", "revision": old.revision, "supersedes": old.id}.items()
    )
    assert (new.call_id, new.turn_id, new.language) == (old.call_id, old.turn_id, old.language)


async def test_a_crash_before_the_new_card_leaves_an_old_one_that_says_so(panel: Panel):
    old = await drifted(panel)
    await panel.moves.supersede(old, replace(old, id="prop_x", code="XXXXXX"), BEN)
    await panel.process("process_2").applying.recover()
    assert "The bot was cut off before the new proposal was made" in str(panel.board.cards[old.id])
