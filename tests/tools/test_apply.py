"""An approved action runs as stored, once, or says plainly why it did not or may not have."""

from dataclasses import replace

import pytest

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState, sealed_digest
from chatops_bot.domain.redaction import Redactor
from chatops_bot.tools.apply import Applier
from tests.small_tools import KEY

ANA = Person("U2", "Ana", Role.APPROVER)


@pytest.fixture
async def proposal(bench) -> Proposal:
    proposal: Proposal = (await bench.call("switch", '{"task_id": 3, "action": "pause"}')).proposal
    return proposal


@pytest.fixture
def applier(bench) -> Applier:
    return Applier(bench.registry, Redactor(), Policy(), [KEY])


async def test_the_stored_action_runs_once_under_its_own_key(bench, applier: Applier, proposal: Proposal):
    applied = await applier.apply(proposal, ANA)
    assert applied.state is ProposalState.APPLIED
    assert applied.content == {"status": "disabled", "verified": True}
    assert bench.switch.applied == [proposal.id]


@pytest.mark.case("hitl-C52")
async def test_a_target_that_changed_is_drift_and_nothing_runs(bench, applier: Applier, proposal: Proposal):
    bench.switch.on = False
    applied = await applier.apply(proposal, ANA)
    assert applied.state is ProposalState.DRIFTED
    assert "status: enabled → disabled" in applied.summary.en
    assert bench.switch.applied == []


async def test_of_a_long_fact_that_changed_the_sentence_holds_a_beginning(
    bench, applier: Applier, proposal: Proposal
):
    plan = replace(proposal.plan, preconditions={**proposal.plan.preconditions, "payload": "x" * 200_000})
    changed = replace(proposal, plan=plan)
    applied = await applier.apply(replace(changed, digest=sealed_digest(KEY, changed)), ANA)
    assert applied.state is ProposalState.DRIFTED
    assert len(applied.summary.en) < 1_000
    assert "… (200,000) → None" in applied.summary.en
    assert applied.content["drifted"]["payload"]["before"] == "x" * 200_000


@pytest.mark.case("hitl-C41")
@pytest.mark.parametrize(
    "forgery",
    [{"arguments": {"task_id": 3, "action": "resume"}}, {"requester_id": "U9"}, {"tool": "look"}],
)
async def test_a_stored_action_that_was_altered_does_not_run(
    bench, applier: Applier, proposal: Proposal, forgery
):
    applied = await applier.apply(replace(proposal, **forgery), ANA)
    assert applied.state is ProposalState.FAILED
    assert "not the one that was shown" in applied.summary.en
    assert bench.switch.applied == []


@pytest.mark.case("peer-T75")
@pytest.mark.parametrize(
    ("fault", "state"),
    [
        (ToolFailed(Phrase("拒绝", "The scheduler refused.")), ProposalState.FAILED),
        (ToolFailed(Phrase("没有回音", "No reply."), outcome_unknown=True), ProposalState.OUTCOME_UNKNOWN),
        (KeyError("a bug"), ProposalState.OUTCOME_UNKNOWN),
        (TimeoutError(), ProposalState.OUTCOME_UNKNOWN),
    ],
)
async def test_a_failure_is_told_from_an_unknown_outcome(
    bench, applier: Applier, proposal: Proposal, fault, state
):
    bench.switch.fault = fault
    applied = await applier.apply(proposal, ANA)
    assert applied.state is state
    assert len(bench.switch.applied) == 1


@pytest.mark.case("hitl-C06")
@pytest.mark.parametrize(
    ("on", "state"), [(False, ProposalState.APPLIED), (True, ProposalState.OUTCOME_UNKNOWN)]
)
async def test_after_a_crash_the_outcome_is_read_back_and_never_tried_again(
    bench, applier: Applier, proposal: Proposal, on, state
):
    bench.switch.on = on
    assert (await applier.recover(proposal, ANA)).state is state
    assert bench.switch.applied == []
