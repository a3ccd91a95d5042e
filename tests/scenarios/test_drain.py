"""The end of the process: what runs may finish, what does not is said so and handed over, and nothing hangs for long."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest

from chatops_bot.app.bootstrap import CUT_SECONDS, WEB_CLOSE_SECONDS, come_to_rest, open_bot
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import LocalConfig, ShutdownConfig
from chatops_bot.app.local_api import CLOSING_SECONDS
from chatops_bot.app.process import END_SECONDS
from chatops_bot.domain.model import TextDelta
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from chatops_bot.platforms.slack.socket import CLOSE_TIMEOUT
from chatops_bot.sessions.ending import LETTING_GO_SECONDS
from tests.scenarios.conftest import Json, World, action_ids, everything, until, visible
from tests.scenarios.gateway import Fault
from tests.scenarios.tapped_store import tapped
from tests.scenarios.test_change import PAUSE, asked_for, code_of, pausing
from tests.scenarios.test_restart import INTERRUPTED, HeldAt
from tests.scenarios.test_stop import PAUSE_TASK, Gate, held_answer, shows

MARGIN = 1.5
"""Seconds that a busy machine may add to an end."""


def draining(world: World, seconds: float) -> Any:
    return world.config(shutdown=ShutdownConfig(drain_seconds=seconds), local=LocalConfig(role="approver"))


async def approves(api: aiohttp.ClientSession, code: str) -> bool:
    """Approve at a terminal; whether that led where it should."""
    async with api.post("/approve", json={"code": code}) as answer:
        return bool((await answer.json())["is_done"])


class Ending:
    """A bot whose end a test can start, watch and hurry."""

    def __init__(
        self, world: World, seconds: float, model: ScriptedModel, wrap_store: Any = lambda store: store
    ) -> None:
        self.hurry = asyncio.Event()
        self._stack = AsyncExitStack()
        self._bot = open_bot(
            draining(world, seconds), world.secrets(), clock=SystemClock(), ids=RandomIds(),
            model=model, wrap_store=wrap_store, hurry=self.hurry,
        )  # fmt: skip

    async def __aenter__(self) -> "Ending":
        await self._stack.enter_async_context(self._bot)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def begins(self) -> asyncio.Task[float]:
        async def end() -> float:
            began = time.monotonic()
            await self._stack.aclose()
            return time.monotonic() - began

        return asyncio.create_task(end())


class Held:
    """Holds a model before the delta with this text until it is let go."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.reached, self.let_go = asyncio.Event(), asyncio.Event()

    async def __call__(self, delta: Any) -> None:
        if isinstance(delta, TextDelta) and delta.text == self._text:
            self.reached.set()
            await self.let_go.wait()


async def test_with_nothing_under_way_the_end_comes_at_once(world: World):
    async with Ending(world, 15, ScriptedModel([])) as bot:
        assert await bot.begins() < MARGIN


async def test_a_running_turn_is_answered_to_its_end_and_new_events_go_to_the_next_process(world: World):
    held = Held("the rest.")
    async with Ending(world, 15, ScriptedModel([says("Half and ", "the rest.")], before_delta=held)) as bot:
        ts = await world.says("oscar", f"{world.mention} tell me")
        await asyncio.wait_for(held.reached.wait(), 10)
        ending = bot.begins()
        later = await world.says("ana", f"{world.mention} and me?")
        held.let_go.set()
        await ending
        _, answer = await world.settled(ts, 1)
        assert visible(answer) == "Half and the rest."
        assert len(await world.thread(later)) <= 2
    async with world.bot(ScriptedModel([says("You too.")])):
        _, answer = await world.settled(later, 1)
    assert visible(answer) == "You too."


async def test_a_turn_that_does_not_end_in_time_is_marked_with_what_it_found(world: World):
    held = HeldAt("never")
    async with Ending(world, 0.3, ScriptedModel([says("Found so far. ", "never")], before_delta=held)) as bot:
        ts, _ = await held_answer(world, held)
        assert await bot.begins() < 0.3 + MARGIN
    _, answer = await world.thread(ts)
    assert visible(answer).strip() == "Found so far."
    assert INTERRUPTED["en"] in everything(answer)
    assert action_ids(answer) == []


async def test_a_second_wish_cuts_at_once(world: World):
    held = HeldAt("never")
    async with Ending(world, 15, ScriptedModel([says("Text. ", "never")], before_delta=held)) as bot:
        ts, _ = await held_answer(world, held)
        ending = bot.begins()
        bot.hurry.set()
        assert await ending < MARGIN
    assert INTERRUPTED["en"] in everything((await world.thread(ts))[1])


async def test_a_slack_that_does_not_answer_cannot_hold_up_the_end(world: World):
    held = HeldAt("never")
    async with Ending(world, 0.2, ScriptedModel([says("Text. ", "never")], before_delta=held)) as bot:
        ts, _ = await held_answer(world, held)
        world.to_slack.faults.append(
            Fault("POST /api/", {"ok": False, "error": "internal_error"}, times=1000)
        )
        assert await bot.begins() < 0.2 + CUT_SECONDS + MARGIN
    world.to_slack.faults.clear()
    async with world.bot(ScriptedModel([])):
        answer = await shows(world, ts, INTERRUPTED["en"], place=1)
    assert visible(answer).strip() == "Text."


async def test_a_tool_that_hangs_cannot_hold_up_the_end(world: World):
    gate = Gate("audit.record", 2)  # the first is that somebody asked
    model = ScriptedModel([calls(("query_tasks", {}), text="Let me look.")])
    async with Ending(world, 0.2, model, tapped(gate)) as bot:
        ts = await world.says("oscar", f"{world.mention} look")
        await asyncio.wait_for(gate.reached.wait(), 10)
        assert await bot.begins() < 0.2 + CUT_SECONDS + MARGIN
    assert INTERRUPTED["en"] in everything((await world.thread(ts))[1])


@pytest.mark.parametrize("way", ["click", "typed", "terminal"])
async def test_a_decision_that_is_being_carried_out_comes_to_its_end(world: World, way: str):
    """The approved action is held right before it runs; the end waits for it."""
    gate = Gate("proposals.move", 2)
    async with Ending(world, 15, pausing(), tapped(gate)) as bot, world.local_api() as api:
        ts, card = await asked_for(world, "pause it please")
        code = code_of(card)
        deciding: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
            "click": lambda: world.click("ana", card, "approve"),
            "typed": lambda: world.says("ana", f"approve {code}", ts),
            "terminal": lambda: approves(api, code),
        }
        decision = asyncio.create_task(deciding[way]())
        await asyncio.wait_for(gate.reached.wait(), 10)
        ending = bot.begins()
        # Longer than what is cut off gets, shorter than what is waited for.
        await asyncio.wait({ending}, timeout=CUT_SECONDS + MARGIN if way == "terminal" else 0)
        gate.opened.set()
        await ending
        await decision
    (done,) = [m for m in await world.thread(ts) if m["ts"] == card["ts"]]
    assert everything(done).startswith("Done: ")
    assert len(world.to_scheduler.reached(PAUSE)) == 1


async def test_what_waits_is_handed_over_with_its_message(world: World):
    held = HeldAt("never")
    async with Ending(world, 0.2, ScriptedModel([says("One. ", "never")], before_delta=held)) as bot:
        ts, _ = await held_answer(world, held)
        await world.says("ana", "second", ts)
        await shows(world, ts, "Waiting – 1 before this")
        await world.says("vera", "third", ts)
        await shows(world, ts, "Waiting – 2 before this")
        await bot.begins()
    assert ["this is worked on right after" in everything(m) for m in await world.thread(ts)] == [
        False, False, False, True, False, True,
    ]  # fmt: skip
    model = ScriptedModel([says("Two."), says("Three.")])
    async with world.bot(model):
        messages = await world.settled(ts, 5)
    assert [visible(m).strip() for m in messages if m.get("bot_id")] == ["One.", "Two.", "Three."]
    authors = [m.author for m in model.requests[-1].messages if hasattr(m, "author")]
    assert authors == [world.people[name]["id"] for name in ("oscar", "ana", "vera")]


async def test_a_turn_that_died_before_it_started_runs_once_at_the_next_start(world: World):
    """Its placeholder stands; the process goes before the question is stored."""
    gate = Gate("transcripts.append")

    async def dies(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if name == "transcripts.load":
            gate.reached.set()
            await asyncio.Event().wait()
        return await call()

    async with world.bot(ScriptedModel([]), wrap_store=tapped(dies)):
        ts = await world.says("oscar", f"{world.mention} hello")
        await asyncio.wait_for(gate.reached.wait(), 10)
    async with world.bot(ScriptedModel([says("Good morning.")])):
        messages = await world.settled(ts, 1)
    assert len(messages) == 2
    assert visible(messages[1]) == "Good morning."
    async with world.bot(ScriptedModel([])):
        assert await world.thread(ts) == messages


async def test_a_question_at_a_terminal_starts_again_with_the_role_that_it_was_asked_with(world: World):
    gate = Gate("transcripts.load")
    config = world.config(local=LocalConfig(role="operator"))
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(AsyncExitStack())
        await bot.enter_async_context(world.bot(ScriptedModel([]), config=config, wrap_store=tapped(gate)))
        api = await stack.enter_async_context(world.local_api())
        async with api.post("/ask", json={"text": "pause nightly-report", "as": "viewer"}) as answer:
            await asyncio.wait_for(gate.reached.wait(), 10)
            await bot.aclose()
            assert "the bot restarts" in (await answer.text()).lower()
    model = ScriptedModel([PAUSE_TASK, says("You may not.")])
    async with world.bot(model, config=config):

        async def answered() -> bool | None:
            return True if len(model.requests) == 2 else None

        await until(answered, "the answer after the restart")
    assert "Role viewer may read but not ask for changes" in str(model.requests[1].messages)


def test_all_that_an_end_may_take_is_less_than_its_limit():
    longest = next(
        each.le for each in ShutdownConfig.model_fields["drain_seconds"].metadata if hasattr(each, "le")
    )
    assert longest == 15
    assert (
        max(longest, CLOSE_TIMEOUT)
        + CUT_SECONDS
        + 3 * LETTING_GO_SECONDS
        + CLOSING_SECONDS
        + WEB_CLOSE_SECONDS
        < END_SECONDS
        < 25
    )  # fmt: skip


@dataclass
class Slow:
    """What is brought to rest, taking `seconds` for each step; `told` is how long it was given."""

    seconds: float
    told: list[float] = field(default_factory=list)

    async def stop_intake(self) -> None:
        await asyncio.sleep(self.seconds)

    async def drain(self, patience: float) -> None:
        self.told.append(patience)
        await asyncio.sleep(min(self.seconds, patience))

    async def cut(self, patience: float) -> None:
        self.told.append(patience)
        await asyncio.sleep(self.seconds)

    aclose = rest = cut


async def test_the_socket_takes_its_time_from_what_turns_may_take():
    slow: Any = Slow(0.2)
    slow.router = slow.applying = slow.afterwards = slow
    await come_to_rest(slow, slow, slow, 0.3, asyncio.Event())
    assert max(slow.told[:5]) <= 0.3 - 0.15
    assert slow.told[5:8] == [CUT_SECONDS] * 3
    assert slow.told[8] <= CUT_SECONDS - 0.15, "runs get what the follow-ups that begin them left"


async def test_a_run_that_is_begun_while_the_bot_ends_is_waited_for():
    slow: Any = Slow(0)
    slow.router = slow
    order: list[str] = []

    class Rests:
        def __init__(self, name: str, seconds: float) -> None:
            self.name, self.seconds = name, seconds

        async def rest(self, patience: float) -> None:
            await asyncio.sleep(self.seconds)
            order.append(self.name)

    slow.afterwards, slow.applying = Rests("follow-ups", 0.05), Rests("runs", 0)
    await come_to_rest(slow, slow, slow, 0.3, asyncio.Event())
    assert order[2:] == ["follow-ups", "runs"]


async def test_somebody_who_lost_their_rights_meanwhile_is_not_answered_after_the_restart(world: World):
    gate = Gate("transcripts.load")
    async with world.bot(ScriptedModel([]), wrap_store=tapped(gate)):
        ts = await world.says("vera", f"{world.mention} hello")
        await asyncio.wait_for(gate.reached.wait(), 10)
    nobody = world.config()
    nobody = nobody.model_copy(
        update={"roles": nobody.roles.model_copy(update={"people": {}, "default": "guest"})}
    )
    async with world.bot(ScriptedModel([]), config=nobody):

        async def closed() -> Json | None:
            message = (await world.thread(ts))[1]
            return message if INTERRUPTED["en"] in everything(message) else None

        await until(closed, "the end of a turn that may not start")
