"""Why somebody rejected, said afterwards: by them, once; it is kept like a decision."""

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from chatops_bot.domain.event import ModalSubmitted
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.sealed_button import sealed_button
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.rendering.reason_modal import REASON
from chatops_bot.sessions.decisions import How
from chatops_bot.sessions.reasons import Reasons
from tests.scenarios.tapped_store import before
from tests.sessions.panel import ANA, BEN, BUTTONS, Panel
from tests.small_tools import SESSION


async def rejected(panel: Panel) -> Proposal:
    return await panel.press(ANA, await panel.propose(), "reject")


async def say(panel: Panel, proposal: Proposal, person: Person, reason: str) -> Proposal:
    await panel.one.decisions.by_code(SESSION, proposal.code, person, "reject", "en", reason=reason)
    return await panel.now(proposal)


async def reasons_remembered(panel: Panel) -> list[str]:
    entries = await panel.store.transcripts.load(SESSION)
    return [entry.reason for entry in entries if isinstance(entry, ProposalDecided)]


async def test_whoever_rejected_says_why_afterwards(panel: Panel):
    said = await say(panel, await rejected(panel), ANA, "the backup runs, hunter2-and-more")
    assert said.state is ProposalState.REJECTED
    assert said.reason.startswith("the backup runs, ")
    assert "hunter2" not in said.reason
    assert await reasons_remembered(panel) == ["", said.reason]
    assert await panel.steps(said) == ["proposed", "rejected", "reason_given"]
    assert "the backup runs" in str(panel.board.cards[said.id])
    assert "reason" not in panel.board.buttons(said.id)
    assert panel.board.heard(ANA) == ["Rejected: pause task #1"]
    row = (await panel.rows(said))[-1]
    assert json.loads(row.result) == {"via": "code", "reason": said.reason}


async def test_whoever_rejects_once_more_without_a_reason_gives_none(panel: Panel):
    proposal = await rejected(panel)
    assert await say(panel, proposal, ANA, "") == proposal
    assert panel.board.heard(ANA) == ["This proposal is decided already: rejected (Ana, 14:32 UTC)."]


async def test_of_two_reasons_at_once_the_first_is_kept_and_the_second_told_so(panel: Panel):
    proposal = await rejected(panel)
    slow = panel.over(before("proposals.move", partial(say, panel, proposal, ANA, "the first"))(panel.store))
    assert (await say(slow, proposal, ANA, "the second")).reason == "the first"
    first, second = panel.board.heard(ANA)
    assert (first, second.startswith("This proposal is decided already")) == ("Rejected: pause task #1", True)
    assert await reasons_remembered(panel) == ["", "the first"]


@pytest.mark.parametrize("person", [BEN, ANA])
async def test_nobody_else_says_why_and_nobody_says_it_twice(panel: Panel, person: Person):
    proposal = await rejected(panel)
    if person == ANA:
        proposal = await say(panel, proposal, ANA, "the backup runs")
    assert await say(panel, proposal, person, "no such reason") == proposal
    assert panel.board.heard(person)[-1].startswith("This proposal is decided already")


async def test_a_reason_is_remembered_after_a_crash_that_cut_it_off(panel: Panel):
    proposal = await rejected(panel)
    await panel.moves.move(
        proposal, ProposalState.REJECTED, ANA, "reason_given", {}, reason="the backup runs"
    )
    await panel.process("process_2").applying.recover()
    assert await reasons_remembered(panel) == ["", "the backup runs"]
    assert "the backup runs" in str(panel.board.cards[proposal.id])


async def test_whoever_may_not_decide_any_more_says_why_no_more(panel: Panel):
    proposal = await rejected(panel)
    viewer = replace(ANA, role=Role.VIEWER)
    refusal = await panel.one.decisions.explain(proposal, viewer, How("button", 1), "the backup runs")
    assert isinstance(refusal, Phrase)
    assert refusal.en.startswith("Role viewer may not")
    assert await panel.now(proposal) == proposal
    row = (await panel.rows(proposal))[-1]
    assert (row.decision, json.loads(row.result)) == (
        "refused",
        {"via": "button", "revision": 1, "refused": refusal.en},
    )


async def test_the_dialog_is_answered_before_the_card_is_edited(panel: Panel):
    proposal = await rejected(panel)
    reasons = Reasons(
        proposals=panel.store.proposals, platform=panel.board, directory=panel.people, decisions=panel.one.decisions,
        cards=panel.one.cards, keys=[BUTTONS],
    )  # fmt: skip
    beside: list[asyncio.Task[None]] = []

    def start(work: Coroutine[Any, Any, None]) -> None:
        beside.append(asyncio.create_task(work))

    async def send(person: Person, reason: str) -> bool:
        """Whether it was taken."""
        value = sealed_button(BUTTONS, REASON, proposal.id, proposal.revision)
        event = ModalSubmitted(person, value, {REASON: (reason,)})
        async with asyncio.timeout(5):
            answer = await reasons.submitted(event, start)
        assert answer is not None
        return not answer

    panel.board.slow = edit = asyncio.Event()
    assert await send(ANA, "the backup runs, hunter2-and-more")
    assert (await panel.now(proposal)).reason.startswith("the backup runs")
    assert await send(ANA, "the backup runs, hunter2-and-more"), "whoever sends it off once more has said it"
    assert not await send(ANA, "another reason")
    assert not await send(BEN, "the backup runs, hunter2-and-more")
    edit.set()
    await asyncio.gather(*beside)
    assert "the backup runs" in str(panel.board.cards[proposal.id])
    assert await panel.steps(proposal) == ["proposed", "rejected", "reason_given"]
