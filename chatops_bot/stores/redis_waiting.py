"""What waits for people, in Redis: proposals and forms. The roles `ports.Proposals` and `ports.Forms`.

Both are records that move by compare-and-set on state and revision, and that a message shows. Such a record is a hash, with
a sorted set for each state, one for stale cards and, for proposals, one for each code and one for those that are followed; every script moves all of them
together, and every set is in the order in which records were added.

How long a record may be decided on is measured by the server, from the moment at which it was added: a move that was under way
for long, or came from a machine whose clock is behind, is late all the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from chatops_bot.domain import form as form_table
from chatops_bot.domain import proposal as proposal_table
from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.errors import StoreError, TurnLost
from chatops_bot.domain.form import Form, FormState
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.stores.codec import (
    RowByRow,
    followed_score,
    form_from,
    form_text,
    proposal_from,
    proposal_text,
)
from chatops_bot.stores.redis_audit import AUDITED, OTHERS, RedisAudit
from chatops_bot.stores.redis_link import RedisLink, Script, script
from chatops_bot.stores.redis_sessions import ref_from

_GUARDS = """
    local function now()
        local time = redis.call('TIME')
        return time[1] * 1000 + math.floor(time[2] / 1000)
    end
    local function is_others(turn, me)
        local holder = turn ~= '' and redis.call('HGET', P .. 'turn:' .. turn, 'holder')
        return holder and holder ~= me
    end
    """

_ADD = script(
    AUDITED
    + _GUARDS
    + """
    local kind, id = A[1], A[2]
    local key = P .. kind .. ':' .. id
    if redis.call('EXISTS', key) == 1 then return 'there' end
    if is_others(A[8], A[9]) then return 'others' end
    if behind() then return 'behind' end
    local order = redis.call('INCR', P .. 'order')
    local deadline = string.format('%.0f', now() + A[7])
    redis.call('HSET', key, 'order', order, 'state', A[3], 'revision', A[4], 'shown', -1, 'body', A[5], 'deadline', deadline)
    redis.call('ZADD', P .. kind .. 's:state:' .. A[3], order, id)
    redis.call('ZADD', P .. kind .. 's:stale', order, id)
    if A[6] ~= '' then redis.call('ZADD', P .. kind .. 's:code:' .. A[6], order, id) end
    record()
    return 'ok'
    """
)

_MOVE = script(
    AUDITED
    + _GUARDS
    + """
    local kind, id, from, revision, to = A[1], A[2], A[3], tonumber(A[4]), A[5]
    local key = P .. kind .. ':' .. id
    local found = redis.call('HMGET', key, 'state', 'revision', 'order', 'shown', 'deadline')
    if found[1] ~= from or tonumber(found[2]) ~= revision then return 'lost' end
    if A[8] ~= '' and found[5] and now() >= tonumber(found[5]) then return 'lost' end
    if is_others(A[9], A[10]) then return 'others' end
    if behind() then return 'behind' end
    redis.call('HSET', key, 'state', to, 'revision', revision + 1, 'body', A[6], 'answer_turn', A[7])
    redis.call('ZREM', P .. kind .. 's:state:' .. from, id)
    redis.call('ZADD', P .. kind .. 's:state:' .. to, found[3], id)
    if tonumber(found[4]) <= revision then redis.call('ZADD', P .. kind .. 's:stale', found[3], id) end
    if A[7] ~= '' then redis.call('ZADD', P .. kind .. 's:unanswered', found[3], id) end
    if A[11] ~= '' then
        redis.call('ZADD', P .. kind .. 's:followed', A[11], id)
    else
        redis.call('ZREM', P .. kind .. 's:followed', id)
    end
    record()
    return 'won'
    """
)

_SHOWN = script(
    """
    local kind, id, shown = A[1], A[2], tonumber(A[5])
    local row = P .. kind .. ':' .. id
    local found = redis.call('HMGET', row, 'shown', 'revision')
    if not found[1] or tonumber(found[1]) > shown then return 'older' end
    redis.call('HSET', row, 'channel', A[3], 'message', A[4], 'shown', shown)
    if shown >= tonumber(found[2]) then redis.call('ZREM', P .. kind .. 's:stale', id) end
    return 'ok'
    """
)

_ROWS = """
    local function rows(kind, ids)
        local found = {}
        for _, id in ipairs(ids) do
            local row = redis.call('HMGET', KEYS[1] .. kind .. ':' .. id, 'body', 'channel', 'message', 'shown', 'order')
            if row[1] then table.insert(found, {id, row[1], row[2] or '', row[3] or '', row[4], row[5]}) end
        end
        return found
    end
    """

_GET = Script(_ROWS + "return rows(ARGV[1], {ARGV[2]})")

_IN_SETS = Script(
    _ROWS
    + """
    local all = {}
    for n = 2, #ARGV do
        for _, row in ipairs(rows(ARGV[1], redis.call('ZRANGE', KEYS[1] .. ARGV[1] .. 's:' .. ARGV[n], 0, -1))) do
            table.insert(all, row)
        end
    end
    table.sort(all, function(a, b) return tonumber(a[6]) < tonumber(b[6]) end)
    return all
    """
)

_FOLLOWED = Script(
    _ROWS
    + """
    local set = KEYS[1] .. 'proposals:followed'
    redis.call('ZREMRANGEBYSCORE', set, '-inf', ARGV[1])
    local found = rows('proposal', redis.call('ZRANGE', set, 0, -1))
    table.sort(found, function(a, b) return tonumber(a[6]) < tonumber(b[6]) end)
    return found
    """
)

_UNANSWERED = Script(
    _ROWS
    + """
    local set, waiting = KEYS[1] .. 'forms:unanswered', {}
    for _, id in ipairs(redis.call('ZRANGE', set, 0, -1)) do
        local turn = redis.call('HGET', KEYS[1] .. 'form:' .. id, 'answer_turn')
        if turn and redis.call('EXISTS', KEYS[1] .. 'turn:' .. turn) == 0 then
            table.insert(waiting, id)
        else
            redis.call('ZREM', set, id)
        end
    end
    return rows('form', waiting)
    """
)

_Row = tuple[str, str, str, str, str, str]


class _Records:
    """The rows of one kind."""

    def __init__(self, link: RedisLink, audit: RedisAudit, kind: Literal["proposal", "form"]) -> None:
        self._link = link
        self._audit = audit
        self._kind = kind

    async def add(
        self, new: Proposal | Form, body: str, *, code: str = "", by_turn: str = "", record: AuditRecord | None = None
    ) -> None:  # fmt: skip
        life = round((new.expires_at - new.created_at).total_seconds() * 1000)
        answer = await self._audit.run(
            _ADD, self._kind, new.id, new.state.value, new.revision, body, code, life, by_turn, self._link.name,
            record=record,
        )  # fmt: skip
        if answer == "there":
            raise StoreError(f"The {self._kind} {new.id} is stored already; its id must be new.")
        if answer == OTHERS:
            raise TurnLost(by_turn)

    async def move(
        self, before: Proposal | Form, to: str, body: str, *, is_guarded: bool, answer_turn: str = "", by_turn: str = "",
        followed: float | None = None,
        record: AuditRecord | None = None,
    ) -> bool:  # fmt: skip
        """`is_guarded`: not after the record's time is over, by the server's clock."""
        answer = await self._audit.run(
            _MOVE, self._kind, before.id, before.state.value, before.revision, to, body, answer_turn,
            "guarded" if is_guarded else "", by_turn, self._link.name,
            "" if followed is None else str(followed), record=record,
        )  # fmt: skip
        if answer == OTHERS:
            raise TurnLost(by_turn)
        return answer == "won"

    async def shown(self, record_id: str, card: MessageRef, revision: int) -> None:
        await self._link.write(_SHOWN, self._kind, record_id, card.channel, card.id, revision)

    async def get(self, record_id: str) -> Sequence[_Row]:
        rows: Sequence[_Row] = await self._link.look(_GET, self._kind, record_id)
        return rows

    async def in_sets(self, *names: str) -> Sequence[_Row]:
        rows: Sequence[_Row] = await self._link.look(_IN_SETS, self._kind, *names)
        return rows


class RedisProposals:
    def __init__(self, link: RedisLink, audit: RedisAudit) -> None:
        self._link = link
        self._records = _Records(link, audit, "proposal")
        self._row_by_row = RowByRow()

    async def add(self, proposal: Proposal, record: AuditRecord | None = None, *, by_turn: str = "") -> None:
        body = proposal_text(proposal)
        await self._records.add(proposal, body, code=proposal.code, by_turn=by_turn, record=record)

    async def get(self, proposal_id: str) -> Proposal | None:
        return next(map(_proposal, await self._records.get(proposal_id)), None)

    async def by_code(self, session: SessionKey, code: str) -> Proposal | None:
        found = [each for each in await self.with_code(code) if each.session == session]
        return found[-1] if found else None

    async def with_code(self, code: str) -> list[Proposal]:
        return [_proposal(row) for row in await self._records.in_sets(f"code:{code}")]

    async def move(
        self,
        proposal: Proposal,
        to: ProposalState,
        now: datetime,
        record: AuditRecord | None = None,
        *,
        by_turn: str = "",
        **changes: Any,
    ) -> Proposal | None:
        moved = proposal.moved(to, changes)
        is_guarded = to in proposal_table.GUARDED_BY_EXPIRY
        if is_guarded and now >= proposal.expires_at:
            return None
        won = await self._records.move(
            proposal,
            to.value,
            proposal_text(moved),
            is_guarded=is_guarded,
            by_turn=by_turn,
            followed=followed_score(moved),
            record=record,
        )
        return moved if won else None

    async def shown(self, proposal_id: str, card: MessageRef, revision: int) -> None:
        await self._records.shown(proposal_id, card, revision)

    async def in_states(self, states: frozenset[ProposalState]) -> list[Proposal]:
        return self._readable(await self._records.in_sets(*(f"state:{state.value}" for state in states)))

    async def followed(self, now: datetime) -> list[Proposal]:
        return self._readable(await self._link.look(_FOLLOWED, now.timestamp()))

    async def with_stale_card(self) -> list[Proposal]:
        return self._readable(await self._records.in_sets("stale"))

    def _readable(self, rows: Iterable[_Row]) -> list[Proposal]:
        return self._row_by_row.read(_proposal, rows)


class RedisForms:
    def __init__(self, link: RedisLink, audit: RedisAudit) -> None:
        self._link = link
        self._records = _Records(link, audit, "form")
        self._row_by_row = RowByRow()

    async def add(self, form: Form, record: AuditRecord | None = None, *, by_turn: str = "") -> None:
        await self._records.add(form, form_text(form), by_turn=by_turn, record=record)

    async def get(self, form_id: str) -> Form | None:
        return next(map(_form, await self._records.get(form_id)), None)

    async def move(
        self,
        form: Form,
        to: FormState,
        now: datetime,
        record: AuditRecord | None = None,
        **changes: Any,
    ) -> Form | None:
        moved = form.moved(to, changes)
        is_guarded = to in form_table.GUARDED_BY_EXPIRY
        if is_guarded and now >= form.expires_at:
            return None
        answer_turn = moved.answer_turn_id if to is FormState.SUBMITTED else ""
        won = await self._records.move(
            form, to.value, form_text(moved), is_guarded=is_guarded, answer_turn=answer_turn, record=record
        )
        return moved if won else None

    async def shown(self, form_id: str, card: MessageRef, revision: int) -> None:
        await self._records.shown(form_id, card, revision)

    async def open(self) -> list[Form]:
        return self._readable(await self._records.in_sets(f"state:{FormState.OPEN.value}"))

    async def with_stale_card(self) -> list[Form]:
        return self._readable(await self._records.in_sets("stale"))

    async def unanswered(self) -> list[Form]:
        return self._readable(await self._link.look(_UNANSWERED))

    def _readable(self, rows: Iterable[_Row]) -> list[Form]:
        return self._row_by_row.read(_form, rows)


def _proposal(row: _Row) -> Proposal:
    proposal_id, body, channel, message, shown, _ = row
    return replace(
        proposal_from(body, proposal_id), card=ref_from(channel, message), shown_revision=int(shown)
    )


def _form(row: _Row) -> Form:
    form_id, body, channel, message, shown, _ = row
    return replace(form_from(body, form_id), card=ref_from(channel, message), shown_revision=int(shown))
