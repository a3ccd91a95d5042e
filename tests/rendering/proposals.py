"""One proposal in all the states of its life, for tests of cards."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.proposal import Check, Proposal, ProposalState, Reader, Vote
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.tool import Change, Inverse, Plan
from chatops_bot.domain.view import Button, Buttons, Code, Fact, Facts, View

NOW = datetime(2026, 11, 29, 13, 50, tzinfo=UTC)
DECIDED: dict[str, Any] = {
    "decided_by_id": "U2",
    "decided_by_name": "Li Lei",
    "decided_by_role": "approver",
    "decided_at": NOW + timedelta(minutes=2),
}
PLAN = Plan(
    target="task nightly-etl",
    summary=Phrase("更新任务 nightly-etl", "Update task nightly-etl"),
    changes=(
        Change("schedule", "0 2 * * *", "0 3 * * *"),
        Change("retries", None, "3"),
        Change("script", "echo 1\necho 2", "echo 1\necho 3"),
    ),
    risk="high",
    preconditions={"revision": 7},
    details=((Phrase("将执行的脚本", "Script that will run"), "#!/bin/sh\necho 1\necho 3"),),
)
PROPOSAL = Proposal(
    id="prop_1",
    code="K7Q2MX",
    session=SessionKey("slack", "T1", "C1", "1700000000.000100"),
    turn_id="turn_1",
    call_id="call_1",
    tool="update_task",
    effect=Effect.WRITE,
    arguments={"task": "nightly-etl", "schedule": "0 3 * * *", "retries": 3},
    plan=PLAN,
    risk=Risk.HIGH,
    requester_id="U1",
    requester_name="Han Meimei",
    language="en",
    created_at=NOW,
    expires_at=NOW + timedelta(minutes=12),
    digest="0123456789abcdef",
)


def at(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


ANA = Vote("U3", "Ana", "admin", at(3), "button")
BO = Vote("U4", "Bo", "approver", at(5), "code")
CODES = {"prop_2": "NEW2CD", "prop_0": "QLD7EF"}
TWO = {"quorum": 2, "tool_hash": "5f3c0a1b2c3d4e5f", "policy_version": "9a8b7c6d5e4f3a2b"}
REVERSIBLE = replace(
    PLAN,
    inverse=Inverse(
        "update_task",
        {"task": "nightly-etl", "schedule": "0 2 * * *"},
        Phrase("恢复任务 nightly-etl 的原调度", "Restore the schedule of task nightly-etl"),
    ),
)
APPLIED: dict[str, Any] = {
    **DECIDED,
    "state": ProposalState.APPLIED,
    "finished_at": at(3),
    "outcome_text": "schedule is now 0 3 * * *",
}
EARLY = Check(at(4), "no_effect", "下一次运行还没有开始", "the next run has not begun")
LATE = Check(at(8), "recovered", "运行 #42 成功", "run #42 succeeded")
WORSE = Check(at(8), "worse", "运行 #42 也失败了", "run #42 failed too")

LIFE: dict[str, dict[str, Any]] = {
    "asked_again": {"asked_again_at": at(6)},
    "escalated": {"asked_again_at": at(6), "escalated_at": at(9)},
    "read": {"read_by": (Reader("U3", "s" * 64), Reader("U4", "s" * 64)), "asked_again_at": at(6)},
    "two_needed": TWO,
    "one_of_two": {**TWO, "votes": (ANA,)},
    "two_of_two": {**TWO, **APPLIED, "votes": (ANA, BO)},
    "break_glass": {**APPLIED, "votes": (replace(ANA, break_glass="payments are down", via="local"),)},
    "reversible": {"plan": REVERSIBLE},
    "will_be_taken_back": {"plan": REVERSIBLE, "keep_for": timedelta(minutes=30)},
    "undo_of": {"inverse_of": "prop_0"},
    "again_of": {"supersedes": "prop_0"},
    "may_repeat": {"supersedes": "prop_0", "may_repeat": "prop_0"},
    "unknown_renewed": {
        **DECIDED, "state": ProposalState.OUTCOME_UNKNOWN, "outcome_text": "The answer was lost on its way.",
        "superseded_by": "prop_2", "finished_at": at(3),
    },
    "rejected_with_reason": {
        **DECIDED, "state": ProposalState.REJECTED, "reason": "not tonight: the month closes at 06:00",
    },
    "rejected_late": {**DECIDED, "state": ProposalState.REJECTED, "decided_at": at(20)},
    "superseded_by": {"state": ProposalState.SUPERSEDED, "superseded_by": "prop_2"},
    "kept_until": {**APPLIED, "plan": REVERSIBLE, "keep_until": at(22)},
    "kept": {**APPLIED, "plan": REVERSIBLE, "keep_until": at(22), "kept_by_id": "U3", "kept_by_name": "Ana"},
    "can_be_undone": {**APPLIED, "plan": REVERSIBLE},
    "undone": {**APPLIED, "plan": REVERSIBLE, "undone_by": "prop_2"},
    "taken_back": {**APPLIED, "plan": REVERSIBLE, "undone_by": "prop_2", "taken_back_at": at(13)},
    "checked": {**APPLIED, "checks": (EARLY, LATE)},
    "worse": {**APPLIED, "checks": (EARLY, WORSE)},
}  # fmt: skip
"""What a card's life adds to `PROPOSAL`, by name."""


def long_script(lines: int) -> str:
    return "\n".join(f"echo step {number} of the migration" for number in range(1, lines + 1))


def long_proposal(lines: int = 312, **more: Any) -> Proposal:
    """A proposal whose script no card can show whole."""
    script = long_script(lines)
    plan = replace(
        PLAN, changes=PLAN.changes[:2], details=((Phrase("将执行的脚本", "Script that will run"), script),)
    )
    if "plan" in more:
        plan = replace(plan, inverse=more.pop("plan").inverse)
    return replace(PROPOSAL, plan=plan, arguments={"task": "nightly-etl", "payload": script}, **more)


def buttons_of(view: View) -> list[Button]:
    return [button for block in view.blocks if isinstance(block, Buttons) for button in block.buttons]


def controls_of(view: View) -> list[str]:
    return [button.control for button in buttons_of(view)]


def facts_of(view: View) -> list[Fact]:
    return [fact for block in view.blocks if isinstance(block, Facts) for fact in block.facts]


def record_of(view: View) -> str:
    last = view.blocks[-1]
    assert isinstance(last, Code)
    return last.text
