"""Transcripts, running turns and claimed inbox keys in Redis; the roles `ports.Transcripts`, `Turns` and `Inbox`."""

from collections.abc import Sequence

from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.session import MessageRef, RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.transcript import Entry
from chatops_bot.stores.codec import entry_from, entry_text
from chatops_bot.stores.redis_link import RedisLink, Script, script

CLAIMS_KEPT_SECONDS = 7 * 24 * 3600

_APPEND = script(
    """
    for n = 2, #A do redis.call('RPUSH', P .. 'entries:' .. A[1], A[n]) end
    redis.call('SADD', P .. 'known', A[1])
    return 'ok'
    """
)

_BEGIN = script(
    f"""
    local claim, id, session = A[1], A[2], A[3]
    if claim ~= '' and redis.call('EXISTS', P .. 'claim:' .. claim) == 1 then return 'claimed' end
    if redis.call('EXISTS', P .. 'turn:' .. id) == 1 then return 'there' end
    if claim ~= '' then redis.call('SET', P .. 'claim:' .. claim, '', 'EX', {CLAIMS_KEPT_SECONDS}) end
    redis.call('HSET', P .. 'turn:' .. id, 'session', session, 'language', A[4], 'channel', A[5], 'message', A[6],
        'snapshot', A[7], 'input', A[8])
    redis.call('ZADD', P .. 'turns:running', redis.call('INCR', P .. 'order'), id)
    redis.call('SADD', P .. 'known', session)
    return 'ok'
    """
)

_CHECKPOINT = script(
    """
    local turn = P .. 'turn:' .. A[1]
    if redis.call('EXISTS', turn) == 1 then
        redis.call('HSET', turn, 'channel', A[2], 'message', A[3], 'snapshot', A[4])
    end
    return 'ok'
    """
)

_END = script(
    """
    local turn = P .. 'turn:' .. A[1]
    if redis.call('EXISTS', turn) == 1 then
        redis.call('HSET', turn, 'outcome', A[2])
        redis.call('HDEL', turn, 'snapshot', 'input')
    end
    redis.call('ZREM', P .. 'turns:running', A[1])
    return 'ok'
    """
)

_RUNNING = Script(
    """
    local found = {}
    for _, id in ipairs(redis.call('ZRANGE', KEYS[1] .. 'turns:running', 0, -1)) do
        local row = redis.call('HMGET', KEYS[1] .. 'turn:' .. id, 'session', 'channel', 'message', 'language', 'snapshot', 'input')
        table.insert(found, {id, unpack(row)})
    end
    return found
    """
)

_CLAIM = script(
    f"""
    local won = redis.call('SET', P .. 'claim:' .. A[1], '', 'NX', 'EX', {CLAIMS_KEPT_SECONDS})
    return won and 'won' or 'lost'
    """
)


class RedisTranscripts:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def append(self, session: SessionKey, entries: Sequence[Entry]) -> None:
        if entries:
            await self._link.write(_APPEND, str(session), *map(entry_text, entries))

    async def load(self, session: SessionKey) -> list[Entry]:
        rows = await self._link.read("LRANGE", f"{self._link.prefix}entries:{session}", 0, -1)
        return [entry_from(body, str(session)) for body in rows]

    async def known(self, session: SessionKey) -> bool:
        return bool(await self._link.read("SISMEMBER", f"{self._link.prefix}known", str(session)))


class RedisTurns:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def begin(self, turn: RunningTurn, claim: str = "") -> bool:
        answer = await self._link.write(
            _BEGIN, claim, turn.id, str(turn.session), turn.language, *ref_words(turn.message), turn.snapshot, turn.input
        )  # fmt: skip
        if answer == "there":
            raise StoreError(f"Turn {turn.id} is stored already; its id must be new.")
        return answer == "ok"

    async def checkpoint(self, turn_id: str, message: MessageRef | None, snapshot: str) -> None:
        await self._link.write(_CHECKPOINT, turn_id, *ref_words(message), snapshot)

    async def end(self, turn_id: str, outcome: TurnOutcome) -> None:
        await self._link.write(_END, turn_id, outcome.value)

    async def running(self) -> list[RunningTurn]:
        rows = await self._link.look(_RUNNING)
        return [
            RunningTurn(
                turn, SessionKey.parse(session), ref_from(channel, message), language, snapshot, asked
            )
            for turn, session, channel, message, language, snapshot, asked in rows
        ]


class RedisInbox:
    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def claim(self, key: str) -> bool:
        return await self._link.write(_CLAIM, key) == "won"


def ref_words(ref: MessageRef | None) -> tuple[str, str]:
    """A message as two texts, both empty for none."""
    return ("", "") if ref is None else (ref.channel, ref.id)


def ref_from(channel: str | None, message: str | None) -> MessageRef | None:
    """What `ref_words` made."""
    return MessageRef(channel, message) if channel and message else None
