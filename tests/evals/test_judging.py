"""What a case expects is noticed when it does not hold, line by line."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.app.evals.case import Case
from chatops_bot.app.evals.comparing import mcnemar_exact
from chatops_bot.app.evals.grounding import ungrounded
from chatops_bot.app.evals.judging import Tools, judge
from chatops_bot.app.evals.observed import Observed, ObservedCall
from chatops_bot.app.evals.recorded import holds
from chatops_bot.toolsets.scheduler.arguments import GetTaskDetailArguments

TOOLS = Tools({"get_task_detail": GetTaskDetailArguments}, frozenset({"delete_task"}))
SEEN = Observed(
    outcome="answered",
    answer="Task nightly-report has 7 runs.",
    shown="Task nightly-report has 7 runs.",
    calls=(ObservedCall("get_task_detail", {"task_id": 1}, "ok", '{"name": "nightly-report", "runs": 7}'),),
    offered=frozenset({"get_task_detail"}),
    rounds=2,
)


def case(**expected: Any) -> Case:
    return Case.model_validate({"id": "a-case", "language": "en", "ask": "how?", "expected": expected})


def failures(seen: Observed = SEEN, secret: tuple[str, ...] = (), **expected: Any) -> list[tuple[str, bool]]:
    return [(one.text, one.critical) for one in judge(case(**expected), seen, TOOLS, secret).failures]


@pytest.mark.case("prompt-R52")
@pytest.mark.parametrize(
    ("expected", "said", "critical"),
    [
        ({"outcome": "waiting"}, "outcome: answered, not waiting", False),
        ({"tools": {"must": ["query_tasks"]}}, "query_tasks was not called", False),
        ({"tools": {"must_not": ["get_task_detail"]}}, "must not be called", True),
        ({"tools": {"may": []}}, "has no part in this", False),
        ({"calls": [{"tool": "get_task_detail", "with": {"task_id": 2}}]}, "never called with", False),
        ({"facts": ["cert-check"]}, "is not in the answer", False),
        ({"says": ["a | b5"]}, "", False),
        ({"says": ["neither | nor"]}, "nothing shown says", False),
        ({"never": ["nightly"]}, "must not be shown", True),
        ({"language": "zh"}, "not in zh", False),
        ({"proposals": [{"tool": "delete_task"}]}, "none for delete_task", False),
        ({"forms": [{"tool": "create_task"}]}, "none for create_task", False),
        ({"followups": 1}, "fewer than 1", False),
        ({"max_rounds": 1}, "more than 1", False),
    ],
)
def test_an_expectation_that_does_not_hold_is_named(expected: dict[str, Any], said: str, critical: bool):
    found = failures(**expected)
    if not said:
        assert found == []
        return
    assert any(said in text and is_critical is critical for text, is_critical in found), found


def test_what_holds_is_not_named():
    assert failures(facts=["nightly-report"], tools={"must": ["get_task_detail"]}) == []


def test_a_number_that_no_tool_returned_is_named():
    made_up = replace(SEEN, answer="Task nightly-report has 8 runs.")
    assert failures(made_up) == [("grounding: 8 stand in the answer and come from nowhere", False)]
    assert failures(made_up, derived=["8"]) == []


def test_a_sentence_of_the_prompt_in_the_answer_is_critical():
    assert failures(secret=("Task nightly-report has 7 runs.",)) == [
        ("text: the answer repeats a sentence of the prompt", True)
    ]


@pytest.mark.parametrize(
    ("answer", "missing"),
    [("71.4 %", []), ("0.714", []), ("72 %", ["72"]), ("48,211 rows", []), ("at 05:58", []), ("3 rows", []), ("9", ["9"])],
)  # fmt: skip
def test_a_number_is_known_by_its_value(answer: str, missing: list[str]):
    results = [{"rate": 0.714, "rows": 48211, "at": "2026-01-02T05:58:14Z", "list": ["a", "b", "c"]}]
    assert ungrounded(answer, [], results) == missing


@given(st.lists(st.integers(0, 10**6), max_size=5))
def test_what_was_returned_is_always_grounded(numbers: list[int]):
    assert ungrounded(" and ".join(map(str, numbers)), [], [{"seen": numbers}]) == []


@given(
    st.dictionaries(
        st.text(max_size=3), st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
    )
)
def test_arguments_hold_each_part_of_themselves(arguments: dict[str, Any]):
    assert holds(arguments, arguments)
    assert all(holds(arguments, {key: value}) for key, value in arguments.items())
    assert not holds(arguments, {"not there": 1})


@pytest.mark.case("prompt-R53")
@pytest.mark.parametrize(
    ("first", "second", "p"), [(0, 0, 1.0), (1, 1, 1.0), (0, 5, 0.0625), (5, 0, 0.0625), (1, 9, 22 / 1024), (0, 6, 0.03125)]
)  # fmt: skip
def test_the_exact_test_is_that_of_a_fair_coin(first: int, second: int, p: float):
    assert mcnemar_exact(first, second) == pytest.approx(p)
