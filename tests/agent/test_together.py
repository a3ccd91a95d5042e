"""What comes out of calls that run at the same time when some of them fail."""

import asyncio

import pytest

from chatops_bot.agent.together import Together
from chatops_bot.domain.errors import StoreUnavailable, TurnLost


async def test_a_failure_comes_out_itself_once_the_others_are_stopped():
    ended: list[str] = []

    async def wait_for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("the other")

    async def work() -> None:
        async with Together() as group:
            group.create_task(wait_for_ever())
            await asyncio.sleep(0)
            raise KeyError

    with pytest.raises(KeyError):
        await work()
    assert ended == ["the other"]


async def test_a_lost_turn_is_what_comes_out_whatever_else_fails_beside_it():
    both_ready = asyncio.Barrier(2)

    async def fail(failure: Exception) -> None:
        await both_ready.wait()
        raise failure

    async def work() -> None:
        async with Together() as group:
            group.create_task(fail(StoreUnavailable("The store is away.")))
            group.create_task(fail(TurnLost("turn_1")))

    with pytest.raises(TurnLost):
        await work()


@pytest.mark.parametrize(
    ("failure", "comes_out"),
    [(StoreUnavailable("The store is away."), asyncio.CancelledError), (TurnLost("turn_1"), TurnLost)],
)
async def test_a_stop_stays_a_stop_though_something_fails_while_it_unwinds(
    failure: Exception, comes_out: type[BaseException]
):
    started = asyncio.Event()

    async def fail_unwinding() -> None:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            raise failure

    async def work() -> None:
        async with Together() as group:
            group.create_task(fail_unwinding())

    working = asyncio.create_task(work())
    await started.wait()
    working.cancel()
    with pytest.raises(comes_out):
        await working
