"""A decision that was under way for longer than its proposal had to live is late, whatever the time was when it set out."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from chatops_bot.app.clock import ManualClock, SystemClock
from chatops_bot.domain.errors import TurnLost
from chatops_bot.domain.form import Form, FormState
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import RunningTurn
from chatops_bot.ports import process_lease
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.sqlite import SqliteStore
from tests.contracts.test_store import a_form, a_proposal
from tests.redis_server import RedisServer
from tests.sessions.panel import Panel
from tests.small_tools import SESSION

LIFE = timedelta(seconds=0.3)


def short_lived(at: datetime) -> tuple[Proposal, Form]:
    """A proposal and a form that live for a moment."""
    until = at + LIFE
    return (
        replace(a_proposal(), created_at=at, expires_at=until),
        replace(a_form(), created_at=at, expires_at=until),
    )


@pytest.fixture
async def shared(redis: RedisServer) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(redis.url, "bot_a")
    yield store
    await store.aclose()


async def test_redis_measures_the_time_itself(redis: RedisServer, shared: RedisStore):
    now = SystemClock().now()
    proposal, form = short_lived(now)
    await shared.proposals.add(proposal)
    await shared.forms.add(form)
    redis.send("CLIENT", "PAUSE", "600", "WRITE")
    assert await shared.proposals.move(proposal, ProposalState.APPROVED, now) is None
    assert await shared.forms.move(form, FormState.SUBMITTED, now) is None
    assert await shared.proposals.move(proposal, ProposalState.REJECTED, now), "a late reject is a reject"


async def test_a_clock_that_is_behind_makes_no_proposal_live_longer(shared: RedisStore):
    now = SystemClock().now()
    proposal, _ = short_lived(now)
    await shared.proposals.add(proposal)
    await asyncio.sleep(LIFE.total_seconds())
    assert await shared.proposals.move(proposal, ProposalState.APPROVED, now - timedelta(hours=1)) is None


async def test_the_file_is_asked_in_the_transaction(tmp_path: Path, clock: ManualClock):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    now = clock.now()
    proposal, form = short_lived(now)
    await store.proposals.add(proposal)
    await store.forms.add(form)
    busy, entered = threading.Event(), threading.Event()

    def holds_up(db: object) -> None:
        entered.set()
        busy.wait(10)

    holding = asyncio.create_task(store._file.write(holds_up))
    await asyncio.to_thread(entered.wait, 10)
    moves = [
        asyncio.create_task(store.proposals.move(proposal, ProposalState.APPROVED, now)),
        asyncio.create_task(store.forms.move(form, FormState.SUBMITTED, now)),
    ]
    await asyncio.sleep(0)
    clock.advance(LIFE)
    busy.set()
    await holding
    assert [await move for move in moves] == [None, None]
    await store.aclose()


async def test_a_turn_that_another_process_took_over_asks_for_nothing_and_replaces_nothing(
    redis: RedisServer, shared: RedisStore
):
    other = await RedisStore.open(redis.url, "bot_b")
    await other.leases.take(process_lease("bot_b"), "bot_b", 60)
    older, newer = a_proposal(1), a_proposal(2)
    await shared.turns.begin(RunningTurn("turn_1", older.session, None, "en", ""))
    await shared.proposals.add(older, by_turn="turn_1")
    await other.turns.take_over()
    with pytest.raises(TurnLost):
        await shared.proposals.move(older, ProposalState.SUPERSEDED, older.created_at, by_turn="turn_1")
    with pytest.raises(TurnLost):
        await shared.proposals.add(newer, by_turn="turn_1")
    with pytest.raises(TurnLost):
        await shared.forms.add(a_form(), by_turn="turn_1")
    assert await shared.proposals.get(newer.id) is None
    assert await shared.forms.open() == []
    assert await shared.proposals.get(older.id) == older
    await shared.proposals.add(newer)
    await shared.forms.add(a_form())
    await other.aclose()


@pytest.mark.parametrize(
    "arguments", ['{"task_id": 1, "action": "pause"}', '{"action": "pause"}'], ids=["proposal", "form"]
)
async def test_neither_does_a_call_of_it(
    redis: RedisServer, shared: RedisStore, clock: ManualClock, arguments: str
):
    other = await RedisStore.open(redis.url, "bot_b")
    await other.leases.take(process_lease("bot_b"), "bot_b", 60)
    await shared.turns.begin(RunningTurn("turn_1", SESSION, None, "en", ""))
    panel = Panel(shared, clock)
    await other.turns.take_over()
    with pytest.raises(TurnLost):
        await panel.call(arguments)
    assert (await shared.forms.open(), await shared.proposals.in_states(frozenset(ProposalState))) == ([], [])
    await other.aclose()
