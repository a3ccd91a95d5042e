"""Each way in which a stored action can end has its state, its sentence and its facts, in the language of its card."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from chatops_bot.domain.errors import ToolFailed, ToolImpossible, ToolRefused
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState, sealed_digest
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import Change, Outcome, Plan
from chatops_bot.ports import ToolContext
from chatops_bot.tools.apply import Applied, Applier
from chatops_bot.tools.registry import Registry
from tests.small_tools import KEY, SWITCH, Switch, SwitchArgs

ANA = Person("U2", "Ana", Role.APPROVER)
FAILED, DRIFTED, UNKNOWN = ProposalState.FAILED, ProposalState.DRIFTED, ProposalState.OUTCOME_UNKNOWN
RESTARTED = "The process that ran it ended before it had an answer."


@dataclass
class Troubled(Switch):
    """`at_plan` and `at_probe` are raised there; `outcome` is what applying comes to; `asked` is as whom."""

    at_plan: Exception | None = None
    at_probe: Exception | None = None
    outcome: Outcome | None = None
    facts: dict[str, Any] | None = None
    changes: tuple[Change, ...] | None = None
    planned: int = 0
    asked: ToolContext | None = None

    async def plan(self, arguments: SwitchArgs, context: ToolContext) -> Plan:
        self.planned += 1
        if self.at_plan is not None:
            raise self.at_plan
        plan = await Switch.plan(self, arguments, context)
        facts = plan.preconditions if self.facts is None else self.facts
        return replace(plan, preconditions=facts, changes=self.changes or plan.changes)

    async def apply(self, arguments: SwitchArgs, context: ToolContext) -> Outcome:
        self.asked = context
        outcome = await Switch.apply(self, arguments, context)
        return self.outcome or outcome

    async def probe(self, arguments: SwitchArgs, plan: Plan, context: ToolContext) -> Outcome | None:
        self.asked = context
        if self.at_probe is not None:
            raise self.at_probe
        return await Switch.probe(self, arguments, plan, context)


@pytest.fixture
async def proposal(bench) -> Proposal:
    proposal: Proposal = (await bench.call("switch", '{"task_id": 3, "action": "pause"}')).proposal
    return proposal


async def applied(tool: Switch, proposal: Proposal, redactor: Redactor | None = None) -> Applied:
    return await Applier(Registry([tool]), redactor or Redactor(), Policy(), [KEY]).apply(proposal, ANA)


def said(en: str, zh: str = "无") -> Phrase:
    return Phrase(zh, en)


async def test_it_runs_as_the_approver_for_the_proposal(proposal: Proposal):
    tool = Troubled()
    await applied(tool, proposal)
    assert tool.asked == ToolContext(ANA, proposal.session, proposal.turn_id, idempotency_key=proposal.id)


async def test_what_makes_no_sense_any_more_has_drifted(proposal: Proposal):
    tool = Troubled(at_plan=ToolImpossible(said("It is paused already", "已经暂停")))
    done = await applied(tool, proposal)
    assert (done.state, done.content) == (DRIFTED, {"drifted": {}, "error": "It is paused already"})
    assert "It is paused already" in done.summary.en
    assert "已经暂停" in done.summary.zh
    assert tool.applied == []


def showing(proposal: Proposal, *changes: Change) -> Proposal:
    """The proposal as if it had shown these changes."""
    stored = replace(proposal, plan=replace(proposal.plan, changes=changes))
    return replace(stored, digest=sealed_digest(KEY, stored))


async def test_of_what_is_so_already_only_what_it_would_have_changed_is_told(proposal: Proposal):
    shown = showing(proposal, Change("status", "enabled", "disabled"), Change("owner", "ops", "ops"))
    tool = Troubled(on=False, at_plan=ToolImpossible(said("It is paused already")))
    done = await applied(tool, shown)
    assert (done.state, done.content["drifted"]) == (
        DRIFTED,
        {"status": {"before": "enabled", "now": "disabled"}},
    )


async def test_what_makes_no_sense_and_cannot_be_read_is_drift_without_facts(proposal: Proposal):
    trouble = ToolFailed(said("No reply."))
    tool = Troubled(on=False, at_plan=ToolImpossible(said("It is paused already")), at_probe=trouble)
    done = await applied(tool, proposal)
    assert (done.state, done.content["drifted"]) == (DRIFTED, {})


async def test_what_was_changed_in_the_store_is_told_as_such_in_the_facts(proposal: Proposal):
    done = await applied(Troubled(), replace(proposal, requester_id="U9"))
    assert (done.is_tampered, done.content) == (True, {"tampered": True, "error": done.summary.en})


@pytest.mark.parametrize(("length", "shown"), [(300, "x" * 300), (301, "x" * 300 + "… (301)")])
async def test_of_a_fact_the_sentence_holds_300_characters(proposal: Proposal, length: int, shown: str):
    stored = replace(proposal, plan=replace(proposal.plan, preconditions={"a": "x" * length}))
    done = await applied(Troubled(facts={"a": "y"}), replace(stored, digest=sealed_digest(KEY, stored)))
    assert f"a: {shown} → y." in done.summary.en


@pytest.mark.parametrize("trouble", [ToolFailed(said("No reply.")), ToolRefused(said("No reply."))])
async def test_what_could_not_be_planned_failed_and_ran_nothing(proposal: Proposal, trouble: Exception):
    tool = Troubled(at_plan=trouble)
    done = await applied(tool, proposal)
    assert (done.state, done.summary.en, tool.applied) == (FAILED, "Nothing ran: No reply.", [])
    assert done.content == {"error": "Nothing ran: No reply."}


@pytest.mark.parametrize(
    ("fault", "state", "content"),
    [
        (ToolFailed(said("Refused.")), FAILED, {"error": "Refused."}),
        (ToolRefused(said("Refused.")), FAILED, {"error": "Refused."}),
        (ToolFailed(said("Lost."), outcome_unknown=True), UNKNOWN, {"error": "Lost."}),
    ],
)
async def test_a_failure_is_told_in_the_tools_words(proposal: Proposal, fault, state, content):
    done = await applied(Troubled(fault=fault), proposal)
    assert (done.state, done.content) == (state, content)


async def test_a_tool_that_does_not_return_in_time_may_have_done_it(proposal: Proposal):
    class Hanging(Troubled):
        async def apply(self, arguments: SwitchArgs, context: ToolContext) -> Outcome:
            raise TimeoutError

    done = await applied(Hanging(), proposal)
    assert (done.state, done.content) == (UNKNOWN, {"outcome": "unknown"})
    assert "The change may have happened." in done.summary.en


@pytest.mark.parametrize(("ok", "state"), [(True, ProposalState.APPLIED), (False, FAILED)])
@pytest.mark.parametrize("verified", [True, False])
async def test_what_was_read_back_is_in_the_facts(proposal: Proposal, ok: bool, verified: bool, state):
    outcome = Outcome(ok, verified, said("done with hunter2-and-more"), {"log": "hunter2-and-more"})
    done = await applied(Troubled(outcome=outcome), proposal, Redactor(["hunter2-and-more"]))
    assert (done.state, done.content["verified"]) == (state, verified)
    assert "hunter2" not in str(done)


@pytest.mark.parametrize(
    ("before", "now", "drift"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {}),
        ({"a": 1}, {"a": True}, {"a": {"before": 1, "now": True}}),
        ({"a": 1}, {}, {"a": {"before": 1, "now": None}}),
        ({}, {"b": 2, "a": 1}, {"a": {"before": None, "now": 1}, "b": {"before": None, "now": 2}}),
    ],
)
async def test_every_fact_that_differs_is_drift(proposal: Proposal, before, now, drift):
    stored = replace(proposal, plan=replace(proposal.plan, preconditions=before))
    tool = Troubled(facts=now)
    done = await applied(tool, replace(stored, digest=sealed_digest(KEY, stored)))
    if not drift:
        assert done.state is ProposalState.APPLIED
        return
    assert (done.state, done.content) == (DRIFTED, {"drifted": drift})
    listed = "; ".join(f"{name}: {pair['before']} → {pair['now']}" for name, pair in drift.items())
    assert f"nothing ran: {listed}. Ask" in done.summary.en
    assert tool.applied == []


async def test_of_a_changed_contract_people_see_the_beginning_of_its_hash(proposal: Proposal):
    done = await applied(Troubled(spec=replace(SWITCH, effect=Effect.DESTRUCTIVE)), proposal)
    (pair,) = done.content["drifted"].values()
    assert (len(pair["before"]), len(pair["now"])) == (12, 12)
    assert proposal.tool_hash.startswith(pair["before"])


# -- after a crash ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", [None, ToolFailed(said("No reply.")), KeyError("a bug"), TimeoutError()])
async def test_what_cannot_be_read_back_is_unknown(proposal: Proposal, trouble: Exception | None):
    tool = Troubled(at_probe=trouble)
    done = await Applier(Registry([tool]), Redactor(), Policy(), [KEY]).recover(proposal, ANA)
    assert (done.state, done.content["outcome"]) == (UNKNOWN, "unknown")
    assert done.summary.en == RESTARTED or trouble is None
    assert tool.asked is not None
    assert tool.asked.person == ANA


async def test_a_tool_that_is_gone_leaves_it_unknown(proposal: Proposal):
    gone = Registry([Switch(spec=replace(SWITCH, name="other"))])
    done = await Applier(gone, Redactor(), Policy(), [KEY]).recover(proposal, ANA)
    assert (done.state, done.summary.en) == (UNKNOWN, RESTARTED)


async def recovered(tool: Troubled, proposal: Proposal) -> Applied:
    return await Applier(Registry([tool]), Redactor(), Policy(), [KEY]).recover(proposal, ANA)


async def test_of_an_unknown_outcome_people_see_what_it_would_have_changed_and_how_that_reads_now(
    proposal: Proposal,
):
    shown = showing(
        proposal,
        Change("status", "enabled", "disabled"),
        Change("owner", None, "ops"),
        Change("cron", "1", "2"),
    )
    tool = Troubled(changes=(Change("status", "stuck", "disabled"), Change("owner", "dev", "ops")))
    done = await recovered(tool, shown)
    reads = {"status": {"before": "enabled", "now": "stuck"}}
    assert (done.state, done.content) == (UNKNOWN, {"outcome": "unknown", "reads": reads})


async def test_where_neither_the_outcome_nor_the_target_can_be_read_it_is_unknown(proposal: Proposal):
    done = await recovered(Troubled(at_plan=ToolFailed(said("No reply."))), proposal)
    assert (done.state, done.content) == (UNKNOWN, {"outcome": "unknown"})


async def test_what_is_proved_by_reading_back_is_not_planned_once_more(proposal: Proposal):
    tool = Troubled(on=False)
    assert ((await recovered(tool, proposal)).state, tool.planned) == (ProposalState.APPLIED, 0)
