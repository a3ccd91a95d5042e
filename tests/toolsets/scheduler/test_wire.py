"""Bodies in either casing become one shape."""

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.toolsets.scheduler.formatting import cut, listed, stamp
from chatops_bot.toolsets.scheduler.wire import (
    Capabilities,
    DagNode,
    Run,
    RunPage,
    Task,
    Worker,
    snake_case,
)


@pytest.mark.case("sched-C3")
@pytest.mark.parametrize(
    ("pascal", "snake"),
    [
        ("ID", "id"),
        ("CronExpr", "cron_expr"),
        ("NextTriggerTime", "next_trigger_time"),
        ("CallbackURL", "callback_url"),
        ("GRPCAddr", "grpc_addr"),
        ("AnalysisJSON", "analysis_json"),
        ("RetryOfInstanceID", "retry_of_instance_id"),
        ("IP", "ip"),
        ("task_id", "task_id"),
    ],
)
def test_keys_become_snake_case(pascal, snake):
    assert snake_case(pascal) == snake


@given(st.lists(st.sampled_from(["id", "url", "task", "next", "json", "x1"]), min_size=1, max_size=5))
def test_snake_case_stays_and_pascal_case_comes_back(words):
    snake = "_".join(words)
    assert snake_case(snake) == snake
    assert snake_case("".join(word.capitalize() for word in words)) == snake
    assert re.fullmatch(r"[a-z0-9_]+", snake_case("".join(word.capitalize() for word in words)))


@pytest.mark.case("sched-C3")
def test_both_casings_give_the_same_task():
    pascal = {"ID": 3, "Name": "a", "CronExpr": "0 2 * * *", "Labels": '{"team":"ops"}', "Surprise": [1]}
    snake = {"id": 3, "name": "a", "cron_expr": "0 2 * * *", "labels": {"team": "ops"}, "surprise": [1]}
    assert Task.model_validate(pascal) == Task.model_validate(snake)


@pytest.mark.case("sched-C3")
@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "0001-01-01T08:05:43+08:05", "", None])
def test_a_time_that_is_not_set_is_null(text):
    task = Task.model_validate({"ID": 1, "Name": "a", "NextTriggerTime": text})
    assert task.next_trigger_time is None
    assert stamp(task.next_trigger_time) is None


def test_nanoseconds_and_offsets_are_read():
    run = Run.model_validate({"ID": 1, "TaskID": 2, "TriggerTime": "2026-03-02T10:00:00.123456789+08:00"})
    assert run.trigger_time is not None
    assert run.trigger_time.astimezone(UTC).replace(microsecond=0) == datetime(2026, 3, 2, 2, tzinfo=UTC)
    assert stamp(run.trigger_time) == "2026-03-02T02:00:00Z"


@pytest.mark.case("sched-C3")
@pytest.mark.parametrize(
    ("text", "value"), [('{"a":1}', {"a": 1}), ("not json", "not json"), ("", None), (None, None)]
)
def test_json_inside_a_string_is_unpacked_and_bad_json_stays(text, value):
    assert Run.model_validate({"ID": 1, "TaskID": 2, "AnalysisJSON": text}).analysis_json == value


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists) | st.dictionaries(st.text(), st.text()))
def test_any_json_text_is_unpacked_without_an_error(value):
    assert (
        Run.model_validate({"ID": 1, "TaskID": 2, "AnalysisJSON": json.dumps(value)}).analysis_json == value
    )


@pytest.mark.case("sched-C3")
def test_runs_come_bare_or_wrapped():
    row = {"ID": 1, "TaskID": 2}
    assert (
        RunPage.model_validate([row]).instances
        == RunPage.model_validate({"instances": [row], "total": 1}).instances
    )
    assert RunPage.model_validate([row]).total is None
    assert RunPage.model_validate({"instances": None, "total": 0}).instances == ()


def test_absent_and_null_fields_have_their_defaults():
    assert Worker.model_validate({"ID": "w", "Hostname": None}).hostname == ""
    assert DagNode.model_validate({"id": 1, "name": "a", "depends_on": None}).depends_on == ()
    assert not Capabilities.model_validate({"shell": {"enabled": False}}).runs("shell")
    assert Capabilities.model_validate({}).runs("http")


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_a_cut_text_is_short_enough_and_a_beginning(text, limit):
    shown = cut(text, limit)
    assert len(shown) <= limit
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


def test_a_long_list_says_how_many_more():
    assert listed(["a", "b", "c"], most=2).en == "a, b and 1 more"
    assert listed(["a", "b"], most=2).zh == "a、b"
