"""Checks of the Redis that several bots share. They only look."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import aiohttp

from chatops_bot.app.config import Config, load_redis_url
from chatops_bot.app.doctor.findings import Finding, failed, ok
from chatops_bot.app.doctor.local import local_api_problem, reachable, readiness
from chatops_bot.domain.errors import ConfigInvalid, StoreError
from chatops_bot.stores.redis_link import RedisLink
from chatops_bot.stores.redis_server import MIGRATIONS, living, look

PATIENCE_SECONDS = 1.0


async def check_redis_store(config: Config, env: Mapping[str, str]) -> Sequence[Finding]:
    try:
        async with _link(config, env) as link:
            schema = await look(link)
            if schema == 0:
                says = f"Redis at {link.where} holds nothing of a bot yet; the first start begins it."
            elif schema < len(MIGRATIONS):
                says = f"Redis at {link.where} has schema {schema}; the next start brings it to {len(MIGRATIONS)}."
            else:
                says = (
                    f"Redis at {link.where} has schema {schema}, the newest, and keeps what it acknowledges."
                )
            return [ok("store", says)]
    except (ConfigInvalid, StoreError) as error:
        return [failed("store", str(error))]


async def check_bots(
    config: Config, env: Mapping[str, str], session: aiohttp.ClientSession
) -> Sequence[Finding]:
    """How many bots live by the shared store, and whether the one of this configuration is ready."""
    try:
        async with _link(config, env) as link:
            bots = await living(link)
    except (ConfigInvalid, StoreError):
        return [failed("bot", "Not looked at: it follows from the store.")]
    running = "1 bot runs" if bots == 1 else f"{bots or 'No'} bots run"
    answer = None
    if config.web.port:
        answer = await readiness(session, f"http://{reachable(config.web.host)}:{config.web.port}/readyz")
    if answer is None:
        return [ok("bot", f"{running} on the store; another can start here.")]
    if red := answer.get("red"):
        reasons = " ".join(map(str, red.values())) if isinstance(red, dict) else str(red)
        return [
            failed("bot", f"{running} on the store; the one of this configuration is not ready. {reasons}")
        ]
    if mute := await local_api_problem(config.data):
        return [failed("bot", f"{running} on the store, one of them with this configuration. {mute}")]
    return [ok("bot", f"{running} on the store, and the one of this configuration is ready.")]


@asynccontextmanager
async def _link(config: Config, env: Mapping[str, str]) -> AsyncGenerator[RedisLink, None]:
    link = RedisLink.to(
        load_redis_url(config, env),
        "chatops-doctor",
        prefix=config.store.redis_prefix,
        patience=PATIENCE_SECONDS,
    )
    try:
        yield link
    finally:
        await link.aclose()
