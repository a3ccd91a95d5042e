"""Ready or not: each thing that can be red, broken in a running bot, and named."""

import asyncio
import socket
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.bootstrap import Bot
from chatops_bot.app.config import ShutdownConfig, WebConfig
from chatops_bot.app.health import STORE_SECONDS, Health
from chatops_bot.domain.errors import StoreError
from chatops_bot.llm.scripted import ScriptedModel, says
from chatops_bot.stores.redis import RedisStore
from tests.redis_server import RedisServer
from tests.scenarios.conftest import World, until
from tests.scenarios.tapped_store import tapped

Answer = tuple[int, dict[str, Any]]


async def readyz(world: World, bot: Bot) -> Answer:
    async with world.session.get(f"{bot.web_url}/readyz") as response:
        return response.status, await response.json()


async def nothing() -> None:
    """A store that takes writes."""


async def test_a_bot_that_starts_or_ends_is_not_ready():
    health = Health(lambda: "", nothing, "check the disk")
    assert (await health.readiness()).red == {
        "life": "The bot is starting: what its last process left open is not settled yet."
    }
    health.recovered()
    assert (await health.readiness()).as_json() == {"ready": True, "red": {}}
    health.drain()
    assert (await health.readiness()).red == {
        "life": "The bot was told to end: it finishes its turns and takes in nothing more."
    }


async def test_everything_red_is_named_at_once():
    async def full() -> None:
        raise StoreError("bot.db cannot be used (disk is full); check the disk.")

    red = (await Health(lambda: "The socket to Slack is not open.", full, "check the disk").readiness()).red
    assert set(red) == {"life", "chat", "store"}


async def test_why_the_store_fails_stands_in_the_log_and_not_on_a_page_that_anybody_may_read(
    caplog: pytest.LogCaptureFixture,
):
    async def full() -> None:
        raise StoreError("/srv/bot/bot.db cannot be used (disk is full); check the disk.")

    red = (await Health(lambda: "", full, "check the disk").readiness()).red
    assert red["store"] == "The store took no write; the bot's log says why."
    assert "/srv/bot/bot.db cannot be used (disk is full)" in caplog.text


async def test_probes_of_a_disk_that_hangs_wait_for_one_write():
    begun, comes_back = 0, asyncio.Event()

    async def hangs() -> None:
        nonlocal begun
        begun += 1
        await comes_back.wait()

    health = Health(lambda: "", hangs, "check the disk")
    health.recovered()
    probes = await asyncio.gather(*(health.readiness() for _ in range(3)))
    probes.append(await health.readiness())
    assert [set(probe.red) for probe in probes] == [{"store"}] * 4
    assert begun == 1
    comes_back.set()
    assert (await health.readiness()).ready
    assert begun == 1
    assert (await health.readiness()).ready
    assert begun == 2


async def test_a_redis_that_is_away_is_named(tmp_path: Path):
    server = RedisServer(tmp_path)
    server.start()
    store = await RedisStore.open(server.url, "bot_1")
    health = Health(lambda: "", store.check, store.remedy)
    health.recovered()
    server.kill()
    said = (await health.readiness()).red["store"]
    server.start()
    await store.check()
    await store.aclose()
    server.kill()
    assert said.endswith(f"; check that the Redis at 127.0.0.1:{server.port} runs and can be reached.")


async def test_a_store_that_takes_no_writes_is_red_until_it_does(world: World):
    async with world.bot() as bot:
        with closing(sqlite3.connect(world.folder / "bot" / "bot.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            status, answer = await readyz(world, bot)
            assert (status, answer["red"]) == (
                503,
                {"store": f"The store did not take a write within {STORE_SECONDS:g} s; check the disk."},
            )
            async with world.session.get(f"{bot.web_url}/healthz") as response:
                assert response.status == 200, "the process lives"
            other.execute("ROLLBACK")

        async def again() -> bool | None:
            return True if (await readyz(world, bot))[0] == 200 else None

        await until(again, "the store to take writes")


async def test_a_bot_whose_socket_is_lost_and_cannot_be_opened_again_is_red(world: World):
    async with world.bot() as bot:
        assert (await readyz(world, bot))[0] == 200
        await world.sim("fault", method="apps.connections.open", fault="error", times=1_000)
        await world.sim("socket", do="reset")

        async def red() -> Answer | None:
            answer = await readyz(world, bot)
            return None if answer[0] == 200 else answer

        status, answer = await until(red, "the deafness to be told")
    assert (status, set(answer["red"])) == (503, {"chat"})
    assert "socket" in answer["red"]["chat"]


async def test_a_bot_that_still_recovers_is_not_ready_and_then_is(world: World):
    recovering, may_go_on = asyncio.Event(), asyncio.Event()

    async def tap(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if name == "turns.take_over":
            recovering.set()
            await may_go_on.wait()
        return await call()

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    config = world.config(web=WebConfig(port=port))
    async with AsyncExitStack() as stack:
        starting = asyncio.create_task(
            stack.enter_async_context(world.bot(config=config, wrap_store=tapped(tap)))
        )
        await asyncio.wait_for(recovering.wait(), 10)
        async with world.session.get(f"http://127.0.0.1:{port}/readyz") as response:
            answer = await response.json()
            assert (response.status, set(answer["red"])) == (503, {"life", "chat"})
            assert answer["red"]["life"].startswith("The bot is starting")
        may_go_on.set()
        assert (await readyz(world, await starting))[0] == 200


async def test_a_bot_that_drains_says_so_while_its_last_turn_rests(world: World):
    resting, may_rest = asyncio.Event(), asyncio.Event()

    async def tap(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if name == "transcripts.append" and resting.is_set():
            await may_rest.wait()
        return await call()

    async def hold(*_: Any) -> None:
        resting.set()
        await asyncio.Event().wait()

    model = ScriptedModel([says("One.")], before_delta=hold)
    async with AsyncExitStack() as stack:
        config = world.config(shutdown=ShutdownConfig(drain_seconds=0.5))
        bot = await stack.enter_async_context(world.bot(model, config=config, wrap_store=tapped(tap)))
        await world.says("oscar", f"{world.mention} hello")
        await asyncio.wait_for(resting.wait(), 10)
        assert (await readyz(world, bot))[0] == 200
        ending = asyncio.create_task(stack.aclose())

        async def red() -> Answer | None:
            status, answer = await readyz(world, bot)
            return None if status == 200 else (status, answer)

        status, answer = await until(red, "the drain to be told")
        may_rest.set()
        await ending
    assert status == 503
    assert "told to end" in answer["red"]["life"]
