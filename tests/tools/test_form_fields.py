"""A form is derived from any argument model: which fields, in which order, holding what; and read back into arguments."""

from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from chatops_bot.domain.form import OWN, AskedAs, Candidates, Choice, Form, FormField
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.tools.argument_problems import REQUIRED
from chatops_bot.tools.form_answers import answers, judged, with_values
from chatops_bot.tools.form_fields import MOST_CHOICES, fields_of
from chatops_bot.toolsets.scheduler.arguments import CreateTaskArguments, PauseTaskArguments
from tests.small_tools import SESSION, SearchArgs
from tests.tools.test_asking import AT


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Odd(BaseModel):
    colour: Colour = Colour.BLUE
    ratio: float
    many: Annotated[
        list[Literal[1, 2, 3]] | None, AskedAs(Phrase("多选", "Many"), choices={1: Phrase("一", "one")})
    ] = None
    shape: dict[str, int] = Field(default_factory=dict)


HOW_MANY = Phrase("多少行。", "How many lines.")


class Unaskable(BaseModel):
    name: str
    shape: dict[str, int]


def fields(
    model: type[BaseModel], known: dict[str, Any], candidates: dict[str, Candidates] | None = None
) -> dict[str, FormField]:
    missing = frozenset(
        name for name, info in model.model_fields.items() if info.is_required() and name not in known
    )
    made = fields_of(model, known, missing, candidates or {}, hints={"lines": HOW_MANY, "deep": HOW_MANY})
    assert made is not None
    return {each.name: each for each in made}


def form_of(made: dict[str, FormField], known: dict[str, Any] | None = None) -> Form:
    return Form(
        "form_1", SESSION, "turn_1", "c1", "tool", Effect.READ, Phrase("表", "form"), "U1", "Oscar", "en", known or {},
        tuple(made.values()), AT, AT,
    )  # fmt: skip


def labels(field: FormField) -> list[str]:
    return [choice.label.en for choice in field.choices]


def listed(*values: Any, is_complete: bool = True) -> Candidates:
    return Candidates(tuple(Choice(value, Phrase(str(value), str(value))) for value in values), is_complete)


def test_what_is_missing_comes_first_then_what_is_known_then_the_rest():
    made = fields(CreateTaskArguments, {"cron_expr": "0 2 * * *", "max_retry": 5})
    assert list(made) == [
        "name", "type", "payload", "cron_expr", "max_retry", "image", "timeout_seconds", "retry_policy",
    ]  # fmt: skip


def test_each_kind_of_annotation_has_its_kind_of_field():
    made = fields(Odd, {})
    assert {name: (field.kind, field.is_list) for name, field in made.items()} == {
        "ratio": ("text", False),
        "colour": ("single", False),
        "many": ("multi", True),
    }
    assert labels(made["many"]) == ["one", "2", "3"]
    assert labels(fields(SearchArgs, {})["deep"]) == ["Yes", "No"]


def test_what_a_field_is_called_comes_from_the_model():
    made = fields(SearchArgs, {})
    assert made["deep"].label == Phrase("深入", "Deep")
    assert made["hosts"].label.en == "Hosts"
    assert made["hosts"].example == "web-1, web-2"
    assert made["groups"].label.en == "Groups"
    assert made["lines"].hint == HOW_MANY
    assert made["deep"].hint is None, "it says itself how people are asked for it"


def test_known_values_and_defaults_are_preselected():
    made = fields(Odd, {"many": [1, "3"], "ratio": 0.5})
    assert made["colour"].chosen == (1,)
    assert made["many"].chosen == (0, 2)
    assert made["ratio"].text == "0.5"
    assert fields(SearchArgs, {"deep": "true"})["deep"].chosen == (0,)
    assert fields(SearchArgs, {"hosts": ["a", "b"]})["hosts"].text == "a, b"


def test_candidates_are_chosen_from_and_an_incomplete_list_leaves_room():
    closed = fields(PauseTaskArguments, {"task_id": "2"}, {"task_id": listed(1, 2)})["task_id"]
    assert (closed.kind, closed.chosen, closed.takes_text) == ("single", (1,), False)
    own = fields(
        CreateTaskArguments, {"cron_expr": "7 7 * * *"}, {"cron_expr": listed("0 2 * * *", is_complete=False)}
    )
    assert (own["cron_expr"].chosen, own["cron_expr"].text, own["cron_expr"].takes_text) == (
        (),
        "7 7 * * *",
        True,
    )
    some = fields(SearchArgs, {"hosts": ["b", "zz"]}, {"hosts": listed("a", "b", is_complete=False)})["hosts"]
    assert (some.kind, some.chosen, some.text) == ("multi", (1,), "zz")


@pytest.mark.case("slack-54")
def test_more_candidates_than_a_list_can_hold_leave_room_for_the_others():
    field = fields(PauseTaskArguments, {}, {"task_id": listed(*range(250))})["task_id"]
    assert len(field.choices) == MOST_CHOICES
    assert field.takes_text
    assert field.hint is not None
    assert "99 of 250" in field.hint.en


def test_only_long_texts_get_several_lines():
    made = fields(CreateTaskArguments, {})
    assert [name for name, field in made.items() if field.is_multiline] == ["payload"]
    assert made["name"].max_chars == 128
    hints = {name: field.hint.en for name, field in made.items() if field.hint is not None}
    assert [name for name, hint in hints.items() if "between ``` and ```" in hint] == ["payload"]


def test_what_cannot_be_asked_is_no_field_and_its_known_value_is_kept():
    assert fields_of(Unaskable, {}, frozenset({"name", "shape"}), {}) is None
    made = fields(Unaskable, {"shape": {"a": 1}})
    assert list(made) == ["name"]
    filled = with_values(tuple(made.values()), {"name": ("x",)})
    assert answers(form_of({"name": filled[0]}, {"shape": {"a": 1}})) == {"name": "x", "shape": {"a": 1}}


def test_a_text_too_long_for_a_field_is_kept_as_it_is():
    script = "x" * 5000
    made = fields(CreateTaskArguments, {"payload": script})
    assert "payload" not in made
    assert answers(form_of(made, {"payload": script}))["payload"] == script


def test_what_is_typed_beside_a_list_counts_before_what_is_chosen():
    made = fields(CreateTaskArguments, {}, {"cron_expr": listed("0 2 * * *", is_complete=False)})
    (cron,) = with_values((made["cron_expr"],), {"cron_expr": ("0",), f"cron_expr{OWN}": ("7 7 * * *",)})
    assert answers(form_of({"cron_expr": cron})) == {"cron_expr": "7 7 * * *"}
    (cron,) = with_values((cron,), {f"cron_expr{OWN}": ()})
    assert answers(form_of({"cron_expr": cron})) == {"cron_expr": "0 2 * * *"}


def test_several_are_chosen_and_typed_together():
    made = fields(SearchArgs, {}, {"hosts": listed("a", "b", is_complete=False)})
    filled = with_values(
        tuple(made.values()),
        {
            "groups": ("0", "2"),
            "hosts": ("1",),
            f"hosts{OWN}": ("c，d\n e ",),
            "deep": ("1",),
            "lines": ("7",),
        },
    )
    given = answers(form_of({each.name: each for each in filled}))
    assert given == {"groups": ["web", "cache"], "hosts": ["b", "c", "d", "e"], "deep": False, "lines": "7"}
    assert judged(SearchArgs, given) == SearchArgs(
        groups=["web", "cache"], hosts=["b", "c", "d", "e"], deep=False, lines=7
    )


def test_what_is_wrong_is_said_at_each_field_in_both_languages():
    problems = judged(SearchArgs, {"groups": [], "deep": True, "lines": "900", "since": "x"})
    assert problems == {
        "groups": Phrase("至少 1 项。", "At least 1 of them."),
        "hosts": REQUIRED,
        "lines": Phrase("不能大于 500。", "Must be 500 or less."),
    }
    numbers = judged(
        CreateTaskArguments,
        {"name": "a", "type": "shell", "cron_expr": "x", "payload": "y", "max_retry": "3.5"},
    )
    assert numbers == {"max_retry": Phrase("必须是整数。", "Must be a whole number.")}


TEXTS = st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip()))


@given(
    st.fixed_dictionaries(
        {
            "name": TEXTS,
            "type": st.sampled_from(["shell", "http", "container"]),
            "cron_expr": TEXTS,
            "payload": TEXTS,
            "max_retry": st.integers(0, 10),
        }
    ),
    st.data(),
)
def test_whatever_is_known_a_form_sent_off_untouched_gives_it_back(
    known: dict[str, Any], data: st.DataObject
):
    part = {name: value for name, value in known.items() if data.draw(st.booleans())}
    made = fields(CreateTaskArguments, part, {"cron_expr": listed("0 2 * * *", is_complete=False)})
    given = answers(form_of(made, part))
    complete = judged(CreateTaskArguments, {**known, **given})
    assert isinstance(complete, CreateTaskArguments)
    assert {name: getattr(complete, name) for name in part} == part


@given(st.lists(st.text(max_size=6), max_size=5), st.text(max_size=20))
def test_no_answer_from_outside_breaks_the_reading(tokens: list[str], typed: str):
    made = fields(SearchArgs, {}, {"hosts": listed("a", "b", is_complete=False)})
    values = {name: tuple(tokens) for name in made} | {f"hosts{OWN}": (typed,), "nobody": ("1",)}
    filled = with_values(tuple(made.values()), values)
    given = answers(form_of({each.name: each for each in filled}))
    assert isinstance(judged(SearchArgs, given), SearchArgs | dict)
