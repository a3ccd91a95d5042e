"""The store that several bot processes share, in one Redis. Each class is one role of `ports.Store`."""

from chatops_bot.domain.errors import StoreError
from chatops_bot.stores.redis_audit import RedisAudit
from chatops_bot.stores.redis_link import RedisLink, script
from chatops_bot.stores.redis_server import ready
from chatops_bot.stores.redis_sessions import RedisInbox, RedisTranscripts, RedisTurns
from chatops_bot.stores.redis_waiting import RedisForms, RedisProposals

_PUT = script(
    """
    if redis.call('SET', P .. 'control:' .. A[1], A[2], 'NX') then return 'ok' end
    return 'there'
    """
)
_CHECK = script("redis.call('SET', P .. 'checked', '')\nreturn 'ok'")


class RedisStore:
    """All roles over one link. Open with `RedisStore.open`, close with `aclose`."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self.transcripts = RedisTranscripts(link)
        self.turns = RedisTurns(link)
        self.inbox = RedisInbox(link)
        self.proposals = RedisProposals(link)
        self.forms = RedisForms(link)
        self.audit = RedisAudit(link)
        self.controls = RedisControls(link)

    @classmethod
    async def open(cls, link: RedisLink) -> "RedisStore":
        """Takes over `link`. Raises StoreError when the server cannot be used, or is newer than this program."""
        try:
            await ready(link)
        except StoreError:
            await link.aclose()
            raise
        return cls(link)

    async def check(self) -> None:
        """Commit a write that changes nothing. Raises StoreError when the server takes no writes."""
        await self._link.write(_CHECK)

    async def aclose(self) -> None:
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
