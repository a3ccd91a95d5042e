"""Which servers the bot refuses at its start, each in one sentence that says what to do and shows no password."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatops_bot.domain.errors import StoreError, StoreTooNew
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.redis_server import MIGRATIONS
from tests.redis_server import RedisServer

PASSWORD = "hunter2-is-secret"


async def refusal(url: str) -> str:
    with pytest.raises(StoreError) as caught:
        await RedisStore.open(url, "bot_1", patience=0.1)
    assert PASSWORD not in str(caught.value)
    assert PASSWORD not in str(caught.value.__cause__)
    return str(caught.value)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path, "--requirepass", PASSWORD)
    server.start()
    yield server
    server.kill()


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("appendfsync", "everysec", "set `appendfsync always` in redis.conf"),
        ("appendonly", "no", "set `appendonly yes` in redis.conf"),
        ("maxmemory-policy", "allkeys-lru", "set `maxmemory-policy noeviction` in redis.conf"),
    ],
)
async def test_a_server_that_could_lose_an_approval_is_refused(
    redis: RedisServer, setting: str, value: str, why: str
):
    before = {"appendfsync": "always", "appendonly": "yes", "maxmemory-policy": "noeviction"}[setting]
    redis.send("CONFIG", "SET", setting, value)
    try:
        said = await refusal(redis.url)
    finally:
        redis.send("CONFIG", "SET", setting, before)
    assert why in said
    assert f"has {setting} {value}" in said


async def test_a_wrong_password_is_refused_at_once(guarded: RedisServer):
    said = await refusal(f"redis://:{PASSWORD}x@127.0.0.1:{guarded.port}/0")
    assert "does not accept the user or the password" in said
    assert "does not accept the user or the password" in await refusal(guarded.url)
    store = await RedisStore.open(f"redis://:{PASSWORD}@127.0.0.1:{guarded.port}/0", "bot_1")
    await store.aclose()


async def test_an_unreachable_server_is_named_without_its_password(unused_port: int):
    said = await refusal(f"redis://bot:{PASSWORD}@127.0.0.1:{unused_port}/0")
    assert said == (
        f"Redis at 127.0.0.1:{unused_port} cannot be reached (Connection refused); "
        "check that it runs and that the address is right."
    )


@pytest.mark.parametrize(
    "url", [f"http://{PASSWORD}@host", f"redis://:{PASSWORD}@host:notaport/0", PASSWORD, ""]
)
async def test_a_url_that_is_none_is_refused_without_showing_it(url: str):
    assert "The Redis URL cannot be read" in await refusal(url)


async def test_a_url_may_not_turn_the_clients_retries_on(redis: RedisServer):
    assert "sets retry_on_timeout" in await refusal(f"{redis.url}?retry_on_timeout=true")


async def test_a_replica_is_refused(redis: RedisServer, unused_port: int):
    redis.send("REPLICAOF", "127.0.0.1", str(unused_port))
    try:
        said = await refusal(redis.url)
    finally:
        redis.send("REPLICAOF", "NO", "ONE")
    assert "is a replica" in said


async def test_keys_of_a_newer_version_are_refused_and_older_ones_brought_forward(redis: RedisServer):
    store = await RedisStore.open(redis.url, "bot_1")
    await store.aclose()
    assert redis.send("GET", "{chatops}:schema") == b"$1\r\n%d\r\n" % len(MIGRATIONS)
    redis.send("SET", "{chatops}:schema", str(len(MIGRATIONS) + 1))
    with pytest.raises(StoreTooNew, match="start the newer version again"):
        await RedisStore.open(redis.url, "bot_1")
