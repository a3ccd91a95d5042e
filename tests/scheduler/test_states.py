"""The table of run states, walked, and the one place that moves a run along it."""

from __future__ import annotations

import pytest

from chatops_bot.scheduler import instances
from chatops_bot.scheduler.instances import NewRun
from chatops_bot.scheduler.states import RETRIED_BY_HAND, TERMINAL, TRANSITIONS, RunStatus, sources

pytestmark = pytest.mark.case("sched-E5")


def test_every_state_is_in_the_table_and_reachable():
    assert set(TRANSITIONS) == set(RunStatus)
    reached = {RunStatus.PENDING, RunStatus.RETRY_WAITING}
    for _ in RunStatus:
        reached |= {after for before in reached for after in TRANSITIONS[before]}
    assert reached == set(RunStatus)


def test_four_states_are_terminal_and_success_is_never_retried():
    assert {status.value for status in TERMINAL} == {"success", "failed", "timeout", "cancelled"}
    assert TERMINAL - {RunStatus.SUCCESS} == RETRIED_BY_HAND


@pytest.mark.parametrize("before", RunStatus)
@pytest.mark.parametrize("after", RunStatus)
def test_a_stored_run_moves_along_the_table_only(conn, before, after):
    run = instances.add(conn, NewRun(1, "manual"), 1_000)
    assert run is not None
    conn.execute("UPDATE instances SET status = ?", (before.value,))
    moved = instances.move(conn, run.id, after, 2_000)
    assert moved == (after in TRANSITIONS[before]) == (before in sources(after))
    assert instances.get(conn, run.id).status == (after if moved else before)
