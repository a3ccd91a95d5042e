"""Bots that share a store have one key: another is refused while they live, and welcome when they are gone."""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import Config, Secrets, StoreConfig
from chatops_bot.app.core import open_store
from chatops_bot.app.keys import VARIABLE, VARIABLE_OLD, read_keys
from chatops_bot.app.one_key import KEY_LEASE
from chatops_bot.domain.errors import StoreError
from tests.app.test_policy_check import SCHEDULER
from tests.redis_server import RedisServer

OLD, NEW = bytes(range(32)).hex(), bytes(range(1, 33)).hex()
LEASE_SECONDS = 1.0


def opened(redis: RedisServer, data: Path, **env: str) -> AbstractAsyncContextManager[object]:
    """The store of a bot with these keys."""
    store = StoreConfig(redis_url_env="BOT_REDIS", lease_seconds=LEASE_SECONDS)
    config = Config.model_validate({"scheduler": SCHEDULER, "data": data, "store": store})
    secrets = Secrets("", "", {}, None, "", redis_url=redis.url, keys=read_keys(env, None))
    return open_store(config, secrets, SystemClock(), RandomIds())


async def test_a_bot_with_another_key_does_not_start_beside_those_that_live(
    redis: RedisServer, tmp_path: Path
):
    async with opened(redis, tmp_path, **{VARIABLE: OLD}), opened(redis, tmp_path, **{VARIABLE: OLD}):
        with pytest.raises(StoreError, match="stop all of them, then start them all"):
            async with opened(redis, tmp_path, **{VARIABLE: NEW, VARIABLE_OLD: OLD}):
                pass


async def test_when_all_were_stopped_they_start_with_the_new_key_though_one_of_them_was_killed(
    redis: RedisServer, tmp_path: Path
):
    async with opened(redis, tmp_path, **{VARIABLE: OLD}):
        pass  # what it leaves is what a killed one leaves: a lease that runs out
    rotated = {VARIABLE: NEW, VARIABLE_OLD: OLD}
    async with opened(redis, tmp_path, **rotated), opened(redis, tmp_path, **rotated):
        with pytest.raises(StoreError, match="another CHATOPS_KEY"):
            async with opened(redis, tmp_path, **{VARIABLE: OLD}):
                pass


async def test_a_bot_beside_which_another_key_came_up_says_so(
    redis: RedisServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    """The store was away for longer than the lease of everybody, and the other was the first to come back."""
    caplog.set_level(logging.ERROR)
    async with opened(redis, tmp_path, **{VARIABLE: OLD}):
        redis.send("DEL", f"{{chatops}}:lease:{KEY_LEASE}")
        async with opened(redis, tmp_path, **{VARIABLE: NEW}), asyncio.timeout(20):
            while "another CHATOPS_KEY" not in caplog.text:  # noqa: ASYNC110  # a log has no event
                await asyncio.sleep(0.05)
