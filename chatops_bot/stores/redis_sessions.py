"""Transcripts, running turns and claimed inbox keys in Redis; the roles `ports.Transcripts`, `Turns` and `Inbox`."""

import json
import logging
from collections.abc import Sequence

from chatops_bot.domain.errors import StoreError, TurnLost
from chatops_bot.domain.session import IsDead, MessageRef, RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.transcript import MADE_BY_TURNS, Entry
from chatops_bot.stores.codec import entry_from, entry_text
from chatops_bot.stores.lifetimes import CLAIMS_KEPT_SECONDS, ENDED_KEPT_SECONDS
from chatops_bot.stores.redis_link import RedisLink, Script, script

_log = logging.getLogger(__name__)

_LIVES = """
    local function lives(process) return redis.call('EXISTS', KEYS[1] .. 'lease:process:' .. process) == 1 end
    local function holder_of(session)
        for _, id in ipairs(redis.call('ZRANGE', KEYS[1] .. 'turns:of:' .. session, 0, -1)) do
            local process = redis.call('HGET', KEYS[1] .. 'turn:' .. id, 'holder')
            if lives(process) then return process end
        end
        return ''
    end
    """

_APPEND = script(
    """
    local session, me, turns = A[1], A[2], tonumber(A[3])
    for n = 4, 3 + turns do
        local holder = redis.call('HGET', P .. 'turn:' .. A[n], 'holder')
        if holder and holder ~= me then return A[n] end
    end
    for n = 4 + turns, #A do redis.call('RPUSH', P .. 'entries:' .. session, A[n]) end
    redis.call('SADD', P .. 'known', session)
    return ''
    """
)

_BEGIN = script(
    f"""
    {_LIVES}
    local me, claim, id, session = A[1], A[2], A[3], A[4]
    if claim ~= '' and redis.call('EXISTS', P .. 'claim:' .. claim) == 1 then return '' end
    if redis.call('EXISTS', P .. 'turn:' .. id) == 1 then return 'there' end
    local holder, order = holder_of(session), redis.call('INCR', P .. 'order')
    if holder == '' then holder = me end
    if claim ~= '' then redis.call('SET', P .. 'claim:' .. claim, '', 'EX', {CLAIMS_KEPT_SECONDS}) end
    redis.call('HSET', P .. 'turn:' .. id, 'holder', holder, 'session', session, 'language', A[5], 'channel', A[6],
        'message', A[7], 'snapshot', A[8], 'input', A[9])
    redis.call('ZADD', P .. 'turns:running', order, id)
    redis.call('ZADD', P .. 'turns:of:' .. session, order, id)
    redis.call('SADD', P .. 'known', session)
    return '+' .. holder
    """
)

_CHECKPOINT = script(
    """
    local turn = P .. 'turn:' .. A[2]
    local holder = redis.call('HGET', turn, 'holder')
    if holder and holder ~= A[1] then return 'lost' end
    if holder then redis.call('HSET', turn, 'channel', A[3], 'message', A[4], 'snapshot', A[5]) end
    return 'ok'
    """
)

_END = script(
    f"""
    local turn = P .. 'turn:' .. A[2]
    local found = redis.call('HMGET', turn, 'holder', 'session')
    if not found[1] then return 'ok' end
    if found[1] ~= A[1] then return 'lost' end
    redis.call('HSET', turn, 'outcome', A[3])
    redis.call('HDEL', turn, 'snapshot', 'input')
    redis.call('ZREM', P .. 'turns:running', A[2])
    redis.call('ZREM', P .. 'turns:of:' .. found[2], A[2])
    redis.call('EXPIRE', turn, {ENDED_KEPT_SECONDS})
    return 'ok'
    """
)

_ROW = """
    local function row(id)
        local turn = KEYS[1] .. 'turn:' .. id
        return {id, unpack(redis.call('HMGET', turn, 'session', 'channel', 'message', 'language', 'snapshot', 'input'))}
    end
    """

_RUNNING = Script(
    f"""
    {_ROW}
    local found = {{}}
    for _, id in ipairs(redis.call('ZRANGE', KEYS[1] .. 'turns:running', 0, -1)) do table.insert(found, row(id)) end
    return found
    """
)

_HOLDER = Script(
    f"""
    {_LIVES}
    local found = redis.call('HMGET', KEYS[1] .. 'turn:' .. ARGV[1], 'holder', 'outcome')
    return found[1] and not found[2] and lives(found[1]) and found[1] or ''
    """
)

_HOLDER_OF = Script(f"{_LIVES}\nreturn holder_of(ARGV[1])")

_HOLDERS = Script(
    """
    local holders, seen = {}, {}
    for _, id in ipairs(redis.call('ZRANGE', KEYS[1] .. 'turns:running', 0, -1)) do
        local holder = redis.call('HGET', KEYS[1] .. 'turn:' .. id, 'holder')
        if holder and not seen[holder] then table.insert(holders, holder) end
        if holder then seen[holder] = true end
    end
    return holders
    """
)

_TAKE_OVER = script(
    f"""
    {_LIVES}
    {_ROW}
    local taken, dead = {{}}, {{}}
    for n = 2, #A do dead[A[n]] = true end
    for _, id in ipairs(redis.call('ZRANGE', P .. 'turns:running', 0, -1)) do
        local turn = P .. 'turn:' .. id
        local found = redis.call('HMGET', turn, 'holder', 'session')
        local other = holder_of(found[2])
        if dead[found[1]] and not lives(found[1]) and (other == '' or other == A[1]) then
            redis.call('HSET', turn, 'holder', A[1])
            table.insert(taken, row(id))
        end
    end
    return #taken == 0 and '' or cjson.encode(taken)
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
        if not entries:
            return
        turns = list(dict.fromkeys(entry.turn_id for entry in entries if isinstance(entry, MADE_BY_TURNS)))
        lost = await self._link.write(
            _APPEND, str(session), self._link.name, len(turns), *turns, *map(entry_text, entries)
        )
        if lost:
            raise TurnLost(lost)

    async def load(self, session: SessionKey) -> list[Entry]:
        rows = await self._link.read("LRANGE", f"{self._link.prefix}entries:{session}", 0, -1)
        return [entry_from(body, str(session)) for body in rows]

    async def known(self, session: SessionKey) -> bool:
        return bool(await self._link.read("SISMEMBER", f"{self._link.prefix}known", str(session)))


class RedisTurns:
    """A turn stands in a hash that names the process which holds it, in a set of all running ones and one of its session's."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def begin(self, turn: RunningTurn, claim: str = "") -> str:
        answer = await self._link.write(
            _BEGIN, self._link.name, claim, turn.id, str(turn.session), turn.language, *ref_words(turn.message),
            turn.snapshot, turn.input,
        )  # fmt: skip
        if answer == "there":
            raise StoreError(f"Turn {turn.id} is stored already; its id must be new.")
        return answer.removeprefix("+")

    async def checkpoint(self, turn_id: str, message: MessageRef | None, snapshot: str) -> None:
        if (
            await self._link.write(_CHECKPOINT, self._link.name, turn_id, *ref_words(message), snapshot)
            == "lost"
        ):
            raise TurnLost(turn_id)

    async def end(self, turn_id: str, outcome: TurnOutcome) -> None:
        if await self._link.write(_END, self._link.name, turn_id, outcome.value) == "lost":
            raise TurnLost(turn_id)

    async def running(self) -> list[RunningTurn]:
        return _turns(await self._link.look(_RUNNING))

    async def holder(self, turn_id: str) -> str:
        return str(await self._link.look(_HOLDER, turn_id))

    async def holder_of(self, session: SessionKey) -> str:
        return str(await self._link.look(_HOLDER_OF, str(session)))

    async def take_over(self, is_dead: IsDead | None = None) -> list[RunningTurn]:
        others = [name for name in await self._link.look(_HOLDERS) if name != self._link.name]
        dead = [name for name in others if is_dead is None or await is_dead(name)]
        if not dead:
            return []
        taken = await self._link.write(_TAKE_OVER, self._link.name, *dead)
        return _turns(json.loads(taken or "[]"))


def _turns(rows: Sequence[Sequence[str]]) -> list[RunningTurn]:
    """Those that can be read; one that somebody spoilt must keep no other from being taken over."""
    turns = []
    for row in rows:
        try:
            turns.append(_turn(*row))
        except ValueError:
            _log.error("turn %s in Redis cannot be read and is left out", row[0])
    return turns


def _turn(
    turn: str, session: str, channel: str, message: str, language: str, snapshot: str, asked: str
) -> RunningTurn:
    return RunningTurn(turn, SessionKey.parse(session), ref_from(channel, message), language, snapshot, asked)


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
