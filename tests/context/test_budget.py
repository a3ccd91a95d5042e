"""How much room there is, and what a model's own reports make of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.context.budget import SMALLEST_ROOM, STEP_TOKENS, Budget
from chatops_bot.domain.model import Usage


def reported(budget: Budget, ratio: float, times: int = 30, model: str = "m") -> None:
    for _ in range(times):
        budget.learn(model, 10_000, Usage(prompt_tokens=int(10_000 * ratio)))


def test_a_model_that_counts_more_tokens_gets_less_room_and_another_model_keeps_its_own():
    budget = Budget(64_000)
    before = budget.room("m", 0)
    reported(budget, 1.5)
    assert budget.room("m", 0) < before * 0.75
    assert budget.room("other", 0) == before


@pytest.mark.parametrize(("ratio", "least", "most"), [(40.0, 0.3, 0.6), (0.001, 1.5, 2.3)])
def test_a_report_that_counts_something_else_moves_the_room_within_bounds(
    ratio: float, least: float, most: float
):
    budget = Budget(64_000)
    before = budget.room("m", 0)
    reported(budget, ratio, times=100)
    assert least < budget.room("m", 0) / before < most


def test_small_reports_and_reports_of_nothing_teach_nothing():
    budget = Budget(64_000)
    before = budget.room("m", 0)
    budget.learn("m", 100, Usage(prompt_tokens=900))
    budget.learn("m", 10_000, Usage())
    assert budget.room("m", 0) == before


def test_a_request_that_was_too_long_lowers_the_room_for_good():
    budget = Budget(64_000)
    budget.refused("m", 20_000)
    assert budget.room("m", 0) <= 10_000
    reported(budget, 0.5)
    assert budget.room("m", 0) <= 10_000


def test_reports_that_differ_a_little_move_no_window():
    budget = Budget(64_000)
    reported(budget, 1.05)
    rooms = set()
    for step in range(30):
        budget.learn("m", 10_000, Usage(prompt_tokens=10_300 + 20 * step))
        rooms.add(budget.room("m", 500 + step))
    assert len(rooms) == 1


@given(st.integers(4_000, 2_000_000), st.integers(0, 100_000))
def test_the_room_is_coarse_and_never_nothing(context: int, beside: int):
    room = Budget(context).room("m", beside)
    assert room >= SMALLEST_ROOM
    assert room % STEP_TOKENS == 0
