"""The store that several bot processes share, in one Redis. Each class is one role of `ports.Store`."""

import secrets

from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.domain.errors import StoreError
from chatops_bot.stores.lifetimes import CONTROLS_KEPT_SECONDS
from chatops_bot.stores.redis_arms import RedisArms
from chatops_bot.stores.redis_audit import RedisAudit
from chatops_bot.stores.redis_link import PATIENCE_SECONDS, PREFIX, RedisLink, script
from chatops_bot.stores.redis_peers import READ_SECONDS, RedisLeases, RedisRelay
from chatops_bot.stores.redis_prompts import RedisPrompts
from chatops_bot.stores.redis_results import RedisResults
from chatops_bot.stores.redis_secret_values import RedisSecretValues
from chatops_bot.stores.redis_server import ready
from chatops_bot.stores.redis_sessions import RedisInbox, RedisTranscripts, RedisTurns
from chatops_bot.stores.redis_waiting import RedisForms, RedisProposals

_PUT = script(
    f"""
    if redis.call('SET', P .. 'control:' .. A[1], A[2], 'NX', 'EX', {CONTROLS_KEPT_SECONDS}) then return 'ok' end
    return 'there'
    """
)
_CHECK = script("redis.call('SET', P .. 'checked', '')\nreturn 'ok'")


class RedisStore:
    """All roles over one link. Open with `RedisStore.open`, close with `aclose`."""

    def __init__(self, link: RedisLink, reading: RedisLink, key: ChainKey) -> None:
        self._link = link
        self._reading = reading
        self.process = link.name
        self.leases = RedisLeases(link)
        self.relay = RedisRelay(link, reading)
        self.transcripts = RedisTranscripts(link)
        self.turns = RedisTurns(link)
        self.inbox = RedisInbox(link)
        self.audit = RedisAudit(link, key)
        self.proposals = RedisProposals(link, self.audit)
        self.forms = RedisForms(link, self.audit)
        self.secret_values = RedisSecretValues(link)
        self.results = RedisResults(link)
        self.controls = RedisControls(link)
        self.prompts = RedisPrompts(link)
        self.arms = RedisArms(link)

    @classmethod
    async def open(
        cls,
        url: str,
        process: str,
        key: ChainKey | None = None,
        *,
        prefix: str = PREFIX,
        patience: float = PATIENCE_SECONDS,
    ) -> "RedisStore":
        """`process` is this process's name, never used before; `patience` is how many seconds a server may be away. `key`
        seals the audit, and is the same in all processes; without one, a key that nobody keeps.

        Raises StoreError when the server cannot be used, or its keys are newer than this program.
        """
        link = RedisLink.to(url, process, prefix=prefix, patience=patience)
        try:
            await ready(link)
        except StoreError:
            await link.aclose()
            raise
        reading = RedisLink.to(url, process, prefix=prefix, reply_seconds=READ_SECONDS, patience=0)
        return cls(link, reading, key or ChainKey.of(secrets.token_bytes(32)))

    @property
    def remedy(self) -> str:
        """What to do when writes hang."""
        return f"check that the Redis at {self._link.where} runs and can be reached"

    async def check(self) -> None:
        """Commit a write that changes nothing. Raises StoreError when the server takes no writes."""
        await self._link.write(_CHECK)

    async def aclose(self) -> None:
        await self._reading.aclose()
        await self._link.aclose()


class RedisControls:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def put(self, token: str, payload: str) -> None:
        if await self._link.write(_PUT, token, payload) == "there":
            raise StoreError(f"The control {token} is stored already; its token must be new.")

    async def get(self, token: str) -> str | None:
        payload: str | None = await self._link.read("GET", f"{self._link.prefix}control:{token}")
        return payload
