"""The bot asks back, and a name is the answer."""

import pytest

from chatops_bot.domain.model import Message
from tests.llm.offline_play import Scheduler, play, run, task

TASKS = [task(3, "nightly-report"), task(4, "etl-sync"), task(5, "daily-report"), task(9, "log-archive")]
RUNS = [run(28, 3, "failed", "exit 1"), run(31, 9, "failed", "exit 2")]


async def asked(*texts: str, history: list[Message] | None = None):
    """Several messages, one after the other; the last turn and the question before it."""
    scheduler, said = Scheduler(tasks=TASKS, runs=RUNS), ""
    for text in texts[:-1]:
        turn = await play(text, scheduler=scheduler, history=history or [])
        history, said = turn.history, turn.text
    return said, await play(texts[-1], scheduler=scheduler, history=history or [])


@pytest.mark.parametrize(
    ("first", "question", "reply"),
    [
        ("暂停任务", "暂停哪个任务？", "log-archive"),
        ("pause the task", "Pause which task?", "log-archive"),
        ("pause the task", "Pause which task?", "#9"),
        ("pause the task", "Pause which task?", "9"),
        ("pause the task", "Pause which task?", "the log-archive one please"),
        ("暂停 log-archve", "您是指 `log-archive`", "log-archive"),
        ("pause report", "matches 2 tasks", "log-archive"),
    ],
)
async def test_a_name_is_the_answer_to_which_task(first: str, question: str, reply: str):
    said, answer = await asked(first, reply)
    assert question in said
    assert answer.calls[-1] == ("pause_task", {"action": "pause", "task_id": 9})


@pytest.mark.parametrize(("first", "verb"), [("analyse it", "Analyse"), ("分析一下", "分析")])
async def test_an_analysis_that_was_asked_back_about_is_made(first: str, verb: str):
    shown = (
        await play("details of nightly-report and log-archive", scheduler=Scheduler(TASKS, RUNS))
    ).history
    said, answer = await asked(first, "log-archive", history=shown)
    assert said.startswith(verb)
    assert answer.calls[-1] == ("analyze_failure", {"instance_id": 31})


async def test_a_wrong_name_keeps_the_question_open():
    said, answer = await asked("暂停任务", "log-archve", "log-archive")
    assert "log-archive" in said
    assert answer.calls[-1] == ("pause_task", {"action": "pause", "task_id": 9})


@pytest.mark.parametrize(
    "reply", ["never mind", "算了", "details of log-archive", "log-archive 的详情", "don't", "what failed?"]
)
async def test_what_asks_something_else_is_no_answer(reply: str):
    _, answer = await asked("pause the task", reply)
    assert "pause_task" not in [name for name, _ in answer.calls]


async def test_a_question_is_answered_once():
    _, answer = await asked("pause the task", "what failed?", "log-archive")
    assert [name for name, _ in answer.calls] == ["query_tasks", "get_task_detail"]


async def test_a_name_is_answered_in_the_language_of_the_conversation():
    _, answer = await asked("列出任务", "log-archive")
    assert "启用" in answer.text
