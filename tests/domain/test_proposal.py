"""What is sealed and what is stored is spelled the same in every release: proposals wait, and are opened again, across one."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.proposal import (
    CHANGEABLE,
    CODE_LENGTH,
    CODE_LETTERS,
    EDGES,
    ENDED,
    GUARDED_BY_EXPIRY,
    Proposal,
    ProposalState,
    action_digest,
    sealed_digest,
)
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.tool import Change, Plan

AT = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)
PLAN = Plan(
    "task #3",
    Phrase("暂停", "pause"),
    (Change("status", "enabled", "disabled"),),
    "low",
    {"status": "enabled"},
)
PROPOSAL = Proposal(
    id="prop_1", code="K7Q2MX", session=SessionKey("slack", "T1", "C1", "1.1"), turn_id="turn_1", call_id="c1",
    tool="pause_task", effect=Effect.WRITE, arguments={"task_id": 3, "note": "夜里"}, plan=PLAN, risk=Risk.LOW,
    requester_id="U1", requester_name="Oscar", language="en", created_at=AT, expires_at=AT + timedelta(hours=1), digest="",
    tool_hash="5f3c", policy_version="9a8b", quorum=2,
)  # fmt: skip


def test_a_release_seals_an_action_as_the_one_before_it():
    assert action_digest(PROPOSAL) == "e74d293d0f1ce4e98d59ca09e476e1bbea0fa7e179895954b1ecdf204c225430"
    assert (
        action_digest(replace(PROPOSAL, keep_for=timedelta(minutes=10)))
        == "277ddd9d77a7e7508bad0e2a737373fbaffbb7c72f8a405d1ab04d69c7ce2f8e"
    )
    assert (
        action_digest(replace(PROPOSAL, may_repeat="prop_0"))
        == "e91c4dc37f25ca3dbba65139e345c0c06776f441dda081d0805f710450f3354e"
    )
    assert (
        sealed_digest(b"k" * 32, PROPOSAL)
        == "9edd7d1954e8b1e0b83fa74c7746255104cba42a228bf70378d343c69a81563c"
    )


def test_one_value_has_one_spelling():
    assert canonical_json({"b": [1, None], "a": "夜"}) == canonical_json({"a": "夜", "b": [1, None]})
    assert canonical_json({"b": [1, None], "a": "夜"}) == '{"a":"夜","b":[1,null]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_has_no_spelling_is_not_sealed(value: object):
    with pytest.raises(ValueError, match="JSON compliant"):
        action_digest(replace(PROPOSAL, arguments={"task_id": value}))


def test_what_was_tried_or_ran_out_may_be_asked_for_again_until_it_was_and_what_was_tampered_with_never():
    again = {state.value for state in ProposalState if replace(PROPOSAL, state=state).may_be_asked_again}
    assert again == {"drifted", "expired", "failed", "outcome_unknown", "withdrawn"}
    failed = replace(PROPOSAL, state=ProposalState.FAILED)
    assert not replace(failed, superseded_by="prop_2").may_be_asked_again
    assert not replace(failed, outcome={"tampered": True}).may_be_asked_again
    assert replace(failed, outcome={"status": "enabled"}).may_be_asked_again
    assert {state.value for state in ENDED} == again | {"applied", "rejected", "superseded"}


def test_a_move_makes_a_new_revision_along_the_table_and_changes_what_may_change():
    moved = PROPOSAL.moved(ProposalState.APPROVED, {"decided_by_id": "U2"})
    assert (moved.state, moved.revision, moved.decided_by_id) == (ProposalState.APPROVED, 1, "U2")
    with pytest.raises(ValueError, match="does not go from pending to applied"):
        PROPOSAL.moved(ProposalState.APPLIED, {})
    with pytest.raises(ValueError, match="does not change digest, quorum"):
        PROPOSAL.moved(ProposalState.APPROVED, {"quorum": 1, "reason": "x", "digest": ""})


def test_states_are_stored_under_these_words():
    assert [state.value for state in ProposalState] == [
        "pending", "approved", "claimed", "applied", "failed", "outcome_unknown", "drifted", "rejected", "expired", "withdrawn", "superseded",
    ]  # fmt: skip


def test_each_state_has_its_ways_on_and_what_expires_is_guarded():
    assert set(EDGES) == set(ProposalState)
    assert {state for state in ProposalState if ProposalState.CLAIMED in EDGES[state]} == {
        ProposalState.APPROVED
    }
    assert {state.value for state in GUARDED_BY_EXPIRY} == {"pending", "approved", "claimed"}


def test_only_what_nobody_approved_may_change():
    names = {field.name for field in fields(Proposal)}
    sealed = {"tool", "tool_hash", "effect", "arguments", "plan", "risk", "requester_id", "session", "policy_version", "quorum", "expires_at", "may_repeat", "keep_for"}  # fmt: skip
    assert names >= CHANGEABLE
    assert not CHANGEABLE & (sealed | {"id", "code", "digest", "state", "revision"})


def test_no_two_letters_of_a_code_look_alike():
    assert CODE_LENGTH == 6
    assert len(set(CODE_LETTERS)) == len(CODE_LETTERS) == 31
    assert not set(CODE_LETTERS) & set("01ILO")


def test_what_is_not_said_of_a_new_proposal_is_empty():
    assert (PROPOSAL.state, PROPOSAL.is_open, PROPOSAL.revision, PROPOSAL.shown_revision) == (
        ProposalState.PENDING,
        True,
        0,
        -1,
    )
    assert Proposal.__dataclass_fields__["quorum"].default == 1
    assert (PROPOSAL.fence, PROPOSAL.votes, PROPOSAL.checks) == (0, (), ())
