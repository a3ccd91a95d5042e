"""Two bots share a workspace and a Redis: whichever gets an event, people see one bot, and nothing is lost or done twice."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.app.anchoring import newest_anchor
from chatops_bot.app.config import AuditConfig, ModelEndpoint
from chatops_bot.domain.errors import ModelError
from chatops_bot.domain.model import ModelDelta, ModelRequest, UserMessage
from chatops_bot.llm.scripted import ScriptedModel, says
from tests.llm.model_server import Answer, ModelServer, text
from tests.redis_server import RedisServer
from tests.scenarios.conftest import Json, World, action_ids, everything, until, visible
from tests.scenarios.dying_bot import KillPoint
from tests.scenarios.pair import TAKEN_OVER_SECONDS, Pair
from tests.scenarios.test_restart import HeldAt
from tests.scenarios.test_stop import shows

PAUSE = "POST /api/v1/tasks/1/pause"


MOST_QUESTIONS = 20


class Counting:
    """A model that numbers its answers, however many there are."""

    name = "counting"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        self.requests.append(request)
        for delta in says(f"answer {len(self.requests) - 1}"):
            assert not isinstance(delta, ModelError)
            yield delta


@pytest.fixture
def pair(world: World, redis: RedisServer) -> Pair:
    return Pair(world, redis)


async def test_a_thread_goes_on_over_both_bots(pair: Pair):
    """Which bot gets a message hangs on how often answers were edited; so people ask until both have answered."""
    world, model = pair.world, Counting()
    async with pair.bot("a", model), pair.bot("b", model):
        ts = await world.says("oscar", f"{world.mention} question 0")
        await world.settled(ts, 1)
        asked = 1
        while asked < 4 or not all(pair.calls[name, "turns.begin"] for name in "ab"):
            assert asked < MOST_QUESTIONS, "both had their share"
            await world.says("oscar", f"question {asked}", ts)
            asked += 1
            await world.settled(ts, 2 * asked - 1)
        thread = await world.thread(ts)
    assert [visible(message) for message in thread[1::2]] == [f"answer {n}" for n in range(asked)]
    questions = [m.text for m in model.requests[-1].messages if isinstance(m, UserMessage)]
    assert questions == [f"question {n}" for n in range(asked)]


async def test_a_head_of_the_shared_audit_is_posted_by_one_bot_and_noted_down_by_each(pair: Pair):
    world, model = pair.world, ScriptedModel([says("answer")])
    audit = AuditConfig(anchor_channel=world.incidents)
    configs = [pair.config(name).model_copy(update={"audit": audit}) for name in "ab"]
    async with AsyncExitStack() as stack:
        for config in configs:
            await stack.enter_async_context(world.bot(model, config=config, secrets=pair.secrets()))
        await world.settled(await world.says("oscar", f"{world.mention} question"), 1)
    client = AsyncWebClient(
        token=world.people["adam"]["token"], base_url=world.workspace.api_url, session=world.session
    )
    messages = (await client.conversations_history(channel=world.incidents))["messages"]
    assert len([m for m in messages if "audit head" in everything(m)]) == 1
    assert None not in [newest_anchor(config.anchor_path) for config in configs]


async def test_an_event_that_slack_gives_to_both_bots_is_answered_once(pair: Pair):
    world, model = pair.world, ScriptedModel([says(f"answer {n}") for n in range(3)])
    async with pair.bot("a", model), pair.bot("b", model):
        roots = []
        for number in range(3):
            await world.sim("fault", event="app_mention", fault="twice")
            await world.sim("fault", event="message", fault="twice")
            roots.append(await world.says("oscar", f"{world.mention} question {number}"))
            await world.settled(roots[-1], 1)
        assert [len(await world.thread(ts)) for ts in roots] == [2, 2, 2]
    assert pair.calls["a", "turns.begin"] + pair.calls["b", "turns.begin"] > 3, "each came to both"


@pytest.mark.case("hitl-C01")
async def test_proposals_made_by_one_bot_are_approved_through_either_and_run_once(pair: Pair):
    world = pair.world
    names = ("nightly-report", "db-backup", "cache-warmup", "log-archive")
    async with pair.bot("a"), pair.bot("b"):
        for ts in [await world.says("oscar", f"{world.mention} pause {name}") for name in names]:
            card = next(m for m in await world.settled(ts, 2) if "prop_" in everything(m))
            clicks = (world.click(person, card, "approve") for person in ("ana", "adam", "ana", "adam"))
            await asyncio.gather(*clicks)
            await world.becomes(ts, card, "Done: ")
    paused = [call.call for call in world.to_scheduler.reached(r"POST /api/v1/tasks/\d+/pause")]
    assert len(paused) == len(set(paused)) == len(names)
    assert all(pair.calls[name, "proposals.get"] for name in "ab"), "both had their share"


async def stoppable(world: World, ts: str, count: int) -> list[Json]:
    """The messages of a thread that can be stopped, once there are `count`."""

    async def seen() -> list[Json] | None:
        found = [m for m in await world.thread(ts) if any(a.startswith("stop") for a in action_ids(m))]
        return found if len(found) == count else None

    messages: list[Json] = await until(seen, f"{count} messages with a Stop")
    return messages


async def test_messages_wait_behind_the_turn_of_the_other_bot_and_stop_crosses(pair: Pair):
    world, held = pair.world, HeldAt("and more.")
    first = ScriptedModel(
        [says("Found this, ", "and more."), says("second"), says("third")], before_delta=held
    )
    async with pair.bot("a", first):
        ts = await world.says("oscar", f"{world.mention} one")
        await asyncio.wait_for(held.reached.wait(), 10)
        await shows(world, ts, "Found this,", 1)
        async with pair.bot("b", ScriptedModel([])):
            before = pair.handed_on()
            for word in ("two", "three"):
                await world.says("oscar", word, ts)
            await stoppable(world, ts, 3)
            assert pair.calls["b", "turns.begin"] == pair.handed_on() - before == 1, "b handed its one on"
            (answer,) = [m for m in await stoppable(world, ts, 3) if "Found this," in everything(m)]
            before = pair.handed_on()
            presses = (world.click("oscar", answer, "stop") for _ in range(2))  # one of them reaches b
            await asyncio.gather(*presses)
            messages = await world.settled(ts, 5)
            assert pair.handed_on() - before == 1
    assert [visible(m) for m in messages if visible(m) in ("second", "third")] == ["second", "third"]
    assert "Stopped by" in everything(messages[1])


async def test_what_waits_at_a_bot_that_ends_is_answered_by_the_other(pair: Pair):
    world, held = pair.world, HeldAt("and more.")
    model = ScriptedModel([says("Found this, ", "and more.")], before_delta=held)
    async with AsyncExitStack() as a, AsyncExitStack() as b:
        await a.enter_async_context(pair.bot("a", model))
        ts = await world.says("oscar", f"{world.mention} one")
        await asyncio.wait_for(held.reached.wait(), 10)
        await b.enter_async_context(pair.bot("b", ScriptedModel([says("the answer to two")])))
        await world.says("oscar", "two", ts)
        await stoppable(world, ts, 2)
        await a.aclose()
        await shows(world, ts, "the answer to two")
        messages = await world.settled(ts, 3)
    assert len(messages) == 4
    assert "Found this," in everything(messages[1])


async def test_a_redis_that_is_killed_and_comes_back_loses_nothing_and_doubles_nothing(
    world: World, tmp_path: Path
):
    folder = tmp_path / "redis"
    folder.mkdir()
    redis = RedisServer(folder)
    redis.start()
    try:
        async with Pair(world, redis).bot("a"):
            ts = await world.says("oscar", f"{world.mention} pause nightly-report")
            card = next(m for m in await world.settled(ts, 2) if "prop_" in everything(m))
            redis.kill()
            await world.says("oscar", "which workers are there?", ts)
            await world.click("ana", card, "approve")
            await asyncio.to_thread(redis.start)
            await world.becomes(ts, card, "Done: ")
            await world.settled(ts, 4)
        assert len(world.to_scheduler.reached(PAUSE)) == 1
    finally:
        redis.kill()


@pytest.mark.processes
async def test_a_bot_that_is_killed_leaves_its_turns_to_the_other_within_the_stated_time(pair: Pair):
    world = pair.world
    async with ModelServer(Answer([text("Found this. "), asyncio.Event()])) as server:
        endpoint = ModelEndpoint(server.base_url, "m", "k")
        async with pair.process("a", endpoint) as a:
            ts = await world.says("oscar", f"{world.mention} one")
            await shows(world, ts, "Found this.")
            async with pair.bot("b", ScriptedModel([says("the answer to two")])):
                await world.says("oscar", "two", ts)
                await stoppable(world, ts, 2)
                a.kill()
                killed = asyncio.get_running_loop().time()
                await shows(world, ts, "the answer to two")
                taken = asyncio.get_running_loop().time() - killed
                messages = await world.settled(ts, 3)
    assert taken < TAKEN_OVER_SECONDS + 4, "the rest is Slack's pace"
    assert len(messages) == 4
    assert "Found this." in everything(messages[1])
    print(f"taken over {taken:.1f} s after kill -9")


@pytest.mark.processes
@pytest.mark.case("hitl-C06")
async def test_a_change_that_a_dead_bot_had_begun_is_settled_by_the_other_and_never_tried_again(pair: Pair):
    world = pair.world
    claimed = KillPoint("proposals.move", 2, "after")
    async with pair.process("a", dies=claimed) as a:
        ts = await world.says("oscar", f"{world.mention} pause nightly-report")
        card = next(m for m in await world.settled(ts, 2) if "prop_" in everything(m))
        await world.click("ana", card, "approve")
        await a.death()
        async with pair.bot("b"):
            settled = await world.becomes(ts, card, "Outcome unknown: ")
    assert world.to_scheduler.reached(PAUSE) == []
    assert "approve" not in action_ids(settled)


@pytest.mark.processes
async def test_a_bot_that_was_paused_finds_its_turn_gone_and_goes_on_working(pair: Pair):
    world = pair.world
    async with ModelServer(Answer([text("Found this. "), 0.1], beat=text("more "))) as server:
        endpoint = ModelEndpoint(server.base_url, "m", "k")
        async with pair.process("a", endpoint) as a:
            ts = await world.says("oscar", f"{world.mention} one")
            await shows(world, ts, "Found this.")
            async with pair.bot("b", ScriptedModel([])):
                a.pause()
                ended = (await world.settled(ts, 1))[1]
                assert "Found this." in everything(ended)
                a.wake()

                async def hung_up() -> bool | None:
                    return True if server.hung_up.is_set() else None

                await until(hung_up, "the end of the paused bot's turn")
                (now,) = (await world.settled(ts, 1))[1:]
    assert everything(now).splitlines()[-1] == everything(ended).splitlines()[-1], (
        "still ended as interrupted"
    )
