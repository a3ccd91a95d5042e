"""A question at a terminal gets the end of its own turn, whatever else runs or is left over in its thread."""

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, cast

import aiohttp

from chatops_bot.app.clock import CountingIds
from chatops_bot.app.local_desk import LocalDesk, Rests
from chatops_bot.domain.event import ControlUsed, MessageReceived
from chatops_bot.domain.people import Role
from chatops_bot.domain.session import RunningTurn, SessionKey, TurnOutcome
from chatops_bot.llm.scripted import ScriptedModel, says
from chatops_bot.platforms.terminal.adapter import CHANNEL, NAME, WORKSPACE, TerminalPlatform
from chatops_bot.platforms.terminal.frames import Opened
from chatops_bot.platforms.terminal.people import LocalPeople
from chatops_bot.rendering.turn_view import TurnView
from chatops_bot.sessions.router import Received, Router
from tests.app.conftest import DEADLINE
from tests.scenarios.conftest import World
from tests.scenarios.tapped_store import tapped
from tests.scenarios.test_drain import Held
from tests.scenarios.test_stop import Gate, Kept

THREAD = "t_mine"
SESSION = SessionKey(NAME, WORKSPACE, CHANNEL, THREAD)


async def frames(answer: aiohttp.ClientResponse) -> list[dict[str, Any]]:
    text = await asyncio.wait_for(answer.text(), DEADLINE)
    return [json.loads(line) for line in text.splitlines()]


async def test_a_question_does_not_end_with_the_turn_that_ran_before_it_in_its_thread(world: World):
    gate, held = Gate("transcripts.load"), Held("first answer.")
    async with AsyncExitStack() as here, AsyncExitStack() as bot:
        await bot.enter_async_context(world.bot(ScriptedModel([]), wrap_store=tapped(gate)))
        api = await here.enter_async_context(world.local_api())
        async with api.post("/ask", json={"text": "first"}) as first:
            thread = json.loads(await asyncio.wait_for(first.content.readline(), DEADLINE))["thread"]
            await asyncio.wait_for(gate.reached.wait(), DEADLINE)
            await bot.aclose()
    model = ScriptedModel([says("The ", "first answer."), says("The second answer.")], before_delta=held)
    async with world.bot(model), world.local_api() as api:
        await asyncio.wait_for(held.reached.wait(), DEADLINE)
        async with api.post("/ask", json={"text": "second", "thread": thread}) as answer:
            held.let_go.set()
            told = await frames(answer)
    assert "The second answer." in json.dumps(told)
    assert told[-1]["outcome"] == "answered"


async def test_a_row_that_was_left_running_in_its_thread_is_not_waited_for(world: World):
    kept = Kept()
    async with world.bot(ScriptedModel([]), wrap_store=kept), world.local_api() as api:
        assert kept.store is not None
        view = TurnView("en", 1000, stop_value="turn_left")
        await kept.store.turns.begin(RunningTurn("turn_left", SESSION, None, "en", view.snapshot()))
        async with api.post("/ask", json={"text": " ", "thread": THREAD}) as answer:
            told = await frames(answer)
    assert "I am here." in json.dumps(told)
    assert told[-1]["outcome"] is None


@dataclass
class SlowToStore:
    """A router that is slow to store a turn, and that stops it when told so."""

    rests: Rests
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: list[str] = field(default_factory=list)

    async def message(self, event: MessageReceived) -> Received:
        self.reached.set()
        await self.go_on.wait()
        return Received(turn_id="turn_1")

    async def handle(self, event: ControlUsed) -> None:
        assert event.control == "stop"
        self.stopped.append(event.value)
        self.rests.tell(event.value, TurnOutcome.STOPPED)


async def test_a_reader_who_leaves_before_the_turn_is_stored_leaves_none_running():
    ids, rests = CountingIds(), Rests()
    terminal, router = TerminalPlatform(ids), SlowToStore(rests)
    unused: Any = None
    desk = LocalDesk(
        terminal=terminal, platform=terminal, people=LocalPeople({}, Role.VIEWER), router=cast("Router", router),
        store=unused, rests=rests, ids=ids, model_name="none", decisions_on=unused, reading=unused, card=unused,
    )  # fmt: skip
    frames = desk.ask("somebody", "first")
    assert isinstance(await anext(frames), Opened)
    reading = asyncio.create_task(anext(frames))
    await asyncio.wait_for(router.reached.wait(), DEADLINE)
    reading.cancel()
    await asyncio.wait({reading})
    router.go_on.set()
    await desk.aclose(DEADLINE)
    assert router.stopped == ["turn_1"]
