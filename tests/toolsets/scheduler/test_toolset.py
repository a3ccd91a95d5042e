"""The surface that models see: names, arguments, required marks, enums, order, and how forgiving they are."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chatops_bot.domain.people import Effect
from chatops_bot.llm.offline.phrases import DOING
from chatops_bot.ports import Tool
from chatops_bot.toolsets.scheduler.arguments import (
    CreateTaskArguments,
    QueryInstancesArguments,
    QueryTasksArguments,
    TriggerTaskArguments,
)

TABLE = {
    "query_tasks": (set(), {"name", "status", "limit"}, Effect.READ),
    "query_instances": (set(), {"status", "task_id", "hours", "limit"}, Effect.READ),
    "query_workers": (set(), set(), Effect.READ),
    "get_task_detail": ({"task_id"}, set(), Effect.READ),
    "get_system_health": (set(), set(), Effect.READ),
    "get_worker_load_history": (set(), {"worker_id", "hours"}, Effect.READ),
    "analyze_failure": ({"instance_id"}, set(), Effect.READ),
    "create_task": (
        {"name", "type", "cron_expr", "payload"},
        {"image", "timeout_seconds", "max_retry", "retry_policy"},
        Effect.WRITE,
    ),
    "trigger_task": ({"task_id"}, set(), Effect.WRITE),
    "pause_task": ({"task_id", "action"}, set(), Effect.WRITE),
    "retry_failed_instance": ({"instance_id"}, set(), Effect.WRITE),
    "delete_task": ({"task_id"}, set(), Effect.DESTRUCTIVE),
}
ENUMS = {
    ("query_tasks", "status"): ["enabled", "disabled"],
    ("query_instances", "status"): [
        "pending", "dispatched", "running", "retry_waiting", "success", "failed", "timeout", "cancelled",
    ],
    ("create_task", "type"): ["shell", "http", "container"],
    ("create_task", "retry_policy"): ["fixed_interval", "exponential_backoff"],
    ("pause_task", "action"): ["pause", "resume"],
}  # fmt: skip
DEFAULTS = {
    ("query_tasks", "limit"): 20,
    ("query_instances", "hours"): 24,
    ("query_instances", "limit"): 20,
    ("get_worker_load_history", "hours"): 24,
    ("create_task", "timeout_seconds"): 300,
    ("create_task", "max_retry"): 3,
    ("create_task", "retry_policy"): "fixed_interval",
}


def schemas(tools: Mapping[str, Tool]) -> dict[str, Any]:
    return {name: tool.spec.arguments.model_json_schema() for name, tool in tools.items()}


@pytest.mark.case("sched-V1")
@pytest.mark.case("sched-C5")
def test_the_twelve_tools_stand_in_a_fixed_order_with_their_arguments(tools):
    assert list(tools) == list(TABLE)
    for name, (required, optional, effect) in TABLE.items():
        schema = schemas(tools)[name]
        assert set(schema.get("required", [])) == required, name
        assert set(schema["properties"]) == required | optional, name
        assert tools[name].spec.effect is effect


@pytest.mark.case("sched-V1")
def test_enums_and_defaults_are_in_the_schema(tools):
    found = schemas(tools)
    for (name, argument), words in ENUMS.items():
        assert found[name]["properties"][argument]["enum"] == words
    for (name, argument), default in DEFAULTS.items():
        assert found[name]["properties"][argument]["default"] == default


def test_schemas_are_plain(tools):
    for name, schema in schemas(tools).items():
        text = json.dumps(schema)
        for noise in ("$ref", "$defs", "anyOf", "null", "title"):
            assert noise not in text, (name, noise)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert all(shape["type"] for shape in schema["properties"].values()), name


KNOWN_WORDS = {"type", "default", "enum", "minimum", "maximum", "minLength", "maxLength"}


def test_schemas_use_only_words_of_json_schema(tools):
    for name, schema in schemas(tools).items():
        for argument, shape in schema["properties"].items():
            assert shape.keys() <= KNOWN_WORDS, (name, argument)
            if shape["type"] == "integer":
                assert shape["minimum"] >= 0, (name, argument)


def test_every_tool_says_what_it_does_while_running(tools):
    for tool in tools.values():
        assert tool.spec.label.zh.endswith("…")
        assert tool.spec.label.en.endswith("…")


def test_the_labels_of_all_tools_differ(tools):
    assert len({tool.spec.label for tool in tools.values()}) == len(tools)


@pytest.mark.parametrize("value", [42, "42", " 42 ", 42.0])
def test_an_integer_may_come_as_text(value):
    assert TriggerTaskArguments.model_validate({"task_id": value}).task_id == 42


@pytest.mark.parametrize("value", [3.7, "3.7", True, "four", None, "", 0, -1, [4], {"id": 4}])
def test_what_is_no_id_names_the_field(value):
    with pytest.raises(ValidationError) as caught:
        TriggerTaskArguments.model_validate({"task_id": value})
    assert caught.value.errors()[0]["loc"] == ("task_id",)


@pytest.mark.parametrize("blank", [None, ""])
def test_a_blank_optional_argument_counts_as_not_given(blank):
    given_blank = QueryInstancesArguments.model_validate(
        {"status": blank, "task_id": blank, "hours": blank, "limit": blank}
    )
    assert given_blank == QueryInstancesArguments()


def test_an_argument_that_nobody_knows_is_refused():
    with pytest.raises(ValidationError, match="nmae"):
        QueryTasksArguments.model_validate({"nmae": "x"})


@pytest.mark.case("sched-V11")
@pytest.mark.parametrize("missing", ["name", "type", "cron_expr", "payload"])
def test_create_without_a_needed_field_names_it(missing):
    whole = {"name": "a", "type": "shell", "cron_expr": "0 2 * * *", "payload": "true"}
    del whole[missing]
    with pytest.raises(ValidationError) as caught:
        CreateTaskArguments.model_validate(whole)
    assert caught.value.errors()[0]["loc"] == (missing,)


@given(st.integers() | st.floats() | st.text() | st.booleans() | st.none())
def test_a_limit_is_an_integer_in_its_range_or_an_error(value):
    try:
        limit = QueryTasksArguments.model_validate({"limit": value}).limit
    except ValidationError as error:
        limit, wrong = 1, [problem["loc"] for problem in error.errors()]
    else:
        wrong = [("limit",)]
    assert wrong == [("limit",)]
    assert type(limit) is int
    assert 1 <= limit <= 200


def test_a_failed_call_of_every_tool_is_told_in_peoples_words(tools):
    assert set(DOING) == set(tools)
