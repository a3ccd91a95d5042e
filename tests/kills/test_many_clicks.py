"""Many people press Approve on one card at the same moment, in two processes that share a Redis: it is applied once."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from chatops_bot.app.audit_reading import all_rows, open_audit
from chatops_bot.app.config import Config, Secrets
from chatops_bot.domain.audit_check import Verified, verify
from chatops_bot.domain.proposal import ProposalState
from tests.forked import processes
from tests.kills import clicking_bot
from tests.kills.clicking_bot import Ask, Click, Press, thread_of
from tests.kills.light_bot import open_light_bot
from tests.kills.roads import CROWD, ROADS
from tests.kills.taps import Taps
from tests.kills.wall import WHISPERED, Wall
from tests.kills.yard import KEYS, REDIS_URL, open_yard
from tests.redis_server import RedisServer

APPROVALS = {1: 6, 3: 60, 30: 1000}
"""By the size of the test."""
AT_ONCE = 10
"""Cards that are clicked at the same moment."""
FEWEST, MOST = 2, 50
"""Clicks on one card."""
LEAD_SECONDS = 0.1
"""Until a moment that all processes have heard of."""


@dataclass
class Clicker:
    """One of the bots."""

    name: str
    connection: Connection

    async def does(self, order: Ask | Press) -> None:
        self.connection.send(order)
        async with asyncio.timeout(300):
            assert await asyncio.to_thread(self.connection.recv) is None


@asynccontextmanager
async def clicker(config: Config, secrets: Secrets, wall: Path) -> AsyncIterator[Clicker]:
    ours, theirs = processes.Pipe()
    process = processes.Process(target=clicking_bot.run, args=(config, secrets, wall, theirs))
    process.start()
    theirs.close()
    try:
        yield Clicker(await asyncio.to_thread(ours.recv), ours)
    finally:
        ours.close()
        await asyncio.to_thread(process.join, 30)
        process.kill()
        process.join()
        process.close()


async def click(wall: Wall, cards: dict[int, str], bots: list[Clicker], chance: random.Random) -> int:
    """Click the cards (proposal id by task) of a few tasks at once, through all bots; returns how many clicks that were."""
    presses: list[list[Click]] = [[] for _ in bots]
    for task, proposal_id in cards.items():
        found = wall.button(proposal_id, "approve")
        assert found is not None
        for number in range(chance.randint(FEWEST, MOST)):
            person = chance.choice(CROWD)
            presses[number % len(bots)].append(Click(thread_of(task), person.id, *found))
    for clicks in presses:
        chance.shuffle(clicks)
    moment = time.monotonic() + LEAD_SECONDS
    await asyncio.gather(
        *(bot.does(Press(moment, clicks)) for bot, clicks in zip(bots, presses, strict=True))
    )
    return sum(map(len, presses))


@pytest.mark.soak
@pytest.mark.case("hitl-C01")
async def test_of_many_clicks_at_once_in_two_processes_one_is_carried_out(
    tmp_path: Path, redis: RedisServer, soak: int
):
    count, chance = APPROVALS[soak], random.Random(7)
    async with AsyncExitStack() as stack:
        yard = await stack.enter_async_context(open_yard(tmp_path, redis))
        tasks = [await yard.new_task(f"task-{number}") for number in range(count)]
        config, secrets = yard.config(ROADS[0], tmp_path), yard.secrets()
        wall_file = tmp_path / "wall.db"
        bots = [await stack.enter_async_context(clicker(config, secrets, wall_file)) for _ in range(2)]
        judge = await stack.enter_async_context(open_light_bot(config, secrets, wall_file, Taps(("judge",))))
        cards: dict[int, str] = {}
        clicks = 0
        for first in range(0, count, AT_ONCE):
            some = tasks[first : first + AT_ONCE]
            await asyncio.gather(*(bot.does(Ask(some[n :: len(bots)])) for n, bot in enumerate(bots)))
            waiting = await judge.store.proposals.in_states(frozenset({ProposalState.PENDING}))
            new = {proposal.arguments["task_id"]: proposal.id for proposal in waiting}
            assert sorted(new) == some
            cards |= new
            clicks += await click(judge.wall, new, bots, chance)
        applied = await judge.proposals()
        told = judge.wall.messages(f"{WHISPERED} %")
        async with open_audit(tmp_path, config, {REDIS_URL: secrets.redis_url}) as reader:
            chain = verify(KEYS.audit, [row async for row in all_rows(reader)])
    pauses = Counter((passed.call, passed.key) for passed in yard.gateway.reached("/pause$"))
    by = Counter(proposal.claimed_by for proposal in applied)
    print(f"{count} approvals, {clicks} clicks, {pauses.total()} effects; by process {sorted(by.values())}")
    assert pauses == Counter((f"POST /api/v1/tasks/{task}/pause", cards[task]) for task in tasks)
    assert {proposal.state for proposal in applied} == {ProposalState.APPLIED}
    assert all(len(proposal.votes) == 1 for proposal in applied)
    assert set(by) <= {bot.name for bot in bots}
    assert len(told) == clicks - count
    assert all("This proposal is decided already" in view.fallback for view in told)
    assert isinstance(chain, Verified), chain
