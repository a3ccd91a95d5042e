"""Many approvals, each pressed by many people at the same instant on two processes with a connection each: one apply each."""

import asyncio

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.domain.audit_check import Verified, verify
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.stores.redis import RedisStore
from tests.redis_server import RedisServer
from tests.sessions.panel import Panel

KEY = ChainKey.of(b"k" * 32)
APPROVALS = 34
"""In the small size; a thousand in the full one."""
FEWEST, MOST = 2, 50


@pytest.mark.soak
@pytest.mark.case("hitl-C01")
async def test_whoever_presses_wherever_each_approval_is_applied_once(
    redis: RedisServer, clock: ManualClock, soak: int
):
    stores = [await RedisStore.open(redis.url, f"bot_{n}", KEY) for n in range(2)]
    here = Panel(stores[0], clock)
    there = Panel(stores[1], clock, board=here.board, switches=here.switches, people=here.people)
    processes = [here.one, there.process("process_2")]
    crowd = [Person(f"U1{number}", f"Approver {number}", Role.APPROVER) for number in range(MOST)]
    here.people.known |= {person.id: person for person in crowd}
    count, presses = APPROVALS * soak, 0
    for number in range(count):
        proposal = await here.propose(task=number + 1)
        people = crowd[: FEWEST + number * (MOST - FEWEST) // max(1, count - 1)]
        events = [here.event(person, proposal, "approve") for person in people]
        pressed = (processes[n % 2].press(event) for n, event in enumerate(events))
        await asyncio.gather(*pressed)
        presses += len(events)
        done = await here.now(proposal)
        assert done.state is ProposalState.APPLIED
        assert here.flips(proposal) == [(number + 1, "pause")]
    print(f"[measured] {count} approvals, {presses} presses, {len(here.flips())} applied")
    assert len(here.flips()) == count
    assert isinstance(verify([KEY], await stores[1].audit.page(0, 100_000)), Verified)
    for store in stores:
        await store.aclose()
