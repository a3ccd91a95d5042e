"""After an action the bot looks again, after one and after five minutes: once each, late ones said to be late, nothing for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Role
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.tool import Observation
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.ports import Store
from tests.scenarios.tapped_store import before, tapped
from tests.sessions.aftercare import Aftercare, ReversibleSwitches, passes
from tests.sessions.panel import ANA, VERA, Panel
from tests.small_tools import SESSION


@pytest.fixture
def switches() -> ReversibleSwitches:
    return ReversibleSwitches()


@pytest.fixture
def panel(store: Store, clock: ManualClock, switches: ReversibleSwitches) -> Panel:
    return Panel(store, clock, switches=switches)


def told(proposal: Proposal) -> list[tuple[str, str]]:
    return [(check.verdict, check.summary_en) for check in proposal.checks]


async def test_it_looks_after_one_and_after_five_minutes_and_then_no_more(panel: Panel, switches):
    watch, proposal = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    await passes(panel, watch, seconds=59)
    assert switches.looks == []
    for _ in range(60):
        await passes(panel, watch, seconds=20)
    after = await panel.now(proposal)
    assert switches.looks == [Role.VIEWER, Role.VIEWER], "a look needs no more than a reader's rights"
    assert [round((check.at - panel_finished(after)).total_seconds() / 60) for check in after.checks] == [
        1,
        5,
    ]
    assert "recovered" in str(panel.board.cards[proposal.id])
    assert await panel.steps(proposal) == [
        "proposed",
        "approved",
        "claimed",
        "applied",
        "looked_again",
        "looked_again",
    ]


def panel_finished(proposal: Proposal) -> datetime:
    assert proposal.finished_at is not None
    return proposal.finished_at


async def test_where_nobody_knows_what_came_of_it_anybody_may_have_the_bot_look_once_more(
    panel: Panel, switches
):
    watch = Aftercare.of(panel)
    switches.fault = ToolFailed(Phrase("超时", "It timed out."), outcome_unknown=True)
    unknown = await panel.press(ANA, await panel.propose())
    panel.clock.advance(timedelta(hours=2))
    switches.sees = Observation("as_intended", Phrase("已停", "it is off"))
    looked = await watch.press(VERA, unknown, "look")
    assert (looked.state, told(looked)) == (ProposalState.OUTCOME_UNKNOWN, [("as_intended", "it is off")])
    assert switches.looks == [Role.VIEWER]
    assert "as intended – it is off" in str(panel.board.cards[unknown.id])
    row = (await panel.rows(unknown))[-1]
    assert (row.decision, row.person_id) == ("looked_again", VERA.id)
    assert len(switches.applied) == 1


async def unknown(panel: Panel, switches: ReversibleSwitches) -> Proposal:
    switches.fault = ToolFailed(Phrase("超时", "It timed out."), outcome_unknown=True)
    return await panel.press(ANA, await panel.propose())


async def test_many_presses_that_see_the_same_make_neither_the_record_nor_the_memory_longer(
    panel: Panel, switches
):
    watch, proposal = Aftercare.of(panel), await unknown(panel, switches)
    for _ in range(10):
        panel.clock.advance(timedelta(minutes=1))
        proposal = await watch.press(VERA, proposal, "look")
    assert told(proposal) == [("recovered", "it is off")]
    assert proposal.checks[-1].at == panel.clock.now()
    assert f"{panel.clock.now():%H:%M}" in str(panel.board.cards[proposal.id])
    switches.sees = Observation("worse", Phrase("坏了", "it broke"))
    proposal = await watch.press(VERA, proposal, "look")
    assert told(proposal) == [("recovered", "it is off"), ("worse", "it broke")]
    entries = await panel.store.transcripts.load(SESSION)
    seen = [entry.seen.partition(",")[0] for entry in entries if isinstance(entry, ProposalDecided)]
    assert seen == ["", "recovered", "worse"]


@pytest.mark.parametrize(
    ("ends", "says"), [(False, "The card changed meanwhile"), (True, "This proposal is decided already")]
)
async def test_whoever_asked_for_a_look_that_came_too_late_hears_of_it(
    panel: Panel, switches, ends: bool, says: str
):
    proposal = await unknown(panel, switches)
    to = ProposalState.APPLIED if ends else ProposalState.OUTCOME_UNKNOWN

    async def another_is_faster() -> None:
        await panel.moves.move(await panel.now(proposal), to, ANA, "looked_again", {})

    slower = panel.over(before("proposals.move", another_is_faster)(panel.store))
    looked = await Aftercare.of(slower).press(VERA, proposal, "look")
    assert (looked.state, looked.checks) == (to, ())
    assert [said.startswith(says) for said in panel.board.heard(VERA)] == [True]


async def test_what_has_its_end_or_no_evidence_is_not_looked_at_on_request(store: Store, clock: ManualClock):
    panel = Panel(store, clock)
    watch, done = Aftercare.of(panel), await panel.press(ANA, await panel.propose())
    assert await watch.press(VERA, done, "look") == done
    panel.switches.fault = ToolFailed(Phrase("超时", "It timed out."), outcome_unknown=True)
    unknown = await panel.press(ANA, await panel.propose(2))
    assert await watch.press(VERA, unknown, "look") == unknown
    assert [said.partition(";")[0] for said in panel.board.heard(VERA)][1:] == [
        "A change of this kind names nothing to look at"
    ]


async def test_what_was_seen_is_remembered_for_the_model(panel: Panel, switches):
    watch = Aftercare.of(panel)
    await panel.press(ANA, await panel.propose())
    switches.sees = Observation("worse", Phrase("坏了", "it broke, hunter2-and-more"))
    await passes(panel, watch, seconds=60)
    entries = await panel.store.transcripts.load(SESSION)
    seen = [entry.seen for entry in entries if isinstance(entry, ProposalDecided)]
    assert seen[0] == ""
    assert seen[1].startswith("worse, ")
    assert "it broke" in seen[1]
    assert "hunter2" not in seen[1]


async def test_a_look_after_a_stop_of_the_bot_says_how_late_it_is_and_stands_for_both(panel: Panel, switches):
    proposal = await panel.press(ANA, await panel.propose())
    watch = Aftercare.of(panel)
    await passes(panel, watch, seconds=12 * 60)
    await passes(panel, watch, seconds=60)
    assert told(await panel.now(proposal)) == [("recovered", "it is off (7 min late)")]


async def test_after_an_hour_nobody_looks_any_more(panel: Panel, switches):
    proposal = await panel.press(ANA, await panel.propose())
    await passes(panel, Aftercare.of(panel), seconds=3601)
    assert (await panel.now(proposal)).checks == ()
    assert switches.looks == []


async def test_of_several_processes_one_look_counts(panel: Panel, switches):
    proposal = await panel.press(ANA, await panel.propose())
    await passes(panel, *(Aftercare.of(panel) for _ in range(5)), seconds=61)
    assert len((await panel.now(proposal)).checks) == 1


async def test_a_look_that_fails_cannot_tell_and_says_why(panel: Panel, switches):
    proposal = await panel.press(ANA, await panel.propose())
    switches.sees = ToolFailed(Phrase("调度服务没有响应", "The scheduler did not answer."))
    await passes(panel, Aftercare.of(panel), seconds=61)
    assert told(await panel.now(proposal)) == [("unknown", "The scheduler did not answer.")]


async def test_a_crash_after_the_look_loses_neither_memory_nor_card(panel: Panel, switches):
    proposal = await panel.press(ANA, await panel.propose())

    async def dies(*_: object) -> None:
        raise asyncio.CancelledError

    watch = Aftercare.of(panel)
    settle, panel.one.cards.settle = panel.one.cards.settle, dies  # type: ignore[method-assign,assignment]  # the process ends here
    await passes(panel, watch, seconds=61)
    panel.one.cards.settle = settle  # type: ignore[method-assign]
    two = panel.process("process_2")
    await two.applying.recover()
    assert "recovered" in str(panel.board.cards[proposal.id])
    entries = await panel.store.transcripts.load(SESSION)
    assert [bool(entry.seen) for entry in entries if isinstance(entry, ProposalDecided)] == [False, True]
    await passes(panel, Aftercare.of(panel), seconds=20)
    assert len((await panel.now(proposal)).checks) == 1


async def test_what_was_not_run_is_not_looked_at(panel: Panel, switches):
    await panel.press(ANA, await panel.propose(), "reject")
    await passes(panel, Aftercare.of(panel), seconds=301)
    assert switches.looks == []


async def test_a_sweep_reads_nothing_of_what_is_over(panel: Panel):
    read: list[tuple[str, Any]] = []

    async def noted(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        found = await call()
        read.append((name, found))
        return found

    for task in (1, 2):
        await panel.press(ANA, await panel.propose(task))
    watch = Aftercare.of(panel)
    for _ in range(8):
        await passes(panel, watch, seconds=60)
    watched = Panel(tapped(noted)(panel.store), panel.clock, ids=panel.ids, board=panel.board)
    await passes(watched, Aftercare.of(watched), seconds=60)
    assert read == [("proposals.followed", [])]
