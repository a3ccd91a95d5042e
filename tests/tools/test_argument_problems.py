"""Wrong arguments are told in one language each, not in the validator's English inside a Chinese sentence."""

import re
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from chatops_bot.domain.errors import ArgumentWrong, ToolArgumentsInvalid
from chatops_bot.domain.language import Phrase
from chatops_bot.tools.validation import parse_arguments


class Taken(BaseModel):
    model_config = ConfigDict(extra="forbid")

    task_id: Annotated[int, Field(ge=1, le=9)]
    action: Literal["pause", "resume"] = "pause"
    name: Annotated[str, Field(max_length=3)] = ""
    hosts: list[Annotated[str, Field(pattern="^h")]] = []
    deep: bool = False

    @field_validator("task_id")
    @classmethod
    def _not_seven(cls, value: int) -> int:
        if value == 7:
            raise ArgumentWrong(Phrase("七号任务不能动。", "Task seven is not to be touched."))
        return value


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"task_id": 0}', "task_id：不能小于 1"),
        ('{"task_id": 10}', "task_id：不能大于 9"),
        ('{"task_id": "x"}', "task_id：必须是整数"),
        ('{"task_id": [1]}', "task_id：必须是整数"),
        ("{}", "task_id：请填写此项"),
        ('{"task_id": 1, "action": "stop"}', "action：只能是 'pause' 或 'resume'"),
        ('{"task_id": 1, "name": "abcd"}', "name：最多 3 个字符"),
        ('{"task_id": 1, "name": 5}', "name：必须是文字"),
        ('{"task_id": 1, "more": 5}', "more：没有这个参数"),
        ('{"task_id": 1, "hosts": 5}', "hosts：必须是列表"),
        ('{"task_id": 1, "hosts": ["x"]}', "hosts.0：格式不符合要求"),
        ('{"task_id": 1, "deep": "perhaps"}', "deep：必须是“是”或“否”"),
        ('{"task_id": 7}', "task_id：七号任务不能动"),
        ('{"task_id": 0, "action": "stop"}', "task_id：不能小于 1；action：只能是 'pause' 或 'resume'"),
    ],
)
def test_a_wrong_argument_in_chinese(arguments: str, said: str):
    with pytest.raises(ToolArgumentsInvalid) as raised:
        parse_arguments(arguments, Taken)
    assert raised.value.phrase.zh == f"参数不符合要求，没有执行：{said}。"
    assert re.findall(r"[a-z]{2,}", raised.value.phrase.zh.replace("task_id", "")) == re.findall(
        r"[a-z]{2,}", said.replace("task_id", "")
    )


def test_what_only_the_tool_knows_to_be_wrong_is_told_in_its_own_words():
    with pytest.raises(ToolArgumentsInvalid) as raised:
        parse_arguments('{"task_id": 7}', Taken)
    said = "The arguments do not fit, so nothing ran: task_id: task seven is not to be touched."
    assert raised.value.phrase.en == said
