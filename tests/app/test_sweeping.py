"""The sweep goes on, whatever one of its works meets, and a death of it does not go unseen."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack, closing
from datetime import timedelta

import pytest

from chatops_bot.app.bootstrap import _run_beside
from chatops_bot.app.health import Health
from chatops_bot.app.sweeping import sweep
from chatops_bot.domain.errors import StoreError
from tests.scenarios.conftest import ShiftedClock, World
from tests.scenarios.test_change import asked_for, pausing


async def test_a_work_that_fails_is_tried_again_and_holds_up_no_other(caplog: pytest.LogCaptureFixture):
    tried: list[str] = []
    twice = asyncio.Event()

    async def proposals() -> None:
        tried.append("proposals")
        raise StoreError("The disk is full.")

    async def forms() -> None:
        tried.append("forms")
        if len(tried) >= 4:
            twice.set()

    task = asyncio.create_task(sweep({"proposals": proposals, "forms": forms}, every=0.001))
    await asyncio.wait_for(twice.wait(), 10)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert tried[:4] == ["proposals", "forms"] * 2
    assert "the sweep of proposals failed and is tried again: The disk is full." in caplog.text


async def test_work_beside_the_bot_that_dies_is_told_in_the_log(caplog: pytest.LogCaptureFixture):
    died = asyncio.Event()

    async def dying() -> None:
        died.set()
        raise KeyError("inside")

    async with AsyncExitStack() as stack:
        _run_beside(stack, dying(), "expiry sweep")
        await asyncio.wait_for(died.wait(), 10)
    assert "the expiry sweep ended and does not run until the bot is started again" in caplog.text
    assert "KeyError: 'inside'" in caplog.text


async def test_without_its_beat_the_bot_is_not_ready_and_comes_to_rest(caplog: pytest.LogCaptureFixture):
    async def check() -> None:
        pass

    async def dying() -> None:
        raise ValueError("a row that nobody can read")

    health = Health(lambda: "", check, "check the disk")
    async with AsyncExitStack() as stack:
        _run_beside(stack, dying(), "beat", health)
        await asyncio.wait_for(health.failed.wait(), 10)
    health.recovered()
    assert (await health.readiness()).red == {
        "life": "The beat died, so the bot comes to rest; its log says why."
    }
    assert "the beat ended and the bot comes to rest" in caplog.text


async def test_work_that_is_cancelled_at_the_end_is_no_death(caplog: pytest.LogCaptureFixture):
    async with AsyncExitStack() as stack:
        _run_beside(stack, asyncio.Event().wait(), "loop lag")  # type: ignore[arg-type]  # what it returns does not matter
        await asyncio.sleep(0)
    assert caplog.text == ""


async def test_a_proposal_is_closed_in_time_beside_one_that_cannot_be_read(world: World):
    clock = ShiftedClock()
    async with world.bot(pausing(), clock=clock):
        ts, card = await asked_for(world, "pause nightly-report")
        with closing(sqlite3.connect(world.folder / "bot" / "bot.db", isolation_level=None)) as db:
            db.execute(
                "INSERT INTO proposals (id, session, code, state, revision, body) VALUES ('prop_bad', 's', 'BAD', 'pending', 0, '{}')"
            )
        clock.ahead = timedelta(hours=2)
        await world.becomes(ts, card, "Expired: ")
