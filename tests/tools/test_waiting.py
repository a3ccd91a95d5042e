"""Which proposals count as waiting for the same: those of the same tool, and those that nobody decided on meanwhile."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import Plan, ToolCall
from chatops_bot.ports import ToolContext
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.invocation import TurnMemory
from chatops_bot.tools.proposal_moves import ProposalMoves
from chatops_bot.tools.registry import Registry
from tests.small_tools import HOUR, OSCAR, SESSION, SWITCH, WORDS, Switch, SwitchArgs, proposer_of

ANA = Person("U2", "Ana", Role.APPROVER)


async def nothing() -> None:
    pass


@dataclass
class Eventful(Switch):
    """While it plans, `meanwhile` happens."""

    meanwhile: Callable[[], Awaitable[None]] = nothing

    async def plan(self, arguments: SwitchArgs, context: ToolContext) -> Plan:
        await self.meanwhile()
        return await Switch.plan(self, arguments, context)


def dispatcher_of(bench, clock: ManualClock, ids: CountingIds, *tools: Switch) -> Dispatcher:
    return Dispatcher(
        Registry(tools), policy=Policy(), audit=bench.store.audit, proposer=proposer_of(bench.store, clock, ids),
        asker=Asker(bench.store.forms, clock, ids, Redactor(), HOUR), redactor=Redactor(), clock=clock, words=WORDS
    )  # fmt: skip


async def proposed(dispatcher: Dispatcher, action: str, turn: str, tool: str = "switch") -> Proposal:
    call = ToolCall("c1", tool, f'{{"task_id": 3, "action": "{action}"}}')
    done = await dispatcher.dispatch(call, ToolContext(OSCAR, SESSION, turn), TurnMemory(), "en")
    assert done.proposal is not None, done.result
    return done.proposal


async def test_equal_arguments_of_another_tool_are_another_change(
    bench, clock: ManualClock, ids: CountingIds
):
    other = Switch(spec=replace(SWITCH, name="switch_over"))
    dispatcher = dispatcher_of(bench, clock, ids, Switch(), other)
    first = await proposed(dispatcher, "pause", "turn_1")
    second = await proposed(dispatcher, "pause", "turn_2", "switch_over")
    assert (second.id != first.id, second.supersedes) == (True, "")
    pending = await bench.store.proposals.in_states(frozenset({ProposalState.PENDING}))
    assert [one.id for one in pending] == [first.id, second.id]


async def test_what_is_decided_while_another_wish_is_planned_was_not_replaced(
    bench, clock: ManualClock, ids: CountingIds
):
    eventful = Eventful()
    dispatcher = dispatcher_of(bench, clock, ids, eventful)
    old = await proposed(dispatcher, "pause", "turn_1")

    async def reject() -> None:
        moves = ProposalMoves(bench.store.proposals, bench.store.audit, clock, Redactor())
        assert await moves.move(old, ProposalState.REJECTED, ANA, "rejected", {})

    eventful.meanwhile = reject
    new = await proposed(dispatcher, "resume", "turn_2")
    stored = await bench.store.proposals.get(old.id)
    assert (stored.state, new.supersedes) == (ProposalState.REJECTED, "")


async def test_from_the_moment_of_its_expiry_on_a_proposal_waits_no_more(
    bench, clock: ManualClock, ids: CountingIds
):
    dispatcher = dispatcher_of(bench, clock, ids, Switch())
    old = await proposed(dispatcher, "pause", "turn_1")
    clock.advance(HOUR)
    assert (await proposed(dispatcher, "pause", "turn_2")).id != old.id
