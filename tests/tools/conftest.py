"""A dispatcher over two small tools and a real store."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import ToolCall
from chatops_bot.ports import ToolContext
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.invocation import Dispatched, TurnMemory
from chatops_bot.tools.registry import Registry
from tests.small_tools import OSCAR, SESSION, WORDS, Look, Search, Switch, proposer_of


@dataclass
class Bench:
    """A dispatcher with everything around it in reach of the test."""

    store: SqliteStore
    look: Look
    switch: Switch
    search: Search
    registry: Registry
    dispatcher_of: Callable[[Registry], Dispatcher]
    dispatcher: Dispatcher
    memory: TurnMemory = field(default_factory=TurnMemory)

    async def call(
        self, name: str, arguments: str, person: Person = OSCAR, call_id: str = "c1"
    ) -> Dispatched:
        context = ToolContext(person, SESSION, "turn_1")
        return await self.dispatcher.dispatch(ToolCall(call_id, name, arguments), context, self.memory, "en")


@pytest.fixture
async def bench(tmp_path: Path, clock: ManualClock, ids: CountingIds) -> AsyncIterator[Bench]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    look, switch, search, redactor = Look(), Switch(), Search(), Redactor(["hunter2-and-more"])
    registry = Registry([look, switch, search])
    proposer = proposer_of(store, clock, ids)
    asker = Asker(store.forms, clock, ids, redactor, timedelta(hours=1))
    dispatcher_of = partial(
        Dispatcher,
        policy=Policy(),
        audit=store.audit,
        proposer=proposer,
        asker=asker,
        redactor=redactor,
        clock=clock,
        words=WORDS,
    )
    yield Bench(store, look, switch, search, registry, dispatcher_of, dispatcher_of(registry))
    await store.aclose()
