"""Decisions in words: what is asked back, whom a code finds, what becomes of a reason, and what is told and kept."""

import asyncio
import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.freeze import Freeze, Moment
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.policy import Policy, Subject
from chatops_bot.domain.policy_rules import Who
from chatops_bot.domain.proposal import Proposal, ProposalState, Via
from chatops_bot.domain.view import Notice
from chatops_bot.sessions.commands import Verdict
from chatops_bot.sessions.decisions import REASON_CHARS, Decisions, How
from chatops_bot.sessions.telling import Telling
from tests.sessions.panel import ADAM, ANA, BEN, BUTTONS, SEALS, VERA, Panel, TwoMust
from tests.small_tools import HOUR, OSCAR, SESSION

ELSEWHERE = replace(SESSION, thread="9.9")
ALWAYS = Freeze(
    Moment.parse("2026-01-01 00:00"), Moment.parse("2027-01-01 00:00"), ZoneInfo("UTC"),
    break_glass=Who(roles=(Role.APPROVER, Role.ADMIN)),
)  # fmt: skip


def under(panel: Panel, policy: Policy) -> None:
    panel.policy = policy
    panel.one = panel.process("process_1")


async def approve(panel: Panel, proposal: Proposal, person: Person = ANA, **more: Any) -> Proposal:
    await panel.one.decisions.by_code(SESSION, proposal.code, person, "approve", "en", **more)
    return await panel.now(proposal)


async def row(panel: Panel, proposal: Proposal, decision: str) -> dict[str, Any]:
    (found,) = [row for row in await panel.rows(proposal) if row.decision == decision]
    content: dict[str, Any] = json.loads(found.result)
    return content


# -- which one --------------------------------------------------------------------------------------------------------


async def test_what_waits_here_is_what_may_be_decided_on_here_and_now(panel: Panel):
    first, second = await panel.propose(1), await panel.propose(2)
    await panel.propose(3, session=ELSEWHERE)
    decided = await panel.propose(4)
    await panel.press(ANA, decided)
    assert await panel.one.decisions.waiting(SESSION) == [first, second]
    panel.clock.advance(HOUR)
    assert await panel.one.decisions.waiting(SESSION) == []


async def test_of_what_waits_each_may_ask_for_their_own(panel: Panel):
    own, other = await panel.propose(1), await panel.propose(2, person=ADAM)
    assert await panel.one.decisions.waiting(SESSION, OSCAR) == [own]
    assert await panel.one.decisions.waiting(SESSION, ADAM) == [other]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (
            "approve",
            "Nothing was decided: an approval takes no words behind its code. Type “approve {code}” alone",
        ),
        ("reject", "Nothing was decided: type “reject {code}”, and behind it, if you like, why."),
    ],
)
async def test_words_that_make_a_verdict_none_are_answered_with_what_to_type(panel: Panel, verdict, said):
    proposal = await panel.propose()
    for session, code in ((SESSION, proposal.code.lower()), (ELSEWHERE, proposal.code), (SESSION, "NOSUCH")):
        await panel.one.decisions.not_understood(session, code, ANA, verdict, "en")
    here, *others = panel.board.heard(ANA)
    assert here.startswith(said.format(code=proposal.code))
    assert others == ["There is no such proposal here, so nothing was run; check the code on the card."] * 2
    assert await panel.now(proposal) == proposal


@pytest.mark.parametrize(
    ("verdict", "en", "zh"), [("approve", "approve", "批准"), ("reject", "reject", "拒绝")]
)
async def test_a_verdict_without_a_code_is_asked_which_and_decides_nothing(panel: Panel, verdict, en, zh):
    cards = [await panel.propose(1), await panel.propose(2)]
    one, two = (card.code for card in cards)
    for language in ("en", "zh"):
        await panel.one.decisions.ask_which(cards, ANA, verdict, language)
    assert panel.board.heard(ANA) == [
        f"Type “{en} {one}” or “{en} {two}”, or press the button on the card.",
        f"请输入“{zh} {one}”或“{zh} {two}”，或按卡片上的按钮。",
    ]
    assert [await panel.now(card) for card in cards] == cards
    await panel.one.decisions.ask_which(cards[:1], ANA, verdict, "en")
    assert panel.board.heard(ANA)[-1] == f"Type “{en} {one}”, or press the button on the card."


async def test_a_code_is_found_however_it_is_typed_and_only_in_its_thread(panel: Panel):
    proposal = await panel.propose()
    for session, code in ((SESSION, "NOSUCH"), (ELSEWHERE, proposal.code)):
        await panel.one.decisions.by_code(session, code, ANA, "approve", "en")
    assert (
        panel.board.heard(ANA)
        == ["There is no such proposal here, so nothing was run; check the code on the card."] * 2
    )
    assert await panel.now(proposal) == proposal
    await panel.one.decisions.by_code(SESSION, proposal.code.lower(), ANA, "approve", "en")
    assert (await panel.now(proposal)).state is ProposalState.APPLIED


# -- what is kept -----------------------------------------------------------------------------------------------------


async def test_an_approval_of_several_is_kept_with_its_count_and_its_way(panel: Panel):
    under(panel, TwoMust())
    proposal = await panel.propose()
    await approve(panel, proposal)
    content = await row(panel, proposal, "approved")
    assert content == {"via": "code", "votes": 1, "quorum": 2, "digest": proposal.digest}
    assert "1 of 2" in str(panel.board.cards[proposal.id]), "its card shows the vote"
    now = await panel.now(proposal)
    assert (now.decided_by_id, now.decided_at) == ("", None), "nothing is decided yet"
    done = await approve(panel, proposal, BEN)
    assert (done.decided_by_name, done.decided_by_role, done.decided_at) == (
        "Ben",
        "approver",
        panel.clock.now(),
    )


async def test_a_rejection_is_kept_with_who_when_and_why(panel: Panel):
    proposal = await panel.propose()
    await panel.one.decisions.by_code(SESSION, proposal.code, ANA, "reject", "en", reason=" not now ")
    now = await panel.now(proposal)
    assert (now.decided_by_id, now.decided_by_name, now.decided_by_role) == (ANA.id, "Ana", "approver")
    assert (now.decided_at, now.reason, now.outcome_text) == (
        panel.clock.now(),
        "not now",
        "Rejected; nothing was run.",
    )
    assert await row(panel, proposal, "rejected") == {
        "via": "code",
        "after_expiry": False,
        "reason": "not now",
    }
    assert panel.board.heard(ANA) == ["Rejected: pause task #1"], "the card may be screens above"
    assert panel.board.cards[proposal.id].fallback.startswith("Rejected: ")


@pytest.mark.parametrize("late", [timedelta(seconds=-1), timedelta()])
async def test_a_no_is_late_from_the_moment_of_expiry_on(panel: Panel, late: timedelta):
    proposal = await panel.propose()
    panel.clock.advance(HOUR + late)
    await panel.one.decisions.by_code(SESSION, proposal.code, ANA, "reject", "en")
    assert (await row(panel, proposal, "rejected"))["after_expiry"] is (not late)


async def test_a_reason_is_a_sentence_or_two(panel: Panel):
    proposal = await panel.propose()
    await panel.one.decisions.by_code(SESSION, proposal.code, ANA, "reject", "en", reason="x" * 600)
    assert (await panel.now(proposal)).reason == "x" * REASON_CHARS


async def test_a_secret_at_the_end_of_a_long_reason_is_taken_out_before_the_cut(panel: Panel):
    proposal = await panel.propose()
    reason = "x" * (REASON_CHARS - 6) + "hunter2-and-more"
    await panel.one.decisions.by_code(SESSION, proposal.code, ANA, "reject", "en", reason=reason)
    assert "hunter" not in (await panel.now(proposal)).reason


@pytest.mark.parametrize("verdict", ["approve", "reject"])
async def test_what_is_decided_is_decided_and_whoever_tries_hears_by_whom(panel: Panel, verdict):
    proposal = await panel.propose()
    await panel.press(ANA, proposal)
    before = await panel.now(proposal)
    await panel.one.decisions.by_code(SESSION, proposal.code, BEN, verdict, "en")
    assert await panel.now(proposal) == before
    assert panel.board.heard(BEN) == [
        "This proposal is decided already: done (14:32 UTC); approved by Ana at 14:32 UTC."
    ]
    assert panel.flips() == [(1, "pause")]


# -- what is answered -------------------------------------------------------------------------------------------------


async def typed(panel: Panel, proposal: Proposal, person: Person, verdict: Verdict, **more: Any) -> list[str]:
    """What they hear of it."""
    before = len(panel.board.heard(person))
    await panel.one.decisions.by_code(SESSION, proposal.code, person, verdict, "en", **more)
    return panel.board.heard(person)[before:]


async def test_a_typed_approval_is_answered_with_what_is_missing_and_then_with_what_came_of_it(panel: Panel):
    under(panel, TwoMust(3))
    proposal = await panel.propose()
    counted = "Your approval counts; it takes {} more by other people."
    assert await typed(panel, proposal, ANA, "approve") == [counted.format(2)]
    again = (
        "Your approval counts already (since 14:32 UTC), and once a person; it takes 2 more by other people."
    )
    assert await typed(panel, proposal, ANA, "approve") == [again]
    assert await typed(panel, proposal, BEN, "approve") == [counted.format(1)]
    assert await typed(panel, proposal, ADAM, "approve") == ["Done: pause task #1"]
    told = [view for person, view in panel.board.told if person == ADAM.id]
    assert [block.tone for block in told[0].blocks if isinstance(block, Notice)] == ["info"]


@pytest.mark.parametrize("late", [False, True])
async def test_a_typed_rejection_is_answered_once_late_or_not(panel: Panel, late: bool):
    proposal = await panel.propose()
    if late:
        panel.clock.advance(HOUR)
    said = "Rejected, after it had expired at 15:32 UTC; nothing was run."
    assert await typed(panel, proposal, ANA, "reject") == [said if late else "Rejected: pause task #1"]


@pytest.mark.parametrize("verdict", ["approve", "reject"])
async def test_at_a_terminal_the_card_itself_is_the_answer(panel: Panel, verdict: Verdict):
    assert await typed(panel, await panel.propose(), ANA, verdict, via="local") == []


@pytest.mark.parametrize(("verdict", "reason"), [("approve", ""), ("reject", "not now")])
async def test_whoever_decided_cannot_take_it_back_by_another_word(
    panel: Panel, verdict: Verdict, reason: str
):
    approved, rejected = await panel.propose(1), await panel.propose(2)
    await typed(panel, approved, ANA, "approve")
    await typed(panel, rejected, ANA, "reject", reason="the first reason")
    for proposal in (approved, rejected):
        before = await panel.now(proposal)
        (told,) = await typed(panel, proposal, ANA, verdict, reason=reason)
        assert told.startswith("This proposal is decided already: ")
        assert await panel.now(proposal) == before


# -- in a freeze ------------------------------------------------------------------------------------------------------


async def test_the_glass_is_broken_with_a_reason_that_stays_with_the_vote(panel: Panel):
    under(panel, Policy(freezes=[ALWAYS]))
    proposal = await panel.propose()
    refused = await approve(panel, proposal)
    assert (refused.state, refused.votes) == (ProposalState.PENDING, ())
    assert "You may break the glass" in panel.board.heard(ANA)[0]
    assert (await row(panel, proposal, "refused"))["via"] == "code"
    done = await approve(panel, proposal, reason=f" the site is down, {'x' * 474}hunter2-and-more")
    assert done.state is ProposalState.APPLIED
    (vote,) = done.votes
    assert vote.break_glass.startswith("the site is down, ")
    assert len(vote.break_glass) == REASON_CHARS
    assert "hunter" not in vote.break_glass, "a secret is taken out before the cut"
    assert (await row(panel, proposal, "broke_glass"))["break_glass"] == vote.break_glass


async def test_without_a_freeze_there_is_no_glass_to_break(panel: Panel):
    proposal = await panel.propose()
    done = await approve(panel, proposal, reason="just in case")
    assert [vote.break_glass for vote in done.votes] == [""]
    assert "break_glass" not in await row(panel, proposal, "approved")


# -- meanwhile --------------------------------------------------------------------------------------------------------


class TakesItsTime(Policy):
    """The proposal expires while this is asked."""

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self.panel = panel

    def may_approve(
        self, person: Person, subject: Subject, now: datetime, *, break_glass: str = "", via: Via = "button"
    ) -> Phrase | None:
        self.panel.clock.advance(HOUR)
        return None


async def test_an_approval_that_the_store_finds_too_late_is_told_as_late(panel: Panel):
    under(panel, TakesItsTime(panel))
    proposal = await panel.propose()
    done = await approve(panel, proposal)
    assert (done.state, panel.flips()) == (ProposalState.EXPIRED, [])
    late = "This proposal expired at 15:32 UTC; nothing was run. Press Propose again on its card if it is still needed."
    assert (panel.board.heard(ANA), done.outcome_text) == ([late], late)
    assert await panel.steps(proposal) == ["proposed", "refused", "expired"]
    assert panel.board.cards[proposal.id].fallback.startswith("Expired: ")


async def test_who_found_it_before_it_expired_by_a_slow_clock_hears_that_it_was_too_late(panel: Panel):
    slow = ManualClock(panel.clock.now())
    decisions = Decisions(
        proposals=panel.store.proposals, telling=Telling(panel.board), policy=panel.policy, moves=panel.moves,
        cards=panel.one.cards, applying=panel.one.applying, redactor=panel.redactor, clock=slow, keys=[BUTTONS], seals=SEALS,
    )  # fmt: skip
    proposal = await panel.propose()
    panel.clock.advance(HOUR)
    async with asyncio.timeout(10):
        await decisions.approve(proposal, ANA, How("code"))
    assert (await panel.now(proposal)).state is ProposalState.EXPIRED
    assert panel.board.heard(ANA)[0].startswith("This proposal expired at 15:32 UTC")


async def test_at_the_moment_of_expiry_it_is_over_for_everybody(panel: Panel):
    proposal = await panel.propose()
    panel.clock.advance(HOUR)
    await panel.one.decisions.approve(proposal, VERA, How("code"))
    assert panel.board.heard(VERA)[0].startswith("This proposal expired at 15:32 UTC")


@pytest.mark.parametrize("verdict", ["approve", "reject"])
async def test_who_decides_on_what_was_voted_on_meanwhile_decides_on_it_as_it_is(panel: Panel, verdict):
    under(panel, TwoMust())
    stale = await panel.propose()
    await approve(panel, stale)
    decide = panel.one.decisions.approve if verdict == "approve" else panel.one.decisions.reject
    await decide(stale, BEN, How("code"))
    now = await panel.now(stale)
    assert now.state is (ProposalState.APPLIED if verdict == "approve" else ProposalState.REJECTED)
    assert [vote.person_id for vote in now.votes] == [ANA.id, BEN.id][: 2 if verdict == "approve" else 1]
    assert panel.board.heard(BEN) == []


async def test_a_card_in_chinese_answers_in_chinese(panel: Panel):
    proposal = await panel.propose()
    chinese = replace(proposal, language="zh")
    await panel.one.decisions.approve(chinese, Person("U9", "Vera", Role.VIEWER), How("code"))
    (told,) = [view.fallback for person, view in panel.board.told if person == "U9"]
    assert told.startswith("角色 viewer 不能批准")
