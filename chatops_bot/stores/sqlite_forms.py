"""Forms in the store's SQLite file; the role `ports.Forms`."""

import sqlite3
from dataclasses import replace
from datetime import datetime
from typing import Any

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.domain.form import GUARDED_BY_EXPIRY, Form, FormState
from chatops_bot.domain.session import MessageRef
from chatops_bot.ports import Clock
from chatops_bot.stores.codec import RowByRow, form_from, form_text
from chatops_bot.stores.sqlite_audit import append
from chatops_bot.stores.sqlite_file import SqliteFile, lateness, never

FORMS_TABLE = """
    CREATE TABLE forms (
        id TEXT PRIMARY KEY, state TEXT NOT NULL, revision INTEGER NOT NULL, shown_revision INTEGER NOT NULL DEFAULT -1,
        card_channel TEXT, card_message TEXT, answer_turn TEXT NOT NULL DEFAULT '', body TEXT NOT NULL
    );
    CREATE INDEX forms_by_state ON forms (state);
    """


_Row = tuple[str, str, str | None, str | None, int]


class SqliteForms:
    """The file has one process, so no turn of another one adds anything here."""

    def __init__(self, file: SqliteFile, key: ChainKey, clock: Clock) -> None:
        self._file = file
        self._key = key
        self._clock = clock
        self._row_by_row = RowByRow()

    async def add(self, form: Form, record: AuditRecord | None = None, *, by_turn: str = "") -> None:
        row = (form.id, form.state.value, form.revision, form_text(form))

        def work(db: sqlite3.Connection) -> None:
            db.execute("INSERT INTO forms (id, state, revision, body) VALUES (?, ?, ?, ?)", row)
            if record is not None:
                append(db, self._key, record)

        await self._file.write(work)

    async def get(self, form_id: str) -> Form | None:
        return next(map(_form, await self._rows("WHERE id = ?", form_id)), None)

    async def move(
        self,
        form: Form,
        to: FormState,
        now: datetime,
        record: AuditRecord | None = None,
        **changes: Any,
    ) -> Form | None:
        moved = form.moved(to, changes)
        is_late = lateness(self._clock, now, form.expires_at) if to in GUARDED_BY_EXPIRY else never
        row = (moved.state.value, moved.revision, moved.answer_turn_id, form_text(moved))

        def work(db: sqlite3.Connection) -> bool:
            if is_late():
                return False
            won = db.execute(
                "UPDATE forms SET state = ?, revision = ?, answer_turn = ?, body = ? WHERE id = ? AND state = ? AND revision = ?",
                (*row, form.id, form.state.value, form.revision),
            ).rowcount
            if won and record is not None:
                append(db, self._key, record)
            return won == 1

        return moved if await self._file.write(work) else None

    async def shown(self, form_id: str, card: MessageRef, revision: int) -> None:
        row = (card.channel, card.id, revision, form_id, revision)
        await self._file.write(
            lambda db: db.execute(
                "UPDATE forms SET card_channel = ?, card_message = ?, shown_revision = ? WHERE id = ? AND shown_revision <= ?",
                row,
            )
        )

    async def open(self) -> list[Form]:
        return await self._readable("WHERE state = ?", FormState.OPEN.value)

    async def with_stale_card(self) -> list[Form]:
        return await self._readable("WHERE shown_revision < revision")

    async def unanswered(self) -> list[Form]:
        return await self._readable(
            "WHERE state = ? AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.id = answer_turn)",
            FormState.SUBMITTED.value,
        )

    async def _readable(self, where: str, *values: str) -> list[Form]:
        return self._row_by_row.read(_form, await self._rows(where, *values))

    async def _rows(self, where: str, *values: str) -> list[_Row]:
        return await self._file.read(
            lambda db: db.execute(
                f"SELECT id, body, card_channel, card_message, shown_revision FROM forms {where} ORDER BY rowid",  # noqa: S608  # `where` is one of the constants above
                values,
            ).fetchall()
        )


def _form(row: _Row) -> Form:
    form_id, body, channel, message, shown = row
    card = None if not channel or not message else MessageRef(channel, message)
    return replace(form_from(body, form_id), card=card, shown_revision=shown)
