"""Changes of a task's settings, which no tool makes, are said to be out of reach."""

import pytest

from chatops_bot.llm.offline.cues import Kind
from chatops_bot.llm.offline.understanding import understand
from tests.llm.offline_play import play

ALTERATIONS = {
    "en": ["change the schedule of nightly-report", "please set the timeout of nightly-report to 60", "rename nightly-report",
           "can you move nightly-report to 3am", "update the payload of nightly-report", "reschedule nightly-report to 4am"],
    "zh": ["把 nightly-report 改成每天三点跑", "修改 nightly-report 的调度", "把 nightly-report 的超时时间调到 60 秒",
           "请把nightly-report的调度改为每小时", "nightly-report 改一下时间", "调整 nightly-report 的重试次数"],
}  # fmt: skip
SAID = {"en": "I cannot change a task's schedule", "zh": "我不能修改任务的调度"}


@pytest.mark.parametrize(
    ("language", "text"), [(lang, text) for lang, texts in ALTERATIONS.items() for text in texts]
)
async def test_a_change_that_no_tool_makes_is_refused_and_the_task_shown(language: str, text: str):
    played = await play(text)
    assert played.text.startswith(SAID[language])
    assert played.calls[-1] == ("get_task_detail", {"task_id": 3})
    assert not played.writes


@pytest.mark.parametrize("text", ["change a schedule", "修改一下调度"])
async def test_without_a_task_it_is_only_refused(text: str):
    played = await play(text)
    assert played.text.startswith(tuple(SAID.values()))
    assert not played.calls


@pytest.mark.parametrize(
    "text",
    ["what changed in nightly-report?", "did somebody change the schedule of nightly-report?", "the schedule of nightly-report was changed",
     "谁修改了 nightly-report 的调度？", "nightly-report 修改时间", "nightly-report 的调度什么时候改的？", "schedule of nightly-report",
     "don't change nightly-report", "pause nightly-report", "把 nightly-report 暂停", "nightly-report 改了吗", "update me on nightly-report"],
)  # fmt: skip
def test_what_only_speaks_of_a_change_is_none(text: str):
    assert Kind.ALTER not in [intent.kind for intent in understand(text)]
