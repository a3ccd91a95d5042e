"""Who decides what: each vote once, each decision by one compare-and-set, each no told and kept."""

import asyncio
import random
from dataclasses import replace
from datetime import timedelta
from itertools import permutations, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import ProposalState, Via
from chatops_bot.domain.sealed_button import sealed_button
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.sessions.commands import Verdict
from tests.conftest import SOAK_SIZE
from tests.sessions.panel import ADAM, ANA, BEN, BUTTONS, VERA, Panel, Says, TwoMust
from tests.small_tools import OSCAR, SESSION

LATE = timedelta(minutes=61)


async def test_one_approval_runs_the_stored_action_once(panel: Panel):
    proposal = await panel.propose()
    done = await panel.press(ANA, proposal)
    assert done.state is ProposalState.APPLIED
    assert panel.flips() == [(1, "pause")]
    assert [(vote.person_id, vote.role, vote.via) for vote in done.votes] == [("U2", "approver", "button")]
    assert await panel.steps(proposal) == ["proposed", "approved", "claimed", "applied"]
    assert "approve" not in panel.board.buttons(proposal.id)


async def test_the_row_of_what_was_asked_and_of_what_was_approved_hold_the_seal_of_what_ran(panel: Panel):
    proposal = await panel.propose()
    await panel.press(ANA, proposal)
    asked, approved, *_ = await panel.rows(proposal)
    for row in (asked, approved):
        assert f'"digest":"{proposal.digest}"' in row.result
    assert '"revision":0' in approved.result
    assert '"via":"button"' in approved.result


async def test_it_takes_as_many_people_as_the_policy_says_and_each_counts_once(panel: Panel):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    assert proposal.quorum == 2
    first = await panel.press(ANA, proposal)
    assert first.state is ProposalState.PENDING
    again = await panel.press(ANA, proposal)
    assert again == first, "a second vote of the same person moves nothing"
    assert panel.flips() == []
    (told,) = panel.board.heard(ANA)
    assert (
        told
        == "Your approval counts already (since 14:32 UTC), and once a person; it takes 1 more by other people."
    )
    done = await panel.press(BEN, proposal)
    assert done.state is ProposalState.APPLIED
    assert panel.flips() == [(1, "pause")]
    assert done.decided_by_id == BEN.id, "whose approval completed the quorum"
    assert await panel.steps(proposal) == ["proposed", "approved", "approved", "claimed", "applied"]


async def test_everybody_at_this_machine_is_one_voice(panel: Panel):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    here = [Person(f"local:{name}", f"local:{name}", Role.APPROVER) for name in ("ana", "ben")]
    panel.people.known |= {person.id: person for person in here}
    proposal = await panel.propose()
    for person in here:
        await panel.one.decisions.by_code(SESSION, proposal.code, person, "approve", "en", via="local")
    assert (await panel.now(proposal)).state is ProposalState.PENDING
    assert (await panel.press(ANA, proposal)).state is ProposalState.APPLIED


async def test_one_no_ends_it_whoever_approved_before(panel: Panel):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    await panel.press(ANA, proposal)
    assert (await panel.press(BEN, proposal, "reject")).state is ProposalState.REJECTED
    await panel.one.decisions.by_code(SESSION, proposal.code, ADAM, "approve", "en")
    assert panel.flips() == []
    assert panel.board.heard(ADAM) == ["This proposal is decided already: rejected (Ben, 14:32 UTC)."]


@pytest.mark.case("hitl-C32")
@pytest.mark.parametrize("control", ["approve", "reject"])
async def test_who_may_not_decide_is_told_so_and_the_audit_keeps_it(panel: Panel, control: str):
    proposal = await panel.propose()
    assert await panel.press(VERA, proposal, control) == proposal
    (told,) = panel.board.heard(VERA)
    assert told.startswith(f"Role viewer may not {control} this change")
    *_, refused = await panel.rows(proposal)
    assert (refused.decision, refused.person_id, refused.status) == ("refused", VERA.id, "pending")
    assert told in refused.result


@pytest.mark.case("hitl-C33")
@pytest.mark.parametrize("via", ["button", "code", "local"])
@pytest.mark.parametrize("control", ["approve", "reject"])
async def test_no_way_to_decide_goes_round_the_policy(panel: Panel, via: Via, control: Verdict):
    policy = panel.policy = Says()
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    if via == "button":
        await panel.press(ADAM, proposal, control)
    else:
        await panel.one.decisions.by_code(SESSION, proposal.code, ADAM, control, "en", via=via)
    assert await panel.now(proposal) == proposal
    assert policy.asked == [(ADAM.id, via if control == "approve" else None)]
    assert panel.board.heard(ADAM) == ["No."]
    assert await panel.steps(proposal) == ["proposed", "refused"]


@pytest.mark.case("hitl-C33")
@pytest.mark.parametrize("via", ["button", "code", "local"])
async def test_the_policy_is_asked_again_when_it_runs_about_the_way_that_was_taken(panel: Panel, via: Via):
    policy = panel.policy = Says(nos=1)
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    if via == "button":
        await panel.press(ADAM, proposal)
    else:
        await panel.one.decisions.by_code(SESSION, proposal.code, ADAM, "approve", "en", via=via)
    assert policy.asked == [(ADAM.id, via)] * 2
    assert (await panel.now(proposal)).state is ProposalState.WITHDRAWN
    assert panel.flips() == []


@pytest.mark.case("hitl-C01")
@pytest.mark.case("hitl-C03")
@pytest.mark.case("hitl-C04")
async def test_fifty_presses_on_two_processes_are_one_decision_and_the_others_learn_of_it(panel: Panel):
    proposal = await panel.propose()
    processes = [panel.one, panel.process("process_2")]
    crowd = [Person(f"U1{number}", f"Approver {number}", Role.APPROVER) for number in range(50)]
    panel.people.known |= {person.id: person for person in crowd}
    presses = [(processes[n % 2], panel.event(one, proposal, "approve")) for n, one in enumerate(crowd)]
    await asyncio.gather(*(process.press(event) for process, event in presses))
    done = await panel.now(proposal)
    assert done.state is ProposalState.APPLIED
    assert panel.flips() == [(1, "pause")]
    winner = done.decided_by_name
    losers = [(person, panel.board.heard(person)) for person in crowd if person.name != winner]
    assert all(len(said) == 1 and winner in said[0] for _, said in losers)
    assert {view.blocks[0].tone for _, view in panel.board.told} == {"info"}, "nothing went wrong for them"  # type: ignore[union-attr]  # notices
    assert await panel.steps(proposal) == ["proposed", "approved", "claimed", "applied"]


@pytest.mark.case("hitl-C02")
async def test_the_state_moves_before_anything_happens_or_is_said(panel: Panel):
    proposal = await panel.propose()
    seen: list[str] = []
    panel.board.on_show = lambda key, view: seen.append(view.fallback.partition(":")[0])
    panel.switches.gate = asyncio.Event()
    pressing = asyncio.create_task(panel.press(ANA, proposal))
    await panel.switches.entered.get()
    assert (await panel.now(proposal)).state is ProposalState.CLAIMED
    assert "Done" not in seen
    panel.switches.gate.set()
    await pressing
    assert seen[-1] == "Done"


@pytest.mark.case("hitl-C08")
async def test_ids_and_seals_of_many_cards_are_all_different(panel: Panel):
    for task in range(1, 21):
        await panel.propose(task)
    values = [
        panel.board.buttons(key)[control].value
        for key in panel.board.cards
        for control in ("approve", "reject")
    ]
    assert len(set(values)) == 40


@pytest.mark.case("hitl-C36")
@pytest.mark.parametrize("swept", [True, False])
async def test_a_late_no_is_a_no_and_is_told_as_late(panel: Panel, swept: bool):
    proposal = await panel.propose()
    event = panel.event(ANA, proposal, "reject")
    panel.clock.advance(LATE)
    if swept:
        await panel.one.applying.sweep()
        assert (await panel.now(proposal)).state is ProposalState.EXPIRED
    await panel.one.press(event)
    done = await panel.now(proposal)
    assert (done.state, done.decided_by_id) == (ProposalState.REJECTED, ANA.id)
    said = "Rejected, after it had expired at 15:32 UTC; nothing was run."
    assert (panel.board.heard(ANA), done.outcome_text) == ([said], said)
    *_, row = await panel.rows(proposal)
    assert row.decision == "rejected"
    assert '"after_expiry":true' in row.result
    entries = await panel.store.transcripts.load(SESSION)
    states = [entry.state for entry in entries if isinstance(entry, ProposalDecided)]
    assert states == (["expired", "rejected"] if swept else ["rejected"])


@pytest.mark.case("hitl-C34")
@pytest.mark.case("hitl-C35")
@pytest.mark.parametrize("swept", [True, False])
@pytest.mark.parametrize(("late", "in_time"), [(-0.001, True), (0, False), (0.001, False)])
async def test_a_late_yes_runs_nothing_and_card_audit_and_clicker_say_expired(
    panel: Panel, late: float, in_time: bool, swept: bool
):
    proposal = await panel.propose()
    event = panel.event(ANA, proposal, "approve")
    panel.clock.advance(proposal.expires_at + timedelta(seconds=late) - panel.clock.now())
    if swept:
        await panel.one.applying.sweep()
    await panel.one.press(event)
    done = await panel.now(proposal)
    if in_time:
        assert done.state is ProposalState.APPLIED
        return
    assert done.state is ProposalState.EXPIRED
    assert panel.flips() == []
    assert "approved" not in await panel.steps(proposal)
    assert panel.board.heard(ANA) == [
        "This proposal expired at 15:32 UTC; nothing was run. Press Propose again on its card if it is still needed."
    ]
    assert panel.board.cards[proposal.id].fallback.startswith("Expired: ")


async def test_an_hour_later_everybody_hears_that_it_expired_whatever_they_did_or_may(panel: Panel):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    await panel.press(ANA, proposal)
    late = {person: panel.event(person, proposal, "approve") for person in (ANA, VERA, BEN)}
    panel.clock.advance(LATE)
    for person, event in late.items():
        await panel.one.press(event)
        assert panel.board.heard(person)[-1].startswith("This proposal expired at 15:32 UTC")
    assert panel.flips() == []


async def test_a_card_that_another_process_drew_later_is_not_left_behind(panel: Panel):
    panel.policy = TwoMust()
    panel.one, other = panel.process("process_1"), panel.process("process_2")
    early = await panel.propose()
    await panel.press(ANA, early, at=other)
    assert "1 of 2" in str(panel.board.cards[early.id])
    await panel.one.cards.show(early)
    assert "1 of 2" in str(panel.board.cards[early.id])


async def test_an_older_card_that_lands_late_does_not_stay_on_top(panel: Panel):
    panel.policy = TwoMust()
    panel.one, other = panel.process("process_1"), panel.process("process_2")
    proposal = await panel.propose()
    late = panel.board.slow = asyncio.Event()
    panel.board.changed.clear()
    first = asyncio.create_task(panel.press(ANA, proposal))
    await panel.board.changed.wait()
    assert (await panel.press(BEN, proposal, at=other)).state is ProposalState.APPLIED
    late.set()
    await first
    assert panel.board.cards[proposal.id].fallback.startswith("Done: ")
    assert (await panel.now(proposal)).shown_revision == (await panel.now(proposal)).revision


async def test_a_reason_to_reject_is_kept_and_told_to_the_model_without_secrets(panel: Panel):
    proposal = await panel.propose()
    await panel.one.decisions.by_code(
        SESSION, proposal.code, ANA, "reject", "en", reason=" the backup runs, password hunter2-and-more "
    )
    done = await panel.now(proposal)
    assert done.reason.startswith("the backup runs, password ")
    assert "hunter2" not in done.reason
    (entry,) = await panel.store.transcripts.load(SESSION)
    assert isinstance(entry, ProposalDecided)
    assert entry.reason == done.reason


# -- bound to what was shown ------------------------------------------------------------------------------------------


FORGED = [
    "",
    "prop_1",
    "x",
    "prop_1.0.",
    "prop_1.0." + "0" * 32,
    "prop_9.0." + "f" * 32,
    "prop_1.-1." + "0" * 32,
]


@pytest.mark.case("hitl-C41")
@pytest.mark.case("hitl-C42")
@pytest.mark.case("hitl-C21")
@pytest.mark.parametrize("control", ["approve", "reject", "again"])
async def test_a_button_that_this_program_did_not_make_gets_one_honest_answer_and_a_row(
    panel: Panel, control: str
):
    proposal = await panel.propose()
    other = {"approve": "reject", "reject": "approve", "again": "approve"}[control]
    elsewhere = sealed_button(b"another key", control, proposal.id, 0)
    later = sealed_button(BUTTONS, control, proposal.id, proposal.revision + 1)
    nowhere = sealed_button(BUTTONS, control, "prop_999", 0)
    values = [*FORGED, sealed_button(BUTTONS, other, proposal.id, 0), elsewhere, later, nowhere]
    for value in values:
        await panel.one.press(panel.event(ADAM, proposal, control, value))
    assert await panel.now(proposal) == proposal
    assert len(panel.board.heard(ADAM)) == len(values)
    assert all("This button belongs to no proposal here" in said for said in panel.board.heard(ADAM))
    refused = [row for row in await panel.rows() if row.decision == "refused"]
    assert [row.person_id for row in refused] == [ADAM.id] * len(values)
    assert await panel.store.proposals.in_states(frozenset(ProposalState)) == [proposal]


@pytest.mark.case("hitl-C45")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_one_changed_character_of_a_buttons_value_decides_nothing(panel: Panel, data: st.DataObject):
    pending = await panel.store.proposals.in_states(frozenset({ProposalState.PENDING}))
    proposal = pending[0] if pending else await panel.propose()
    value = sealed_button(BUTTONS, "approve", proposal.id, 0)
    at = data.draw(st.integers(0, len(value)))
    other = data.draw(st.text(max_size=2))
    forged = value[:at] + other + value[at + data.draw(st.integers(0, 2)) :]
    if forged != value:
        await panel.one.press(panel.event(ADAM, proposal, "approve", forged))
        assert await panel.now(proposal) == proposal


async def test_a_press_on_a_card_that_was_drawn_anew_since_counts_and_says_which_it_showed(panel: Panel):
    panel.policy = TwoMust()
    panel.one = panel.process("process_1")
    proposal = await panel.propose()
    early = panel.event(BEN, proposal, "approve")
    await panel.press(ANA, proposal)
    await panel.one.press(early)
    assert (await panel.now(proposal)).state is ProposalState.APPLIED
    votes = [row for row in await panel.rows(proposal) if row.decision == "approved"]
    assert ['"revision":0' in row.result for row in votes] == [True, True]


async def test_a_press_from_another_thread_is_none_of_this_card(panel: Panel):
    proposal = await panel.propose()
    event = panel.event(ADAM, proposal, "approve")
    await panel.one.press(replace(event, session=replace(SESSION, thread="9.9")))
    assert await panel.now(proposal) == proposal


@pytest.mark.case("hitl-C15")
@pytest.mark.parametrize("control", ["form_submit", "stop", "followup", "approved", "again"])
async def test_the_seal_of_one_press_is_none_for_another(panel: Panel, control: str):
    proposal = await panel.propose()
    value = panel.board.buttons(proposal.id)["approve"].value
    await panel.one.press(panel.event(ADAM, proposal, control, value))
    assert await panel.now(proposal) == proposal


@pytest.mark.case("hitl-C15")
@pytest.mark.parametrize("control", ["approve", "reject", "again"])
@pytest.mark.parametrize(
    "value",
    [
        "form_1", "{proposal}", "{code}", "approve {code}", "", "null", "true", '{"approved": true}',
        '{"status": "ok", "proposal": "{proposal}", "decision": "approved"}', '{"tool": "flip", "arguments": {"task_id": 3}}',
        "turn_1", "stop", "{proposal}.0.", "{proposal}.0.00",
    ],
)  # fmt: skip
async def test_a_decision_is_made_by_its_own_button_and_no_other_payload(
    panel: Panel, control: str, value: str
):
    proposal = await panel.propose()
    forged = value.replace("{proposal}", proposal.id).replace("{code}", proposal.code)
    await panel.one.press(panel.event(ADAM, proposal, control, forged))
    assert await panel.now(proposal) == proposal
    assert panel.switches.applied == []


# -- many cards -------------------------------------------------------------------------------------------------------


ORDERS_AND_VERDICTS = list(product(permutations(range(5)), product(("approve", "reject"), repeat=5)))
TRIED = {"": 6, "ci": 200, "full": len(ORDERS_AND_VERDICTS)}[SOAK_SIZE]


@pytest.mark.soak
@pytest.mark.case("hitl-C07")
@pytest.mark.case("hitl-C09")
@pytest.mark.case("hitl-C11")
async def test_each_of_five_cards_gets_its_own_decision_in_any_order(panel: Panel):
    for run, (order, verdicts) in enumerate(random.Random(7).sample(ORDERS_AND_VERDICTS, TRIED)):
        session = replace(SESSION, thread=f"7.{run}")
        cards = [await panel.propose(5 * run + number + 1, session=session) for number in range(5)]
        for number in order:
            await panel.press(ANA, cards[number], verdicts[number])
        for number, (card, verdict) in enumerate(zip(cards, verdicts, strict=True)):
            is_approved = verdict == "approve"
            state = (await panel.now(card)).state
            assert state is (ProposalState.APPLIED if is_approved else ProposalState.REJECTED), (
                order,
                verdicts,
            )
            assert panel.flips(card) == ([(5 * run + number + 1, "pause")] if is_approved else [])
    print(f"{TRIED} of {len(ORDERS_AND_VERDICTS)} orders and verdicts")


@pytest.mark.case("hitl-C30")
@pytest.mark.case("hitl-C37")
async def test_waiting_looking_and_starting_again_decide_nothing(panel: Panel):
    proposal = await panel.propose()
    panel.clock.advance(LATE - timedelta(minutes=2))
    for process in (panel.one, panel.process("process_2")):
        assert await process.decisions.waiting(SESSION) == [proposal]
        await process.applying.sweep()
        await process.applying.recover()
    assert await panel.now(proposal) == proposal
    assert await panel.steps(proposal) == ["proposed"]


async def test_an_operator_may_reject_what_they_asked_for_themselves(panel: Panel):
    proposal = await panel.propose()
    assert (await panel.press(OSCAR, proposal, "reject")).state is ProposalState.REJECTED
