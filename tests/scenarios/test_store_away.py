"""The store is away while people speak: each of them gets one clear answer, and what they do again afterwards is taken."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from chatops_bot.domain.errors import StoreUnavailable
from chatops_bot.llm.scripted import ScriptedModel, says
from tests.redis_server import RedisServer
from tests.scenarios.conftest import World, everything, until
from tests.scenarios.pair import Pair
from tests.scenarios.tapped_store import tapped
from tests.scenarios.test_change import code_of
from tests.scenarios.test_stop import shows

CANNOT = "The bot cannot reach its store at the moment"


class Away:
    """A tap: `before` and `after` are the calls that fail without, and after, being carried out; "all" means every call."""

    def __init__(self) -> None:
        self.before: set[str] = set()
        self.after: set[str] = set()

    async def __call__(self, call: str, carry_out: Callable[[], Awaitable[Any]]) -> Any:
        if self.before & {call, "all"}:
            raise StoreUnavailable("The store is away; a test says so.")
        done = await carry_out()
        if call in self.after:
            raise StoreUnavailable("The store is away; a test says so.")
        return done


async def test_a_question_that_cannot_be_stored_is_answered_once_and_can_be_asked_again(world: World):
    away = Away()
    async with world.bot(ScriptedModel([says("the answer")]), wrap_store=tapped(away)):
        away.before = {"all"}
        ts = await world.says("oscar", f"{world.mention} which tasks are there?")
        (_, told) = await world.settled(ts, 1)
        assert CANNOT in everything(told)
        assert "ask again in a minute" in everything(told)
        assert "Traceback" not in everything(told)
        assert "a test says so" not in everything(told)
        away.before = set()
        await world.says("oscar", f"{world.mention} which tasks are there?", ts)
        await shows(world, ts, "the answer")
        assert len(await world.thread(ts)) == 4, "it comes as a mention and as a message, and is told once"


async def test_what_is_said_to_nobody_while_the_store_is_away_gets_no_answer(world: World):
    away = Away()
    async with world.bot(ScriptedModel([says("the answer")]), wrap_store=tapped(away)):
        other = await world.says("oscar", "lunch?")
        ts = await world.says("oscar", f"{world.mention} which tasks are there?")
        await shows(world, ts, "the answer")
        away.before = {"all"}
        await world.says("ana", "stop", other)
        await world.says("oscar", "这些任务呢？", ts)
        await shows(world, ts, "请再问一次")
        assert len(await world.thread(other)) == 2


async def test_a_turn_whose_store_goes_away_says_so_and_does_not_stay_working(world: World):
    away = Away()
    async with world.bot(wrap_store=tapped(away)):
        away.before = {"audit.record", "transcripts.append"}
        ts = await world.says("oscar", f"{world.mention} which tasks are there?")
        (_, answer) = await world.settled(ts, 1)
        assert "cannot reach its store" in everything(answer)
        assert "Something inside" not in everything(answer)


async def test_a_typed_decision_that_was_claimed_and_not_stored_is_answered_and_typed_again(world: World):
    away = Away()
    async with world.bot(wrap_store=tapped(away)):
        ts = await world.says("oscar", f"{world.mention} pause nightly-report")
        card = next(m for m in await world.settled(ts, 2) if "prop_" in everything(m))
        code = code_of(card)
        away.after = {"inbox.claim"}
        await world.says("ana", f"approve {code}", ts)
        await shows(world, ts, "nothing was decided that the card does not show")
        away.after = set()
        await world.says("ana", f"approve {code}", ts)
        await world.becomes(ts, card, "Done: ")


async def test_with_redis_gone_a_question_and_a_click_are_told_why_and_taken_when_it_is_back(
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
            asked = await world.says("oscar", f"{world.mention} list tasks")
            await world.click("ana", card, "approve")
            await shows(world, asked, CANNOT)
            (whisper,) = await world.whispers("ana")
            assert "cannot reach its store" in everything(whisper) + str(whisper.get("text"))
            await asyncio.to_thread(redis.start)

            async def done() -> bool | None:
                await world.click("ana", card, "approve")
                now = next(m for m in await world.thread(ts) if m["ts"] == card["ts"])
                return True if everything(now).startswith("Done: ") else None

            await until(done, "the change")
            again = await world.says("oscar", f"{world.mention} list tasks")
            await shows(world, again, "nightly-report")
    finally:
        redis.kill()
