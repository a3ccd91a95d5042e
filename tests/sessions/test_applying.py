"""An approved action runs as sealed, once, one at a time on a target, for people who still may; or says why it does not."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatops_bot.domain.errors import PlatformError, StoreError, ToolFailed
from chatops_bot.domain.freeze import Freeze, Moment
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Risk, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_rules import Who
from chatops_bot.domain.proposal import Proposal, ProposalState, Reader, Vote, action_digest, sealed_digest
from chatops_bot.domain.sealed_vote import VoteSeals
from chatops_bot.domain.tool import Change, Inverse, Plan
from chatops_bot.domain.view import Code, Fact, Facts, Notice
from chatops_bot.ports import ToolContext
from chatops_bot.tools.apply import Applier
from chatops_bot.tools.invocation import TurnMemory
from tests.sessions.panel import ADAM, ANA, BEN, SEALS, FlipArgs, OtherArgs, Panel, TwoMust, drifted
from tests.small_tools import KEY, OSCAR, SESSION

CLAIMED, APPLIED, UNKNOWN = ProposalState.CLAIMED, ProposalState.APPLIED, ProposalState.OUTCOME_UNKNOWN


def vote_by(panel: Panel, person: Person) -> Vote:
    return Vote(person.id, person.name, person.role.value, panel.clock.now(), "button")


def sealed(proposal: Proposal, *votes: Vote) -> tuple[Vote, ...]:
    return tuple(SEALS.vote(proposal, vote) for vote in votes)


async def approved(panel: Panel, task: int = 1, votes: tuple[Vote, ...] = ()) -> Proposal:
    """A proposal that was approved, by Ana unless `votes` say otherwise, in a process that died right then."""
    proposal = await panel.propose(task)
    moved = await panel.moves.move(
        proposal, ProposalState.APPROVED, ANA, "approved", {}, votes=sealed(proposal, *votes or (vote_by(panel, ANA),)),
        decided_by_id=ANA.id, decided_by_name=ANA.name, decided_by_role=ANA.role.value, decided_at=panel.clock.now(),
    )  # fmt: skip
    assert moved is not None
    return moved


async def claimed(panel: Panel, process: str, task: int = 1) -> Proposal:
    """The same, when the process had claimed it."""
    moved = await panel.moves.move(
        await approved(panel, task), CLAIMED, ANA, "claimed", {}, claimed_by=process, fence=1
    )
    assert moved is not None
    return moved


# -- who --------------------------------------------------------------------------------------------------------------


@pytest.mark.case("hitl-C40")
async def test_rights_are_asked_afresh_right_before_it_runs(panel: Panel):
    proposal = await panel.propose()
    panel.people.known[ANA.id] = replace(ANA, role=Role.OPERATOR)
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.WITHDRAWN
    assert done.outcome_text == (
        "Ana may not approve this any more, so nothing was run. Propose it again if it is still needed."
    )
    assert panel.board.cards[proposal.id].fallback.startswith("Not run, its approval no longer holds: ")
    assert list(panel.board.buttons(proposal.id)) == ["again"]
    assert panel.people.asked == [ANA.id]
    assert panel.flips() == []
    assert await panel.steps(proposal) == ["proposed", "approved", "withdrawn"]


async def test_of_several_approvers_those_who_lost_the_right_do_not_count(panel: Panel):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    await panel.press(ANA, proposal)
    panel.people.known[ANA.id] = replace(ANA, role=Role.VIEWER)
    done = await panel.press(BEN, proposal)
    assert done.state is ProposalState.WITHDRAWN
    assert "Ana may not approve this any more" in done.outcome_text
    assert panel.flips() == []


@pytest.mark.parametrize("ids", [("U2", "U2"), ("local:ana", "local:ben")])
async def test_stored_votes_of_one_person_are_no_quorum(panel: Panel, ids: tuple[str, ...]):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    people = [replace(ANA, id=one) for one in ids]
    panel.people.known |= {person.id: person for person in people}
    proposal = await approved(panel, votes=tuple(vote_by(panel, person) for person in people))
    await panel.one.applying.recover()
    assert (await panel.now(proposal)).state is ProposalState.WITHDRAWN
    assert panel.flips() == []


async def test_an_approver_whom_nobody_can_vouch_for_now_runs_nothing(panel: Panel):
    proposal = await panel.propose()
    panel.people.fault = PlatformError("Slack is away.", "unreachable")
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.WITHDRAWN
    assert "identity could not be confirmed" in done.outcome_text


FORGED: dict[str, Callable[[Proposal, Vote], Vote]] = {
    "no seal": lambda p, vote: vote,
    "no ASCII": lambda p, vote: replace(vote, seal="é"),
    "another key": lambda p, vote: VoteSeals([b"another key"]).vote(p, vote),
    "another proposal": lambda p, vote: SEALS.vote(replace(p, id="prop_other"), vote),
    "another action": lambda p, vote: SEALS.vote(replace(p, digest="0" * 64), vote),
    "another person": lambda p, vote: replace(SEALS.vote(p, vote), person_id=ADAM.id),
    "another name": lambda p, vote: replace(SEALS.vote(p, vote), person_name="Adam"),
    "another role": lambda p, vote: replace(SEALS.vote(p, vote), role="admin"),
    "another moment": lambda p, vote: replace(SEALS.vote(p, vote), at=vote.at - timedelta(minutes=1)),
    "another way": lambda p, vote: replace(SEALS.vote(p, vote), via="local"),
    "broken glass": lambda p, vote: replace(SEALS.vote(p, vote), break_glass="the site is down"),
}


@pytest.mark.case("hitl-C51")
@pytest.mark.parametrize("what", FORGED)
@pytest.mark.parametrize("by", ["the process that runs on", "the next start"])
async def test_whoever_writes_an_approval_into_the_store_runs_nothing(panel: Panel, what: str, by: str):
    proposal = await panel.propose()
    vote = FORGED[what](proposal, vote_by(panel, ANA))
    forged = await panel.store.proposals.move(
        proposal, ProposalState.APPROVED, panel.clock.now(), votes=(vote,)
    )
    assert forged is not None
    if by == "the next start":
        await panel.process("process_2").applying.recover()
    else:
        panel.clock.advance(timedelta(minutes=2))
        await panel.one.applying.sweep()
    done = await panel.now(proposal)
    assert (done.state, panel.flips()) == (ProposalState.WITHDRAWN, [])
    assert done.outcome_text.startswith(f"A stored approval ({vote.person_name}) was not counted by this bot")
    *_, row = await panel.rows(proposal)
    assert (row.decision, json.loads(row.result)["cause"]) == ("withdrawn", "forged")


async def test_a_forged_vote_beside_a_true_one_is_no_quorum(panel: Panel):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    await panel.store.proposals.move(
        proposal, ProposalState.PENDING, panel.clock.now(), votes=(vote_by(panel, ANA),)
    )
    done = await panel.press(BEN, await panel.now(proposal))
    assert (done.state, panel.flips()) == (ProposalState.WITHDRAWN, [])


async def test_a_vote_that_an_older_key_sealed_still_counts(panel: Panel):
    proposal = await panel.propose()
    vote = VoteSeals([KEY]).vote(proposal, vote_by(panel, ANA))
    voted = replace(proposal, votes=(vote,))
    assert VoteSeals([b"a newer key", KEY]).forged(voted) == []
    assert VoteSeals([b"a newer key"]).forged(voted) == [vote]


async def test_a_reader_whom_no_bot_saw_read_has_not_read(panel: Panel):
    proposal = await panel.propose()
    true = SEALS.reader(proposal, ANA.id)
    assert SEALS.has_read(replace(proposal, read_by=(true,)), ANA.id)
    for forged in (Reader(ANA.id, ""), Reader(BEN.id, true.seal), VoteSeals([b"x"]).reader(proposal, BEN.id)):
        assert not SEALS.has_read(replace(proposal, read_by=(forged,)), forged.person_id)


async def test_a_freeze_that_begins_while_it_waits_is_told_as_one_and_without_a_way_around(panel: Panel):
    begins, ends = (panel.clock.now() + timedelta(minutes=minutes) for minutes in (1, 180))
    freeze = Freeze(
        Moment.parse(f"{begins:%H:%M}"), Moment.parse(f"{ends:%H:%M}"), ZoneInfo("UTC"),
        break_glass=Who(roles=(Role.APPROVER,)),
    )  # fmt: skip
    panel.policy = Policy(freezes=[freeze])
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    await panel.store.leases.take("target:task #1", "process_9/other", 600)
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await panel.board.comes_to_show(proposal.id, "It waits for another change")
    panel.clock.advance(timedelta(minutes=2))
    await panel.store.leases.drop("target:task #1", "process_9/other")
    done = await pressing
    assert (done.state, panel.flips()) == (ProposalState.WITHDRAWN, [])
    assert done.outcome_text.startswith("A freeze began after it was approved and before it could run")
    card = str(panel.board.cards[proposal.id])
    assert "break-glass" not in card
    assert "Expired" not in card


async def test_what_somebody_approved_with_less_than_they_have_runs_with_less(panel: Panel):
    less = replace(ADAM, role=Role.APPROVER)
    proposal = await panel.propose()
    await panel.one.decisions.by_code(proposal.session, proposal.code, less, "approve", "en")
    assert (await panel.now(proposal)).state is APPLIED
    assert panel.switches.ran_as == [less]


# -- what -------------------------------------------------------------------------------------------------------------


TAMPERED: dict[str, Callable[[Proposal], Proposal]] = {
    "arguments": lambda p: replace(p, arguments={**p.arguments, "task_id": 2}),
    "one more argument": lambda p: replace(p, arguments={**p.arguments, "note": "x"}),
    "tool": lambda p: replace(p, tool="flop"),
    "tool_hash": lambda p: replace(p, tool_hash="0" * 64),
    "effect": lambda p: replace(p, effect=Effect.READ),
    "risk": lambda p: replace(p, risk=Risk.MEDIUM),
    "requester": lambda p: replace(p, requester_id="U9"),
    "session": lambda p: replace(p, session=replace(p.session, channel="C9")),
    "expiry": lambda p: replace(p, expires_at=p.expires_at + timedelta(hours=9)),
    "policy": lambda p: replace(p, policy_version="other"),
    "quorum": lambda p: replace(p, quorum=2),
    "id": lambda p: replace(p, id="prop_other"),
    "code": lambda p: replace(p, code="AAAAAA"),
    "target": lambda p: replace(p, plan=replace(p.plan, target="task #2")),
    "facts": lambda p: replace(p, plan=replace(p.plan, preconditions={"status": "disabled"})),
    "what was shown": lambda p: replace(p, plan=replace(p.plan, changes=(Change("status", "x", "y"),))),
    "summary": lambda p: replace(p, plan=replace(p.plan, summary=Phrase("无", "nothing"))),
    "undo": lambda p: replace(p, plan=replace(p.plan, inverse=Inverse("flip", {}, Phrase("", "")))),
}


@pytest.mark.case("hitl-C41")
@pytest.mark.case("hitl-C51")
@pytest.mark.parametrize("what", TAMPERED)
async def test_whatever_of_a_stored_action_is_altered_it_does_not_run(panel: Panel, what: str):
    proposal = TAMPERED[what](await panel.propose())
    forged = replace(proposal, digest=action_digest(proposal))
    applier = Applier(panel.registry, panel.redactor, panel.policy, [KEY])
    for stored in (
        proposal,
        forged,
        replace(proposal, digest=sealed_digest(b"another key", proposal)),
        replace(proposal, digest="é"),
    ):
        applied = await applier.apply(stored, ANA)
        assert (applied.state, panel.flips()) == (ProposalState.FAILED, [])
        assert "not the one that was shown" in applied.summary.en


@pytest.mark.case("hitl-C46")
@pytest.mark.case("hitl-C47")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(note=st.text(max_size=40))
async def test_arguments_run_letter_for_letter_as_they_were_stored(panel: Panel, note: str):
    note = note.encode(errors="ignore").decode()
    draft = await panel.drafter.draft(
        panel.switches, panel.switches.spec.arguments(task_id=1, action="pause", note=note),
        ToolContext(OSCAR, SESSION, "turn_1"), call_id="c", language="en",
    )  # fmt: skip
    await panel.moves.add(draft, ANA, {})
    stored = await panel.now(draft)
    assert sealed_digest(KEY, stored) == draft.digest, "what comes back from the store is what was sealed"
    assert stored.arguments["note"] == note


async def test_a_key_that_was_rotated_still_proves_what_it_sealed(panel: Panel):
    proposal = await panel.propose()
    applier = Applier(panel.registry, panel.redactor, panel.policy, [b"a newer key", KEY])
    assert (await applier.apply(proposal, ANA)).state is APPLIED


# -- fresh ------------------------------------------------------------------------------------------------------------


@pytest.mark.case("hitl-C52")
async def test_what_changed_since_is_told_field_by_field_and_nothing_runs(panel: Panel):
    proposal = await panel.propose(1, "pause")
    panel.switches.states[1] = "archived"
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.DRIFTED
    assert drifted(done) == {"status": {"before": "enabled", "now": "archived"}}
    assert "status: enabled → archived" in done.outcome_text
    assert panel.flips() == []


@pytest.mark.case("hitl-C18")
async def test_a_tool_that_means_something_else_by_now_is_drift(panel: Panel):
    proposal = await panel.propose()
    panel.switches.spec = replace(panel.switches.spec, arguments=OtherArgs)
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.DRIFTED
    assert set(drifted(done)) == {"tool"}
    assert panel.flips() == []


async def test_rules_that_changed_since_are_drift(panel: Panel):
    policy = panel.policy = TwoMust(needed=1)
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    policy.edition = "2"
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.DRIFTED
    assert drifted(done) == {"policy": {"before": "1", "now": "2"}}
    assert panel.flips() == []


# -- once, and one at a time ------------------------------------------------------------------------------------------


@pytest.mark.case("hitl-C05")
@pytest.mark.parametrize("processes", [1, 2])
async def test_two_approved_changes_of_one_target_run_one_after_the_other(panel: Panel, processes: int):
    first = await panel.propose(1, "pause", turn="turn_1")
    second = await panel.propose(1, "archive", turn="turn_1")
    panel.switches.gate = asyncio.Event()
    other = panel.one if processes == 1 else panel.process("process_2")
    one = asyncio.create_task(panel.press(ANA, first))
    await panel.switches.entered.get()
    two = asyncio.create_task(panel.press(BEN, second, at=other))
    await panel.board.comes_to_show(
        second.id, "It waits for another change of the same target, task #1, to come to its end."
    )
    assert (await panel.now(second)).state is ProposalState.APPROVED
    panel.switches.gate.set()
    assert (await one).state is APPLIED
    assert (await two).state is ProposalState.DRIFTED, "it finds what the first one changed"
    assert panel.flips() == [(1, "pause")]


async def test_changes_of_two_targets_run_beside_each_other(panel: Panel):
    cards = [await panel.propose(task) for task in (1, 2)]
    panel.switches.gate = asyncio.Event()
    pressing = [asyncio.create_task(panel.press(ANA, card)) for card in cards]
    for _ in cards:
        await panel.switches.entered.get()
    panel.switches.gate.set()
    assert [(await each).state for each in pressing] == [APPLIED, APPLIED]


async def test_a_change_that_waits_for_its_target_beyond_its_time_does_not_run(panel: Panel):
    first = await panel.propose(1, "pause")
    second = await panel.propose(1, "archive")
    panel.switches.gate = asyncio.Event()
    one = asyncio.create_task(panel.press(ANA, first))
    await panel.switches.entered.get()
    two = asyncio.create_task(panel.press(BEN, second))
    await panel.board.comes_to_show(second.id, "It waits for another change")
    assert await panel.store.leases.renew("target:task #1", f"process_1/{first.id}", 4000)
    panel.clock.advance(timedelta(minutes=61))
    assert (await two).state is ProposalState.EXPIRED
    panel.switches.gate.set()
    assert (await one).state is APPLIED
    assert panel.flips() == [(1, "pause")]


async def test_the_claim_says_which_process_runs_it_and_by_which_right(panel: Panel):
    for task in (1, 2, 3):
        await panel.press(ANA, await panel.propose(task))
    again = await panel.press(ANA, await panel.propose(1, "resume"))
    assert (again.claimed_by, again.fence) == ("process_1", 2), "the second who had this target"


@pytest.mark.case("hitl-C56")
async def test_a_lost_reply_is_unknown_and_told_so(panel: Panel):
    proposal = await panel.propose()
    panel.switches.fault = TimeoutError()
    done = await panel.press(ANA, proposal)
    assert done.state is UNKNOWN
    assert len(panel.flips()) == 1


@pytest.mark.case("hitl-C53")
async def test_an_effect_that_was_not_there_when_read_back_is_no_success(panel: Panel):
    panel.switches.sticks = True
    done = await panel.press(ANA, await panel.propose())
    assert done.state is ProposalState.FAILED
    assert done.outcome == {"status": "enabled", "verified": True}


@pytest.mark.case("hitl-C29")
async def test_an_approval_beside_another_turn_of_the_thread_runs_at_once_and_disturbs_nothing(panel: Panel):
    first = await panel.propose(1)
    panel.switches.gate = asyncio.Event()
    pressing = asyncio.create_task(panel.press(ANA, first))
    await panel.switches.entered.get()
    second = await panel.propose(2, turn="turn_2")
    panel.switches.gate.set()
    assert (await pressing).state is APPLIED
    assert (await panel.now(second)).state is ProposalState.PENDING


# -- when a process is taken for dead, and is not ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "state"), [(None, APPLIED), (ToolFailed(Phrase("不行", "No.")), ProposalState.FAILED)]
)
async def test_what_really_came_of_it_takes_the_place_of_outcome_unknown(
    panel: Panel, fault: Exception | None, state: ProposalState
):
    proposal = await panel.propose()
    panel.switches.gate, panel.switches.fault, panel.switches.sticks = asyncio.Event(), fault, True
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await panel.switches.entered.get()
    panel.dead.add("process_1")
    await panel.process("process_2").applying.sweep()
    unknown = await panel.now(proposal)
    assert unknown.state is UNKNOWN
    assert unknown.outcome_text == "The process that ran it ended before it had an answer."
    assert Fact("Status", "read enabled at 14:32 UTC (was enabled when it was asked for)") in [
        fact
        for block in panel.board.cards[proposal.id].blocks
        if isinstance(block, Facts)
        for fact in block.facts
    ]
    panel.switches.states[1] = "disabled"
    panel.switches.gate.set()
    assert (await pressing).state is state
    steps = ["proposed", "approved", "claimed", "outcome_unknown", state.value]
    assert await panel.steps(proposal) == steps
    assert panel.board.cards[proposal.id].fallback.startswith("Done" if state is APPLIED else "Failed")


@pytest.mark.parametrize("lost", ["claim", "target"])
async def test_a_process_that_was_paused_before_the_effect_runs_nothing_any_more(panel: Panel, lost: str):
    """Between the claim and the effect lie a plan and whatever pause the machine makes."""
    proposal = await panel.propose()
    plan, paused, wakes = panel.switches.plan, asyncio.Event(), asyncio.Event()

    async def slow(arguments: FlipArgs, context: ToolContext) -> Plan:
        if not paused.is_set():
            paused.set()
            await wakes.wait()
        return await plan(arguments, context)

    panel.switches.plan = slow  # type: ignore[method-assign]  # a pause at this very point
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await paused.wait()
    if lost == "claim":
        panel.dead.add("process_1")
        await panel.process("process_2").applying.sweep()
        assert (await panel.now(proposal)).state is UNKNOWN
    else:
        await panel.store.leases.drop("target:task #1", f"process_1/{proposal.id}")
        assert await panel.store.leases.take("target:task #1", "process_2/prop_9", 60)
    wakes.set()
    done = await pressing
    assert panel.flips() == []
    assert (done.state, "nothing ran" in done.outcome_text) == (ProposalState.FAILED, True)


async def test_what_came_of_it_is_kept_while_the_store_is_away(panel: Panel):
    proposal, move = await panel.propose(), panel.store.proposals.move
    faults = [StoreError("The disk is full.")]

    async def failing(before: Proposal, to: ProposalState, *more: Any, **changes: Any) -> Proposal | None:
        if to is APPLIED and faults:
            raise faults.pop()
        return await move(before, to, *more, **changes)

    panel.store.proposals.move = failing  # type: ignore[method-assign,assignment]  # a store that is away for a moment
    assert (await panel.press(ANA, proposal)).state is APPLIED
    assert not faults
    assert len(panel.flips()) == 1


async def test_an_end_whose_answer_was_lost_is_known_as_ones_own(panel: Panel):
    proposal, move = await panel.propose(), panel.store.proposals.move
    faults = [StoreError("No answer in time.")]

    async def deaf(before: Proposal, to: ProposalState, *more: Any, **changes: Any) -> Proposal | None:
        moved = await move(before, to, *more, **changes)
        if to is APPLIED and faults:
            raise faults.pop()
        return moved

    panel.store.proposals.move = deaf  # type: ignore[method-assign,assignment]  # a store whose answer is lost
    assert (await panel.press(ANA, proposal)).state is APPLIED
    assert panel.board.cards[proposal.id].fallback.startswith("Done")
    assert await panel.steps(proposal) == ["proposed", "approved", "claimed", "applied"]


@pytest.mark.parametrize("road", ["sweep", "recover"])
async def test_a_change_that_waits_for_its_target_holds_up_no_sweep_and_no_start(panel: Panel, road: str):
    busy, overdue = await approved(panel, 1), await panel.propose(2)
    panel.clock.advance(overdue.expires_at - panel.clock.now() - timedelta(minutes=1))
    await panel.store.leases.take("target:task #1", "process_9/prop_9", 10_000)
    other = panel.process("process_2").applying
    async with asyncio.timeout(4):
        await (other.sweep() if road == "sweep" else other.recover())
    assert (await panel.now(busy)).state is ProposalState.APPROVED
    panel.clock.advance(timedelta(minutes=1))
    async with asyncio.timeout(4):
        await other.sweep()
    assert (await panel.now(overdue)).state is ProposalState.EXPIRED
    await other.rest(4)
    assert panel.flips() == []


# -- after a crash ----------------------------------------------------------------------------------------------------


@pytest.mark.case("hitl-C06")
@pytest.mark.case("hitl-C20")
@pytest.mark.case("hitl-C54")
@pytest.mark.parametrize(("happened", "state"), [(True, APPLIED), (False, UNKNOWN)])
async def test_what_a_dead_process_had_claimed_is_read_back_and_never_tried_again(
    panel: Panel, happened: bool, state: ProposalState
):
    proposal = await claimed(panel, "process_0")
    panel.dead.add("process_0")
    if happened:
        panel.switches.states[1] = "disabled"
    for _ in range(3):
        await panel.process("process_9").applying.recover()
    assert (await panel.now(proposal)).state is state
    assert panel.flips() == []
    assert await panel.steps(proposal) == ["proposed", "approved", "claimed", state.value]


async def test_what_a_living_process_runs_is_left_to_it(panel: Panel):
    proposal = await panel.propose()
    panel.switches.gate = asyncio.Event()
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await panel.switches.entered.get()
    await panel.one.applying.recover()
    await panel.process("process_2").applying.recover()
    assert (await panel.now(proposal)).state is CLAIMED
    panel.switches.gate.set()
    assert (await pressing).state is APPLIED


async def test_recovery_leaves_alone_what_this_process_is_about_to_run(panel: Panel):
    proposal = await panel.propose()
    panel.people.gate = asyncio.Event()
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await panel.people.reached.wait()
    async with asyncio.timeout(5):
        await panel.one.applying.recover()
    panel.people.gate.set()
    assert (await pressing).state is APPLIED
    assert panel.people.asked == [ANA.id]


@pytest.mark.case("hitl-C24")
@pytest.mark.case("hitl-C25")
async def test_what_was_approved_and_not_begun_runs_after_the_restart_once(panel: Panel):
    proposal = await approved(panel)
    processes = [panel.process(f"process_{number}") for number in (2, 3, 4)]
    await asyncio.gather(*(process.applying.recover() for process in processes))
    assert (await panel.now(proposal)).state is APPLIED
    assert panel.flips() == [(1, "pause")]
    assert await panel.steps(proposal) == ["proposed", "approved", "claimed", "applied"]


async def test_the_target_of_a_dead_process_is_free_at_once(panel: Panel):
    await panel.store.leases.take("target:task #1", "process_0/prop_0", 3600)
    panel.dead.add("process_0")
    assert (await panel.press(ANA, await panel.propose())).state is APPLIED


async def test_a_run_that_was_cut_off_keeps_its_target_until_its_process_is_known_to_be_dead(panel: Panel):
    proposal = await panel.propose()
    panel.switches.gate = asyncio.Event()
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await panel.switches.entered.get()
    pressing.cancel()
    await asyncio.wait({pressing})
    assert await panel.store.leases.holder("target:task #1") == f"process_1/{proposal.id}"
    assert (await panel.now(proposal)).state is CLAIMED
    panel.dead.add("process_1")
    panel.switches.gate.set()
    await panel.process("process_2").applying.recover()
    assert (await panel.now(proposal)).state is APPLIED, "proved by reading back"
    assert len(panel.flips()) == 1


@pytest.mark.case("hitl-C19")
async def test_later_turns_and_restarts_run_nothing_again(panel: Panel):
    proposal = await panel.propose()
    await panel.press(ANA, proposal)
    for number in range(20):
        await panel.process(f"process_{number + 2}").applying.recover()
        await panel.one.applying.sweep()
    assert panel.flips() == [(1, "pause")]


@pytest.mark.case("hitl-C55")
async def test_the_key_of_the_effect_is_the_proposals_whatever_process_runs_it(panel: Panel):
    proposal = await approved(panel)
    await panel.process("process_7").applying.recover()
    assert [key for key, _, _ in panel.switches.applied] == [proposal.id]


@pytest.mark.case("hitl-C22")
@pytest.mark.case("hitl-C28")
async def test_a_card_that_was_never_posted_is_posted_after_the_restart(panel: Panel):
    panel.board.refusal = PlatformError("Slack is away.", "unreachable")
    with pytest.raises(PlatformError):
        await panel.propose()
    panel.board.refusal = None
    (proposal,) = await panel.store.proposals.in_states(frozenset({ProposalState.PENDING}))
    await panel.process("process_2").applying.recover()
    assert panel.board.posted == [proposal.id]
    assert (await panel.press(ANA, proposal)).state is APPLIED


async def test_a_change_that_somebody_else_has_made_meanwhile_is_told_once_and_as_things_are_now(
    panel: Panel,
):
    first = await panel.propose()
    panel.memory = TurnMemory()
    second = await panel.propose(turn="turn_2", session=replace(SESSION, thread="2.2"))
    await panel.press(ANA, first)
    done = await panel.press(ANA, second)
    assert (done.state, drifted(done)) == ("drifted", {"status": {"before": "enabled", "now": "disabled"}})
    assert done.outcome_text == (
        "Nothing was run, since things changed after it was asked for: Task #1 is disabled already."
    )
    _, notice, now, facts, *_ = panel.board.cards[done.id].blocks
    assert isinstance(notice, Notice)
    assert notice.text == done.outcome_text
    assert now == Facts((Fact("Status", "now disabled (was enabled when it was asked for)"),))
    assert isinstance(facts, Facts)
    assert "Status" not in [fact.label for fact in facts.facts]


async def test_a_proposal_that_was_changed_in_the_store_is_told_loudly_and_as_what_it_is(
    panel: Panel, caplog: pytest.LogCaptureFixture
):
    asked = await panel.propose()
    proposal = replace(
        asked,
        id="prop_forged",
        code="ZZZZZ2",
        arguments={**asked.arguments, "task_id": 4},
        card=None,
        shown_revision=-1,
    )
    await panel.moves.add(proposal, OSCAR, {})
    await panel.one.cards.show_new(proposal)
    done = await panel.press(ANA, proposal)
    assert (done.state, panel.flips()) == (ProposalState.FAILED, [])
    assert (await panel.steps(proposal))[-1] == "tampered"
    assert [record.levelname for record in caplog.records if "changed in the store" in record.message] == [
        "ERROR"
    ]
    view = panel.board.cards[proposal.id]
    assert "Somebody changed this proposal in the store" in str(view)
    assert panel.board.buttons(proposal.id) == {}
    assert [block.label for block in view.blocks if isinstance(block, Code)] == [
        "What the store holds now (changed, not what was approved)"
    ]
