"""What every store promises of how turns ended under each text that is rolled out."""

import asyncio

import pytest

from chatops_bot.ports import Store
from chatops_bot.stores.redis import RedisStore
from tests.redis_server import RedisServer


async def test_ends_are_kept_in_order_by_text_and_agent_up_to_so_many(store: Store):
    assert list(await store.arms.turns("one", "v2@a")) == []
    for failed in (True, False, False, True):
        await store.arms.ended("one", "v2@a", 3, failed=failed)
    await store.arms.ended("one", "v2@b", 3, failed=True)
    await store.arms.ended("two", "v2@a", 3, failed=False)
    assert list(await store.arms.turns("one", "v2@a")) == [False, False, True]
    assert list(await store.arms.turns("one", "v2@b")) == [True]
    assert list(await store.arms.turns("two", "v2@a")) == [False]


async def test_one_of_many_pauses_a_text_and_all_are_released_together(store: Store):
    await store.arms.ended("one", "v2@a", 3, failed=True)
    firsts = await asyncio.gather(*(store.arms.pause("one", "v2@a") for _ in range(5)))
    assert sorted(firsts) == [False, False, False, False, True]
    assert await store.arms.pause("two", "v3@b")
    assert await store.arms.paused() == {("one", "v2@a"), ("two", "v3@b")}
    assert list(await store.arms.turns("one", "v2@a")) == [True]
    await store.arms.forget()
    assert await store.arms.paused() == frozenset()
    assert list(await store.arms.turns("one", "v2@a")) == []
    assert await store.arms.pause("one", "v2@a")


@pytest.mark.case("prompt-R63")
async def test_what_one_process_notes_another_one_reads(redis: RedisServer):
    ours = await RedisStore.open(redis.url, "bot_1")
    theirs = await RedisStore.open(redis.url, "bot_2")
    await ours.arms.ended("one", "v2@a", 3, failed=True)
    await theirs.arms.ended("one", "v2@a", 3, failed=False)
    assert list(await ours.arms.turns("one", "v2@a")) == [True, False]
    assert await theirs.arms.pause("one", "v2@a")
    assert await ours.arms.paused() == {("one", "v2@a")}
    await ours.aclose()
    await theirs.aclose()
