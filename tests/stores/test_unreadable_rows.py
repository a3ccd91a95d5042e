"""A row that a newer version or a bad disk left behind costs itself, not those beside it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.form import FormState
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.transcript import TurnRested
from chatops_bot.stores.sqlite import SqliteStore
from tests.contracts.test_store import AT, SESSION, a_form, a_proposal


def damage(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / "bot.db", isolation_level=None)) as db:
        db.execute(sql)


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> Any:
    opened = await SqliteStore.open(tmp_path / "bot.db", clock)
    yield opened
    await opened.aclose()


async def test_an_unreadable_proposal_is_left_out_of_lists_and_named_where_it_is_asked_for(
    store: SqliteStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    for number in (1, 2):
        await store.proposals.add(a_proposal(number))
    damage(tmp_path, """UPDATE proposals SET body = '{"code": "hunter2"}' WHERE id = 'prop_1'""")
    for _ in range(2):
        pending = await store.proposals.in_states(frozenset({ProposalState.PENDING}))
        stale = await store.proposals.with_stale_card()
        assert [proposal.id for proposal in (*pending, *stale)] == ["prop_2", "prop_2"]
    assert caplog.text.count("left out: The stored proposal prop_1 cannot be read") == 1, (
        "once, not at each beat"
    )
    for asked in (
        store.proposals.get("prop_1"),
        store.proposals.by_code(SESSION, "CODE01"),
        store.proposals.with_code("CODE01"),
    ):
        with pytest.raises(
            StoreError, match=r"The stored proposal prop_1 cannot be read \(wrong: .*digest.*\)"
        ) as told:
            await asked
        assert "hunter2" not in str(told.value)


async def test_an_unreadable_form_is_left_out_of_lists_and_named_where_it_is_asked_for(
    store: SqliteStore, tmp_path: Path
):
    for number in (1, 2):
        await store.forms.add(a_form(number))
    damage(tmp_path, "UPDATE forms SET body = 'no JSON' WHERE id = 'form_1'")
    assert [form.id for form in await store.forms.open()] == ["form_2"]
    assert [form.id for form in await store.forms.with_stale_card()] == ["form_2"]
    damage(tmp_path, f"UPDATE forms SET state = '{FormState.SUBMITTED.value}'")
    assert [form.id for form in await store.forms.unanswered()] == ["form_2"]
    with pytest.raises(StoreError, match=r"The stored form form_1 cannot be read \(wrong: all of it\)"):
        await store.forms.get("form_1")


async def test_an_unreadable_entry_names_its_session(store: SqliteStore, tmp_path: Path):
    await store.transcripts.append(SESSION, [TurnRested("turn_1", AT, TurnOutcome.ANSWERED, "Fine.")])
    damage(tmp_path, "UPDATE entries SET body = '{}'")
    with pytest.raises(StoreError, match=f"The stored entry of session {SESSION} cannot be read"):
        await store.transcripts.load(SESSION)
