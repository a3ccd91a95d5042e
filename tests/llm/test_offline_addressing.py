"""Which messages that call nobody the rules take for theirs."""

import pytest

from chatops_bot.llm.offline import is_for_the_rules


@pytest.mark.parametrize(
    "text",
    ["what failed recently?", "最近有哪些任务失败了？", "pause nightly-report", "暂停 nightly-report", "help", "帮助",
     "can you look into it?", "看一下", "nightly-report", "don't pause nightly-report"],
)  # fmt: skip
def test_what_the_rules_understand_is_theirs(text: str):
    assert is_for_the_rules(text, [])


@pytest.mark.parametrize(
    "text",
    ["ok, will do", "好的，马上处理", "thanks!", "谢谢", "", "I'll look into it", "ok, I'll check it", "我来看看", "我看一下", "db-9 is full",
     "don't worry", "hello", "你好", "on it"],
)  # fmt: skip
def test_what_people_say_to_each_other_is_not(text: str):
    assert not is_for_the_rules(text, [])
