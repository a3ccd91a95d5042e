"""A card that waits asks once more, then asks the next people: once, of those who may, and never about what was decided."""

import asyncio
from datetime import timedelta

import pytest

from chatops_bot.domain.errors import PlatformError, PlatformUnavailable
from chatops_bot.domain.people import Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_rules import Rule, Who
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.roster import Roster
from chatops_bot.domain.view import Mention
from chatops_bot.sessions.reminding import SETTLED_AFTER, Reminders
from tests.sessions.panel import ADAM, ANA, BEN, VERA, Panel
from tests.small_tools import OSCAR

MINUTES = tuple(timedelta(minutes=n) for n in range(61))
ROSTER = Roster(
    people={
        OSCAR.id: Role.OPERATOR,
        ANA.id: Role.APPROVER,
        BEN.id: Role.APPROVER,
        VERA.id: Role.VIEWER,
        "local:root": Role.ADMIN,
    },
    groups={"S1": Role.APPROVER},
)
NEXT = Who(people=(ADAM.id, VERA.id), groups=("S2",))


def reminders(panel: Panel, *rules: Rule) -> Reminders:
    """Those of one process; the roster gives Adam his role as the only one whom cards do not call at first."""
    panel.policy = Policy(rules, roster=Roster({**ROSTER.people, ADAM.id: Role.ADMIN}, ROSTER.groups))
    return Reminders(
        proposals=panel.store.proposals, platform=panel.board, policy=panel.policy, moves=panel.moves,
        cards=panel.one.cards, redactor=panel.redactor, clock=panel.clock,
    )  # fmt: skip


def called(panel: Panel, proposal: Proposal, kind: str = "asked_again") -> tuple[str, ...]:
    return next(
        block.called
        for block in panel.board.cards[f"{proposal.id}/{kind}"].blocks
        if isinstance(block, Mention)
    )


async def test_a_card_asks_once_more_at_half_of_its_time_by_a_message_of_its_own(panel: Panel):
    asking, proposal = reminders(panel), await panel.propose()
    panel.clock.advance(MINUTES[29])
    await asking.sweep()
    assert panel.board.posted == [proposal.id]
    panel.clock.advance(MINUTES[1])
    for _ in range(3):
        await asking.sweep()
    assert panel.board.posted == [proposal.id, f"{proposal.id}/asked_again"]
    assert called(panel, proposal) == (ANA.id, BEN.id, ADAM.id, "S1")
    shown = str(panel.board.cards[f"{proposal.id}/asked_again"])
    assert proposal.code in shown
    assert f"https://chat.example/{proposal.id}" in shown
    assert "Asked again at" in str(panel.board.cards[proposal.id])
    assert await panel.steps(proposal) == ["proposed", "asked_again"]


async def test_the_shortest_time_of_the_rules_says_when(panel: Panel):
    asking = reminders(panel, Rule(remind_after=MINUTES[20]), Rule(remind_after=MINUTES[10]))
    proposal = await panel.propose()
    panel.clock.advance(MINUTES[10])
    await asking.sweep()
    assert (await panel.now(proposal)).asked_again_at == panel.clock.now()


async def test_at_three_quarters_the_next_people_are_called_if_they_may_approve(panel: Panel):
    asking, proposal = reminders(panel, Rule(escalate=NEXT)), await panel.propose()
    panel.clock.advance(MINUTES[30])
    await asking.sweep()
    panel.clock.advance(MINUTES[15])
    for _ in range(3):
        await asking.sweep()
    assert panel.board.posted[1:] == [f"{proposal.id}/asked_again", f"{proposal.id}/escalated"]
    assert called(panel, proposal, "escalated") == (ADAM.id, "S2"), "Vera is a viewer"
    assert await panel.steps(proposal) == ["proposed", "asked_again", "escalated"]


async def test_who_comes_late_asks_the_next_people_only(panel: Panel):
    asking, proposal = reminders(panel, Rule(escalate=NEXT)), await panel.propose()
    panel.clock.advance(MINUTES[50])
    for _ in range(3):
        await asking.sweep()
    assert panel.board.posted[1:] == [f"{proposal.id}/escalated"]


async def test_without_next_people_nobody_is_called_a_third_time(panel: Panel):
    asking, proposal = reminders(panel), await panel.propose()
    for _ in range(12):
        panel.clock.advance(MINUTES[5])
        await asking.sweep()
    assert panel.board.posted[1:] == [f"{proposal.id}/asked_again"]


async def test_who_has_approved_is_not_called_again(panel: Panel):
    asking = reminders(panel, Rule(count=2))
    panel.one = panel.process("process_1")
    proposal = await panel.press(ANA, await panel.propose())
    assert len(proposal.votes) == 1
    panel.clock.advance(MINUTES[30])
    await asking.sweep()
    assert called(panel, proposal) == (BEN.id, ADAM.id, "S1")


async def test_two_processes_ask_once(panel: Panel):
    asking = [reminders(panel, Rule(escalate=NEXT)) for _ in range(4)]
    proposal = await panel.propose()
    for minutes in (30, 15):
        panel.clock.advance(MINUTES[minutes])
        await asyncio.gather(*(each.sweep() for each in asking))
    assert panel.board.posted[1:] == [f"{proposal.id}/asked_again", f"{proposal.id}/escalated"]


@pytest.mark.parametrize("decided", ["approve", "reject"])
async def test_what_was_decided_is_not_asked_for_again(panel: Panel, decided: str):
    asking, proposal = reminders(panel), await panel.propose()
    panel.clock.advance(MINUTES[30])
    stale = await panel.store.proposals.in_states(frozenset({ProposalState.PENDING}))
    panel.one = panel.process("process_1")
    await panel.press(ANA, proposal, decided)
    await asking._ask(stale[0], "asked_again", panel.clock.now())
    await asking.sweep()
    assert panel.board.posted == [proposal.id]
    assert "asked_again" not in await panel.steps(proposal)


async def test_what_is_decided_between_the_step_and_its_message_calls_nobody(panel: Panel):
    asking, proposal = reminders(panel), await panel.propose()
    panel.clock.advance(MINUTES[30])
    asked = await moved(panel, proposal)
    panel.one = panel.process("process_1")
    await panel.press(ANA, asked, "reject")
    panel.clock.advance(SETTLED_AFTER)
    await asking._post(asked, "asked_again")
    assert panel.board.posted == [proposal.id]


async def moved(panel: Panel, proposal: Proposal) -> Proposal:
    """The proposal after the step of a process that died before its message."""
    step = await panel.moves.move(
        proposal, ProposalState.PENDING, OSCAR, "asked_again", {}, asked_again_at=panel.clock.now()
    )
    assert step is not None
    return step


@pytest.mark.parametrize("was_posted", [False, True])
async def test_a_crash_between_the_step_and_its_message_leaves_one_message(panel: Panel, was_posted: bool):
    asking, proposal = reminders(panel), await panel.propose()
    panel.clock.advance(MINUTES[30])
    asked = await moved(panel, proposal)
    if was_posted:
        await reminders(panel)._post(asked, "asked_again")
    await asking.sweep()
    assert len(panel.board.posted) == 1 + was_posted, "the process that made the step may be posting it now"
    panel.clock.advance(SETTLED_AFTER)
    for _ in range(3):
        await asking.sweep()
    assert panel.board.posted == [proposal.id, f"{proposal.id}/asked_again"]


async def test_a_message_that_the_chat_refused_comes_later(panel: Panel):
    asking, proposal = reminders(panel), await panel.propose()
    panel.clock.advance(MINUTES[30])
    panel.board.refusal = PlatformError("Slack is down.")
    await asking.sweep()
    panel.board.refusal = None
    panel.clock.advance(SETTLED_AFTER)
    await asking.sweep()
    assert panel.board.posted[1:] == [f"{proposal.id}/asked_again"]


async def test_nothing_is_asked_for_after_its_time(panel: Panel):
    asking, proposal = reminders(panel), await panel.propose()
    panel.clock.advance(MINUTES[60])
    await asking.sweep()
    assert panel.board.posted == [proposal.id]
    assert (await panel.now(proposal)).asked_again_at is None


async def test_a_reminder_carries_no_secret_and_no_live_token(panel: Panel):
    asking = reminders(panel)
    panel.switches.summary = "stop <!channel> hunter2-and-more"
    proposal = await panel.propose()
    panel.clock.advance(MINUTES[30])
    await asking.sweep()
    shown = str(panel.board.cards[f"{proposal.id}/asked_again"])
    assert "stop" in shown
    assert "hunter2" not in shown


def live_calls(panel: Panel) -> list[str]:
    return [
        key
        for key, view in panel.board.cards.items()
        if "/" in key and any(isinstance(block, Mention) for block in view.blocks)
    ]


async def reminded(panel: Panel) -> Proposal:
    """A proposal about which people were called twice."""
    asking, proposal = reminders(panel, Rule(escalate=NEXT)), await panel.propose()
    panel.one = panel.process("process_1")
    for minutes in (30, 15):
        panel.clock.advance(MINUTES[minutes])
        await asking.sweep()
    assert live_calls(panel) == [f"{proposal.id}/asked_again", f"{proposal.id}/escalated"]
    return await panel.now(proposal)


@pytest.mark.parametrize("end", ["approve", "reject", "expire"])
async def test_once_nobody_is_asked_any_more_no_call_stays_live(panel: Panel, end: str):
    proposal = await reminded(panel)
    if end == "expire":
        panel.clock.advance(MINUTES[20])
        await panel.one.applying.sweep()
    else:
        await panel.press(ANA, proposal, end)
    assert live_calls(panel) == []
    assert f"A decision about {proposal.code} was asked for here; none is needed any more" in str(
        panel.board.cards[f"{proposal.id}/escalated"]
    )


async def test_a_crash_before_the_call_was_quietened_leaves_that_to_the_next_process(panel: Panel):
    proposal = await reminded(panel)
    panel.board.refusal = PlatformUnavailable("Slack is away.")
    rejected = await panel.press(ANA, proposal, "reject")
    assert len(live_calls(panel)) == 2
    panel.board.refusal = None
    await panel.process("process_2").cards.catch_up(rejected)
    assert live_calls(panel) == []


async def test_a_call_that_was_on_its_way_while_somebody_decided_is_quietened_too(panel: Panel):
    asking, proposal = reminders(panel), await panel.propose()
    panel.one = panel.process("process_1")
    panel.clock.advance(MINUTES[30])
    panel.board.changed.clear()
    panel.board.slow = on_its_way = asyncio.Event()
    sweeping = asyncio.create_task(asking.sweep())
    await asyncio.wait_for(panel.board.changed.wait(), 10)
    await panel.press(ANA, await panel.now(proposal), "reject")
    on_its_way.set()
    await sweeping
    assert live_calls(panel) == []
