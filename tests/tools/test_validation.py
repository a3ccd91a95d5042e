"""What arguments may look like, and what is said of those that do not fit: field by field, in both languages."""

import json

import pytest
from pydantic import BaseModel, Field, model_validator

from chatops_bot.domain.errors import ToolArgumentsInvalid, ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.tool import ARGUMENT_CHARS
from chatops_bot.tools.validation import parse_arguments, parse_object, stored_arguments


class Part(BaseModel):
    names: list[str] = []
    limit: int = Field(default=1, ge=1)


class Whole(BaseModel):
    part: Part = Part()
    names: list[str] = []
    limit: int = Field(default=1, ge=1)


def refusal(arguments: object) -> Phrase:
    with pytest.raises(ToolArgumentsInvalid) as caught:
        parse_arguments(json.dumps(arguments), Whole)
    return caught.value.phrase


def test_each_problem_is_told_with_the_way_to_its_field():
    said = refusal({"part": {"limit": 0}, "limit": 0})
    assert said.en == (
        "The arguments do not fit, so nothing ran: part.limit: input should be greater than or equal to 1; "
        "limit: input should be greater than or equal to 1."
    )
    assert said.zh.startswith("参数不符合要求，没有执行：part.limit：")
    assert said.zh.count("；limit：") == 1
    assert said.zh.endswith("。")
    assert "。；" not in said.zh
    assert "。。" not in said.zh


class Even(BaseModel):
    a: int = 0
    b: int = 0

    @model_validator(mode="after")
    def is_even(self) -> "Even":
        if (self.a + self.b) % 2:
            raise ValueError("The sum is odd")
        return self


def test_what_is_wrong_with_the_whole_is_told_of_the_arguments():
    with pytest.raises(ToolArgumentsInvalid) as caught:
        parse_arguments('{"a": 1}', Even)
    assert caught.value.phrase == Phrase(
        "参数不符合要求，没有执行：参数：The sum is odd。",
        "The arguments do not fit, so nothing ran: arguments: value error, The sum is odd.",
    )


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"part": '{"limit": 2}'}, Whole(part=Part(limit=2))),
        ({"part": '{"limit": 2}', "names": "a"}, Whole(part=Part(limit=2), names=["a"])),
        ({"names": "[" * 50_000}, Whole(names=["[" * 50_000])),
        ({"names": '{"a": 1}'}, Whole(names=['{"a": 1}'])),
        ({"names": "[]"}, Whole()),
    ],
)
def test_one_repair_is_made_of_what_can_only_be_meant_in_one_way(sent: object, meant: Whole):
    assert parse_arguments(json.dumps(sent), Whole) == meant


@pytest.mark.parametrize(
    "sent",
    [
        {"part": {"names": "a"}},
        {"part": "[1]"},
        {"part": "a"},
        {"part": 3},
        {"limit": "[1]"},
        {"part": '{"names": "a"}'},
        {"part": "[" * 50_000},
    ],
)
def test_no_repair_goes_deeper_or_guesses(sent: object):
    refusal(sent)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (
            {"names": "a", "limit": "x"},
            ["names: ", "limit: input should be a valid integer, unable to parse"],
        ),
        ({"part": {"names": "a"}}, ["part.names: input should be a valid list"]),
        ({"limit": '{"a": 1}'}, ["limit: input should be a valid integer, unable to parse"]),
    ],
)
def test_what_cannot_be_repaired_is_told_as_it_was_sent(sent: object, said: list[str]):
    told = refusal(sent).en
    assert all(each in told for each in said), told


def test_a_call_may_be_as_long_as_the_bound_and_no_longer():
    longest = '{"a": "' + "x" * (ARGUMENT_CHARS - 9) + '"}'
    assert len(longest) == ARGUMENT_CHARS
    assert len(parse_object(longest)["a"]) == ARGUMENT_CHARS - 9
    with pytest.raises(ToolArgumentsInvalid, match="too long"):
        parse_object(longest + " ")


@pytest.mark.parametrize(
    "text", ['{"a": "\ud83d"}', r'{"a": "\ud83d"}', '{"a": "夜\ud83d"}', "{", "nul", "[" * 60_000]
)
def test_what_is_no_text_or_no_json_is_refused(text: str):
    with pytest.raises(ToolArgumentsInvalid, match="could not be read"):
        parse_object(text)


@pytest.mark.parametrize("text", ['{"a": "夜"}', r'{"a": "\u591c"}'])
def test_text_of_any_language_is_taken_as_it_is(text: str):
    assert parse_object(text) == {"a": "夜"}


@pytest.mark.parametrize("text", ["[]", "3", '"a"', "false"])
def test_only_an_object_is_a_call(text: str):
    with pytest.raises(ToolArgumentsInvalid, match="must be a JSON object"):
        parse_object(text)


def test_stored_arguments_are_read_as_the_tool_is_today():
    assert stored_arguments({"limit": 2}, Whole) == Whole(limit=2)
    with pytest.raises(ToolFailed, match="no longer fit the tool"):
        stored_arguments({"limit": 0}, Whole)
    with pytest.raises(ToolFailed):
        stored_arguments({"names": "a"}, Whole)
