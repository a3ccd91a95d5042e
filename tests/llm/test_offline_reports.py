"""What an engineer is told: counts, newest first, quoted errors, times in their zone, what was not looked at; in one language."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.language import Language, language_of
from chatops_bot.llm.offline import report
from chatops_bot.llm.offline.quoting import block
from tests.llm.offline_play import Content, Scheduler, play, run

SUMMED_UP = "| 11-28 09:00 @U1: at 2020-01-01 00:00 (UTC+01:00)"
"""A line of data in front, which states no time."""
SHANGHAI = (
    f"[CONTEXT]\n{SUMMED_UP}\nCurrent time: 2026-11-29 12:10 Sunday (UTC+08:00)\nRole of the asker: operator"
)
SHANGHAI_ZH = (
    f"[CONTEXT]\n{SUMMED_UP}\n当前时间: 2026年11月29日 12:10 星期日 (UTC+08:00)\n提问人角色: operator"
)


class Logged(Scheduler):
    """A scheduler that keeps logs and times, as the bundled one does."""

    log = "copying a\ncopying b\ntar: /backup: No space left on device\nexit 1"

    def analyze_failure(self, instance_id: int) -> Content:
        return dict(super().analyze_failure(instance_id)) | {
            "started_at": "2026-11-29T02:00:28Z",
            "finished_at": "2026-11-29T02:00:40Z",
            "task": {"name": "nightly-report", "timeout_seconds": 300},
            "log_tail": self.log,
        }


async def test_failures_are_counted_newest_first_in_the_readers_zone():
    played = await play("what failed recently?", context=SHANGHAI)
    assert (
        played.text.splitlines()[0]
        == "In the last 24 hours: 1 failed, 1 timed out, of 2 tasks (newest first)."
    )
    assert played.text.index("run 28 ") < played.text.index("run 27 ")
    assert "10:00:28" in played.text
    assert "Not checked: runs older than 24 hours, full logs." in played.text
    assert played.text.endswith("(Times on 2026-11-29, UTC+08:00.)")


async def test_failures_in_chinese_say_the_same():
    played = await play("最近有哪些任务失败了？", context=SHANGHAI_ZH)
    assert (
        played.text.splitlines()[0] == "最近 24 小时内：失败 1 次，超时 1 次，涉及 2 个任务（最新的在前）。"
    )
    assert "未检查：24 小时以前的运行、日志全文。" in played.text
    assert played.text.endswith("（时间：2026-11-29，UTC+08:00）")


@pytest.mark.parametrize(
    ("text", "context"),
    [("since 10:00:28 nothing, what failed since 10:00?", SHANGHAI), ("10:01 以来有失败吗", SHANGHAI_ZH)],
)
async def test_only_runs_inside_the_window_are_told(text: str, context: str):
    runs = [run(59, 3, "failed", "late"), run(10, 3, "failed", "early")]
    runs[0]["trigger_time"], runs[1]["trigger_time"] = "2026-11-29T03:30:00Z", "2026-11-29T01:30:00Z"
    played = await play(text, Scheduler(runs=runs), context=context)
    assert "`late`" in played.text
    assert "`early`" not in played.text
    assert played.calls[0][1]["hours"] == 3


async def test_a_failure_is_explained_with_the_end_of_its_log_fenced():
    played = await play("why did nightly-report fail?", Logged(), context=SHANGHAI)
    assert "```\ncopying a\ncopying b\ntar: /backup: No space left on device\nexit 1\n```" in played.text
    for shown in ("12 s (limit 300 s)", "1 of 2 failed or timed out", "Newest run since: run 30", "10:00:28"):
        assert shown in played.text
    assert "Not checked: full logs, earlier runs, the worker itself." in played.text


async def test_a_log_that_looks_like_a_list_is_quoted_as_it_is():
    class Listed(Logged):
        log = "- one\ntwo\n(Times in UTC.)\n- three\nfour"

    played = await play("why did nightly-report fail?", Listed(), context=SHANGHAI)
    assert f"```\n{Listed.log}\n```" in played.text


@given(st.text(max_size=3000), st.integers(1, 20), st.integers(20, 1500))
def test_a_block_cannot_be_closed_from_inside_and_stays_short(text: str, lines: int, limit: int):
    shown = block(text, lines, limit)
    if not shown:
        return
    first, *inside, last = shown.split("\n")
    assert first == last == "`" * len(first)
    assert len(inside) <= lines
    assert len("\n".join(inside)) <= limit
    assert first not in "\n".join(inside)


async def test_a_refused_change_is_said_once_and_nothing_is_announced_before():
    refused = {"pause_task": {"error": "Task nightly-report (#3) is paused already; there is nothing to do."}}
    played = await play("pause nightly-report", Scheduler(broken=refused))
    assert played.text.count("\n") == 0
    assert played.text.count("paused already") == 1
    assert played.text == (
        "Pausing or resuming the task failed: `Task nightly-report (#3) is paused already; there is nothing to do`. It is that way already."
    )


async def test_a_proposal_goes_out_without_a_word():
    assert (await play("pause nightly-report")).text == ""


CHINESE = [
    "最近有哪些任务失败了？",
    "nightly-report 为什么失败",
    "整体健康情况",
    "节点负载",
    "列出任务",
    "nightly-report 的配置",
    "昨晚有失败吗",
    "最近的运行记录",
    "暂停 nightly-reportt",
    "删除 etl",
    "暂停 report",
    "暂停所有任务",
    "成功了吗",
    "为什么被暂停",
    "帮助",
    "暂停 nightly-report",
    "创建 shell 任务 a-b，cron 0 25 * * *，执行 `ls`",
]
FAULTS: list[dict[str, Any]] = [
    {},
    {"query_tasks": {"error": "无法连接调度器"}},
    {"query_instances": {"error": "无法连接调度器"}},
    {"get_system_health": {"error": "无法连接调度器"}},
    {"query_workers": {"error": "无法连接调度器"}},
    {"pause_task": {"error": "任务已经是暂停状态，无需操作。"}},
]
_QUOTED = re.compile(r"`+[^`]*`+")
_HELP_WORDS = {
    "shell",
    "http",
    "container",
    "cron",
    "worker",
    "nightly",
    "report",
    "old",
    "clean",
    "tmp",
    "utc",
}


def english_in(text: str) -> list[str]:
    """The English words of an answer outside quotations, the few that are names of things left out."""
    bare = _QUOTED.sub("", text)
    return [word for word in re.findall(r"[A-Za-z]{2,}", bare) if word.lower() not in _HELP_WORDS]


@pytest.mark.parametrize("broken", FAULTS)
async def test_a_chinese_answer_has_no_english_sentence(broken: dict[str, Any]):
    for text in CHINESE:
        played = await play(text, Logged(broken=broken), context=SHANGHAI_ZH)
        assert english_in(re.sub(r"```+[\s\S]*?```+", "", played.text)) == [], text
        assert not played.text or language_of(played.text) == "zh", text


async def test_an_error_in_the_other_language_is_marked_as_quoted():
    broken = {"query_tasks": {"error": "cannot connect"}}
    said = (await play("有哪些任务", Scheduler(broken=broken))).text
    assert said == "查询任务没有成功，它的原文是 `cannot connect`。请确认调度器在运行且可访问，然后再问一次。"


@pytest.mark.parametrize("texts", [("nightly-report 暂停了吗", "did it work?")])
async def test_an_open_proposal_is_named_in_the_askers_language(texts: Sequence[str]):
    asked = await play("暂停 nightly-report")
    chinese, english = [await play(text, history=asked.history) for text in texts]
    assert chinese.text == (
        "变更 `pause_task`（任务 `nightly-report` (#3)）还没有决定，什么都没有改变；请在卡片 `HKWM` 上批准或拒绝。"
    )
    assert english.text == (
        "The change `pause_task` (task `nightly-report` (#3)) is not decided yet, so nothing has changed. "
        "Approve or reject it on its card `HKWM`."
    )


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_change_that_was_asked_for_again_is_named_with_its_target_and_its_card(language: Language):
    said = report.proposed("pause_task", {"proposal": "HKWM", "target": "task nightly-report (#3)"}, language)
    assert "nightly-report" in said
    assert "`HKWM`" in said
    assert report.proposed("pause_task", {}, language).count("`pause_task`") == 1
