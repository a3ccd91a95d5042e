"""The bot asks back, and a name is the answer."""

import json

import pytest

from chatops_bot.domain.model import AssistantMessage, Message, RecordMessage, ToolMessage, UserMessage
from chatops_bot.domain.tool import ToolCall
from chatops_bot.llm.offline.open_form import open_form_of
from tests.llm.offline_play import Scheduler, fenced, play, run, task

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
        ("暂停任务", "", "log-archive"),
        ("pause the task", "", "log-archive"),
        ("pause the task", "", "#9"),
        ("pause a task", "", "9"),
        ("pause the task", "", "the log-archive one please"),
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


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("pause a task", ("pause_task", {"action": "pause"})),
        ("pause it", ("pause_task", {"action": "pause"})),
        ("暂停一个任务", ("pause_task", {"action": "pause"})),
        ("resume the task", ("pause_task", {"action": "resume"})),
        ("恢复任务", ("pause_task", {"action": "resume"})),
        ("delete a task", ("delete_task", {})),
        ("删除任务", ("delete_task", {})),
        ("trigger a task", ("trigger_task", {})),
        ("触发一个任务", ("trigger_task", {})),
        ("retry a failed run", ("retry_failed_instance", {})),
        ("重试一个失败的运行", ("retry_failed_instance", {})),
        ("重试", ("retry_failed_instance", {})),
    ],
)
async def test_a_change_without_its_target_is_asked_for_in_a_form(
    text: str, call: tuple[str, dict[str, str]]
):
    said, answer = await asked(text)
    assert (said, answer.calls, answer.text) == ("", [call], "")


@pytest.mark.parametrize("text", ["那个备份的东西", "backup"])
async def test_a_form_for_a_new_task_is_not_answered_by_a_word(text: str):
    answer = await play(text, history=form_asked(author=""))
    assert not answer.writes


async def test_a_run_named_in_words_answers_the_form():
    _, answer = await asked("retry a failed run", "31")
    assert answer.calls == [("retry_failed_instance", {"instance_id": 31})]


async def test_a_form_that_was_cancelled_is_answered_by_nothing():
    waiting = (await play("pause the task", scheduler=Scheduler(TASKS, RUNS))).history
    over = RecordMessage(fenced({"form_of": "pause_task", "state": "cancelled", "by": "Oscar"}))
    _, answer = await asked("log-archive", history=[*waiting, over])
    assert "pause_task" not in [name for name, _ in answer.calls]


async def test_a_form_for_a_target_says_how_else_to_answer_it():
    _, answer = await asked("pause the task", "hm, the backup thing")
    assert answer.text.startswith("Your form still waits for: `task_id`. Choose in the form above")


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


FORM = {"status": "waits until the asker has filled in a form; nothing has run", "missing": ["cron_expr", "name", "payload", "type"]}  # fmt: skip


def form_asked(author: str = "U1", **known: str) -> list[Message]:
    call = ToolCall("call_1", "create_task", json.dumps(known))
    return [
        UserMessage("create a task", author),
        AssistantMessage("", calls=(call,)),
        ToolMessage("call_1", "create_task", fenced(FORM)),
    ]


@pytest.mark.parametrize(
    "text", ["name clix, type shell, runs `echo hi`", "名称 clix，类型 shell，执行 `echo hi`"]
)
async def test_fields_in_words_answer_an_open_form(text: str):
    answer = await play(text, history=form_asked(author="", cron_expr="0 2 * * *"))
    assert answer.calls == [
        ("create_task", {"cron_expr": "0 2 * * *", "name": "clix", "payload": "echo hi", "type": "shell"})
    ]


@pytest.mark.parametrize("text", ["payload: `echo hi`", "`echo hi`", "执行 `echo hi`"])
async def test_one_field_is_no_task_that_nobody_knows(text: str):
    answer = await play(text, history=form_asked(author="", name="clix"))
    assert answer.calls == [("create_task", {"name": "clix", "payload": "echo hi"})]


@pytest.mark.parametrize(
    "text", ["what failed recently?", "pause nightly-report", "列出任务", "show nightly-report"]
)
async def test_a_question_while_a_form_is_open_is_a_question(text: str):
    answer = await play(text, history=form_asked(author=""))
    assert "create_task" not in [name for name, _ in answer.calls]
    assert answer.calls


@pytest.mark.parametrize(
    "ended",
    [RecordMessage(fenced({"form_of": "create_task", "state": "cancelled", "by": "Oscar"})), None],
)
async def test_a_form_that_is_over_or_somebody_elses_is_not_answered(ended: Message | None):
    history = [*form_asked(author=""), ended] if ended else form_asked(author="U2")
    assert open_form_of("", form_asked(author="")) is not None
    assert open_form_of("", history) is None
    answer = await play("hm, the backup thing", history=history)
    assert answer.text.startswith("No rule understands that.")
