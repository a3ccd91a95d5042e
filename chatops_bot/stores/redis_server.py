"""What a Redis server must be before proposals may live in it, and the version of the keys that the bot finds there.

An approval that was acknowledged must be on disk (`appendfsync always`), and no key may be thrown out to make room
(`noeviction`). A server that promises less is refused, since it would lose decisions without a word.
"""

from chatops_bot.domain.errors import StoreError, StoreTooNew
from chatops_bot.ports import process_lease
from chatops_bot.stores.redis_link import RedisLink, script

OLDEST = (6, 2)
"""The first with the stream commands that the bot uses (XAUTOCLAIM)."""

MIGRATIONS = ("",)
"""Bodies of scripts that bring the keys forward, in order. One that has been released is never changed. The first finds nothing."""


async def ready(link: RedisLink) -> None:
    """Check the server and bring its keys forward. Raises StoreError in one sentence when it cannot be used."""
    await _migrate(link, await look(link))


async def look(link: RedisLink) -> int:
    """The version of the keys, 0 when there are none. Changes nothing; raises as `ready` does."""
    await _check_server(link)
    version = int(await link.read("GET", f"{link.prefix}schema") or 0)
    if version > len(MIGRATIONS):
        raise StoreTooNew(
            f"Redis at {link.where} holds schema {version}, but this version knows only {len(MIGRATIONS)}; "
            "start the newer version again."
        )
    return version


async def living(link: RedisLink) -> int:
    """How many processes live by these keys."""
    count = 0
    position: int | None = None
    while position != 0:
        position, found = await link.read(
            "SCAN", position or 0, "MATCH", f"{link.prefix}lease:{process_lease('*')}", "COUNT", 1000
        )
        count += len(found)
    return count


async def _check_server(link: RedisLink) -> None:
    facts = await link.read("INFO", "server") | await link.read("INFO", "replication")
    version = str(facts["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise StoreError(
            f"Redis at {link.where} is version {version}; the bot needs {'.'.join(map(str, OLDEST))} or newer."
        )
    if facts["role"] != "master":
        raise StoreError(
            f"Redis at {link.where} is a replica, which takes no writes; give the bot the primary."
        )
    await _check_setting(link, "appendonly", "yes", "an approval could be lost in a restart")
    await _check_setting(link, "appendfsync", "always", "an approval could be lost in a power cut")
    await _check_setting(link, "maxmemory-policy", "noeviction", "proposals could be thrown out to make room")


async def _check_setting(link: RedisLink, name: str, wanted: str, otherwise: str) -> None:
    found = (await link.read("CONFIG GET", name)).get(name)
    if found != wanted:
        raise StoreError(
            f"Redis at {link.where} has {name} {found or 'hidden'}, so {otherwise}; set `{name} {wanted}` in redis.conf."
        )


async def _migrate(link: RedisLink, version: int) -> None:
    for number, body in enumerate(MIGRATIONS[version:], version):
        # Two processes may start at once: one of them migrates, the other finds that done.
        await link.write(
            script(
                f"if tonumber(redis.call('GET', P .. 'schema') or '0') ~= {number} then return 'done' end\n"
                f"{body}\nredis.call('SET', P .. 'schema', {number + 1})\nreturn 'done'"
            )
        )
