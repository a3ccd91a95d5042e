"""The store of a single bot process, in one SQLite file. Each class is one role of `ports.Store`."""

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.domain.proposal import GUARDED_BY_EXPIRY, Proposal, ProposalState
from chatops_bot.domain.session import IsDead, MessageRef, RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.transcript import Entry
from chatops_bot.ports import Clock
from chatops_bot.stores.codec import (
    RowByRow,
    entry_from,
    entry_text,
    followed_score,
    proposal_from,
    proposal_text,
)
from chatops_bot.stores.lifetimes import CLAIMS_KEPT_SECONDS, CONTROLS_KEPT_SECONDS, ENDED_KEPT_SECONDS
from chatops_bot.stores.sqlite_arms import ARMS_TABLE, SqliteArms
from chatops_bot.stores.sqlite_audit import AUDIT_CHAIN_TABLE, SqliteAudit, append, seal_old_rows
from chatops_bot.stores.sqlite_file import SqliteFile, lateness, never
from chatops_bot.stores.sqlite_forms import FORMS_TABLE, SqliteForms
from chatops_bot.stores.sqlite_leases import LEASES_TABLE, RELEASE, SqliteLeases
from chatops_bot.stores.sqlite_prompts import PROMPTS_TABLES, SqlitePrompts
from chatops_bot.stores.sqlite_relay import SqliteRelay
from chatops_bot.stores.sqlite_results import RESULTS_TABLE, SqliteResults
from chatops_bot.stores.sqlite_secret_values import SEALED_VALUES_TABLE, SqliteSecretValues

MIGRATIONS = (
    """
    CREATE TABLE entries (seq INTEGER PRIMARY KEY, session TEXT NOT NULL, body TEXT NOT NULL);
    CREATE INDEX entries_by_session ON entries (session, seq);
    CREATE TABLE turns (
        id TEXT PRIMARY KEY, session TEXT NOT NULL, language TEXT NOT NULL, channel TEXT, message TEXT,
        snapshot TEXT NOT NULL DEFAULT '', outcome TEXT
    );
    CREATE INDEX turns_running ON turns (outcome) WHERE outcome IS NULL;
    CREATE INDEX turns_by_session ON turns (session);
    CREATE TABLE claims (key TEXT PRIMARY KEY, at TEXT NOT NULL);
    CREATE TABLE proposals (
        id TEXT PRIMARY KEY, session TEXT NOT NULL, code TEXT NOT NULL, state TEXT NOT NULL, revision INTEGER NOT NULL,
        shown_revision INTEGER NOT NULL DEFAULT -1, card_channel TEXT, card_message TEXT, body TEXT NOT NULL
    );
    CREATE INDEX proposals_by_code ON proposals (session, code);
    CREATE INDEX proposals_by_state ON proposals (state);
    CREATE TABLE controls (token TEXT PRIMARY KEY, payload TEXT NOT NULL);
    CREATE TABLE audit (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, person_id TEXT NOT NULL, person_name TEXT NOT NULL,
        role TEXT NOT NULL, session TEXT NOT NULL, turn_id TEXT NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL,
        decision TEXT NOT NULL, status TEXT NOT NULL, result TEXT NOT NULL, result_sha256 TEXT NOT NULL,
        proposal_id TEXT NOT NULL, milliseconds INTEGER NOT NULL
    );
    CREATE TRIGGER audit_is_append_only_u BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
    CREATE TRIGGER audit_is_append_only_d BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
    """,
    "ALTER TABLE turns ADD COLUMN input TEXT NOT NULL DEFAULT '';",
    FORMS_TABLE,
    LEASES_TABLE,
    AUDIT_CHAIN_TABLE,
    SEALED_VALUES_TABLE,
    """
    ALTER TABLE proposals ADD COLUMN followed_until REAL;
    CREATE INDEX proposals_followed ON proposals (followed_until) WHERE followed_until IS NOT NULL;
    """,
    PROMPTS_TABLES,
    RESULTS_TABLE,
    ARMS_TABLE,
    """
    ALTER TABLE controls ADD COLUMN until REAL;
    UPDATE controls SET until = strftime('%s', 'now') + 2592000.0;
    CREATE INDEX controls_until ON controls (until);
    ALTER TABLE turns ADD COLUMN ended_at REAL;
    UPDATE turns SET ended_at = strftime('%s', 'now') + 0.0 WHERE outcome IS NOT NULL;
    CREATE INDEX turns_ended ON turns (ended_at) WHERE ended_at IS NOT NULL;
    CREATE INDEX claims_at ON claims (at);
    """,
)
"""Scripts that bring a file forward, in order. One that has been released is never changed."""


class SqliteStore:
    """All roles over one file. Open with `SqliteStore.open`, close with `aclose`."""

    def __init__(self, file: SqliteFile, clock: Clock, key: ChainKey, process: str) -> None:
        self._file = file
        self.process = process
        self.relay = SqliteRelay(self.process)
        self.transcripts = SqliteTranscripts(file)
        self.turns = SqliteTurns(file, clock, self.process)
        self.inbox = SqliteInbox(file, clock)
        self.proposals = SqliteProposals(file, key, clock)
        self.forms = SqliteForms(file, key, clock)
        self.audit = SqliteAudit(file, key)
        self.leases = SqliteLeases(file, clock)
        self.secret_values = SqliteSecretValues(file, clock)
        self.results = SqliteResults(file, clock)
        self.controls = SqliteControls(file, clock)
        self.prompts = SqlitePrompts(file, clock)
        self.arms = SqliteArms(file)

    @classmethod
    async def open(cls, path: Path, clock: Clock, key: ChainKey | None = None) -> "SqliteStore":
        """`key` seals the audit. Without one it is sealed with a key that nobody keeps: for stores that are thrown away.

        Raises StoreError when the file is in use, newer than this program, or not a database.
        """
        key = key or ChainKey.of(secrets.token_bytes(32))
        file = await SqliteFile.open(path, MIGRATIONS)
        try:
            await file.write(partial(seal_old_rows, key=key, now=clock.now()))
            await file.write(lambda db: db.execute(RELEASE))
            opening = await SqliteLeases(file, clock).take("opening", "whoever opens the file", 0)
        except BaseException:
            await file.aclose()
            raise
        return cls(file, clock, key, f"bot_{opening}")

    @property
    def remedy(self) -> str:
        """What to do when writes hang."""
        return "check the disk"

    async def check(self) -> None:
        """Commit a write that changes nothing. Raises StoreError when the file takes no writes."""
        version = len(MIGRATIONS)
        await self._file.write(lambda db: db.execute(f"PRAGMA user_version = {version}"))

    async def aclose(self) -> None:
        await self._file.aclose()


class SqliteTranscripts:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    async def append(self, session: SessionKey, entries: Sequence[Entry]) -> None:
        rows = [(str(session), entry_text(entry)) for entry in entries]
        await self._file.write(
            lambda db: db.executemany("INSERT INTO entries (session, body) VALUES (?, ?)", rows)
        )

    async def load(self, session: SessionKey) -> list[Entry]:
        rows = await self._file.read(
            lambda db: db.execute(
                "SELECT body FROM entries WHERE session = ? ORDER BY seq", (str(session),)
            ).fetchall()
        )
        return [entry_from(body, str(session)) for (body,) in rows]

    async def known(self, session: SessionKey) -> bool:
        key = str(session)
        return await self._file.read(
            lambda db: bool(
                db.execute(
                    "SELECT EXISTS (SELECT 1 FROM entries WHERE session = ?) OR EXISTS (SELECT 1 FROM turns WHERE session = ?)",
                    (key, key),
                ).fetchone()[0]
            )
        )


class SqliteTurns:
    """The file has one process, so a turn belongs to this one, or to one that is dead."""

    def __init__(self, file: SqliteFile, clock: Clock, process: str) -> None:
        self._file = file
        self._clock = clock
        self._process = process
        self._held: set[str] = set()

    async def begin(self, turn: RunningTurn, claim: str = "") -> str:
        channel, message = _ref_columns(turn.message)
        row = (turn.id, str(turn.session), turn.language, channel, message, turn.snapshot, turn.input)
        at = self._clock.now()

        def work(db: sqlite3.Connection) -> bool:
            if claim and not _claimed(db, claim, at):
                return False
            db.execute(
                "INSERT INTO turns (id, session, language, channel, message, snapshot, input) VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            return True

        self._held.add(turn.id)  # before, since a caller who is cancelled does not take the turn back
        if await self._file.write(work):
            return self._process
        self._held.discard(turn.id)
        return ""

    async def checkpoint(self, turn_id: str, message: MessageRef | None, snapshot: str) -> None:
        row = (*_ref_columns(message), snapshot, turn_id)
        await self._file.write(
            lambda db: db.execute("UPDATE turns SET channel = ?, message = ?, snapshot = ? WHERE id = ?", row)
        )

    async def end(self, turn_id: str, outcome: TurnOutcome) -> None:
        now = self._clock.now().timestamp()

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE turns SET outcome = ?, snapshot = '', input = '', ended_at = ? WHERE id = ?",
                (outcome.value, now, turn_id),
            )
            db.execute("DELETE FROM turns WHERE ended_at <= ?", (now - ENDED_KEPT_SECONDS,))

        await self._file.write(work)
        self._held.discard(turn_id)

    async def running(self) -> list[RunningTurn]:
        return await self._unfinished("")

    async def holder(self, turn_id: str) -> str:
        held = turn_id in self._held and await self._unfinished("AND id = ?", turn_id)
        return self._process if held else ""

    async def holder_of(self, session: SessionKey) -> str:
        turns = await self._unfinished("AND session = ?", str(session))
        return self._process if any(turn.id in self._held for turn in turns) else ""

    async def take_over(self, is_dead: IsDead | None = None) -> list[RunningTurn]:
        taken = [turn for turn in await self.running() if turn.id not in self._held]
        self._held.update(turn.id for turn in taken)
        return taken

    async def _unfinished(self, where: str, *values: str) -> list[RunningTurn]:
        rows = await self._file.read(
            lambda db: db.execute(
                "SELECT id, session, channel, message, language, snapshot, input FROM turns"  # noqa: S608  # `where` is one of the constants above
                f" WHERE outcome IS NULL {where} ORDER BY rowid",
                values,
            ).fetchall()
        )
        return [
            RunningTurn(turn, SessionKey.parse(session), _ref(channel, message), language, snapshot, asked)
            for turn, session, channel, message, language, snapshot, asked in rows
        ]


class SqliteInbox:
    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    async def claim(self, key: str) -> bool:
        at = self._clock.now()
        return await self._file.write(lambda db: _claimed(db, key, at))


_ProposalRow = tuple[str, str, str | None, str | None, int]


class SqliteProposals:
    """The file has one process, so no turn of another one adds or moves anything here."""

    def __init__(self, file: SqliteFile, key: ChainKey, clock: Clock) -> None:
        self._file = file
        self._key = key
        self._clock = clock
        self._row_by_row = RowByRow()

    async def add(self, proposal: Proposal, record: AuditRecord | None = None, *, by_turn: str = "") -> None:
        row = (proposal.id, str(proposal.session), proposal.code, proposal.state.value, proposal.revision)

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT INTO proposals (id, session, code, state, revision, body) VALUES (?, ?, ?, ?, ?, ?)",
                (*row, proposal_text(proposal)),
            )
            if record is not None:
                append(db, self._key, record)

        await self._file.write(work)

    async def get(self, proposal_id: str) -> Proposal | None:
        return next(iter(await self._select("WHERE id = ?", proposal_id)), None)

    async def by_code(self, session: SessionKey, code: str) -> Proposal | None:
        found = await self._select("WHERE session = ? AND code = ?", str(session), code)
        return found[-1] if found else None

    async def with_code(self, code: str) -> list[Proposal]:
        return await self._select("WHERE code = ?", code)

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
        is_late = lateness(self._clock, now, proposal.expires_at) if to in GUARDED_BY_EXPIRY else never
        row = (
            moved.state.value,
            moved.revision,
            proposal_text(moved),
            followed_score(moved),
            proposal.id,
            proposal.state.value,
            proposal.revision,
        )

        def work(db: sqlite3.Connection) -> bool:
            if is_late():
                return False
            won = db.execute(
                "UPDATE proposals SET state = ?, revision = ?, body = ?, followed_until = ? WHERE id = ? AND state = ? AND revision = ?",
                row,
            ).rowcount
            if won and record is not None:
                append(db, self._key, record)
            return won == 1

        return moved if await self._file.write(work) else None

    async def shown(self, proposal_id: str, card: MessageRef, revision: int) -> None:
        row = (card.channel, card.id, revision, proposal_id, revision)
        await self._file.write(
            lambda db: db.execute(
                "UPDATE proposals SET card_channel = ?, card_message = ?, shown_revision = ? WHERE id = ? AND shown_revision <= ?",
                row,
            )
        )

    async def in_states(self, states: frozenset[ProposalState]) -> list[Proposal]:
        marks = ", ".join("?" for _ in states)
        rows = await self._rows(f"WHERE state IN ({marks})", *(state.value for state in states))
        return self._row_by_row.read(_proposal, rows)

    async def followed(self, now: datetime) -> list[Proposal]:
        return self._row_by_row.read(_proposal, await self._rows("WHERE followed_until > ?", now.timestamp()))

    async def with_stale_card(self) -> list[Proposal]:
        return self._row_by_row.read(_proposal, await self._rows("WHERE shown_revision < revision"))

    async def _select(self, where: str, *values: str) -> list[Proposal]:
        return [_proposal(row) for row in await self._rows(where, *values)]

    async def _rows(self, where: str, *values: str | float) -> list[_ProposalRow]:
        return await self._file.read(
            lambda db: db.execute(
                f"SELECT id, body, card_channel, card_message, shown_revision FROM proposals {where} ORDER BY rowid",  # noqa: S608  # `where` is one of the constants above
                values,
            ).fetchall()
        )


def _proposal(row: _ProposalRow) -> Proposal:
    proposal_id, body, channel, message, shown = row
    return replace(proposal_from(body, proposal_id), card=_ref(channel, message), shown_revision=shown)


class SqliteControls:
    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    async def put(self, token: str, payload: str) -> None:
        now = self._clock.now().timestamp()

        def work(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM controls WHERE until <= ?", (now,))
            db.execute("INSERT INTO controls VALUES (?, ?, ?)", (token, payload, now + CONTROLS_KEPT_SECONDS))

        await self._file.write(work)

    async def get(self, token: str) -> str | None:
        now = self._clock.now().timestamp()
        row = await self._file.read(
            lambda db: db.execute(
                "SELECT payload FROM controls WHERE token = ? AND until > ?", (token, now)
            ).fetchone()
        )
        return None if row is None else str(row[0])


def _claimed(db: sqlite3.Connection, key: str, at: datetime) -> bool:
    db.execute(
        "DELETE FROM claims WHERE at <= ?", (_claim_time(at - timedelta(seconds=CLAIMS_KEPT_SECONDS)),)
    )
    row = (key, _claim_time(at))
    return db.execute("INSERT OR IGNORE INTO claims (key, at) VALUES (?, ?)", row).rowcount == 1


def _claim_time(at: datetime) -> str:
    """A text that sorts as the times do."""
    return at.astimezone(UTC).isoformat()


def _ref(channel: str | None, message: str | None) -> MessageRef | None:
    return None if not channel or not message else MessageRef(channel, message)


def _ref_columns(ref: MessageRef | None) -> tuple[str | None, str | None]:
    return (None, None) if ref is None else (ref.channel, ref.id)
