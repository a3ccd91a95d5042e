"""The thread as the bot stores and projects it, read by the offline model: no hand-made messages in between."""

from datetime import UTC, datetime
from itertools import count

import pytest

from chatops_bot.context.fence import fresh_marks
from chatops_bot.context.history import project
from chatops_bot.domain.model import Message
from chatops_bot.domain.thread import EarlierMessage
from chatops_bot.domain.transcript import EarlierRead
from tests.llm.offline_play import Scheduler, play
from tests.small_tools import PHRASES

AT = datetime(2026, 11, 29, 1, 0, tzinfo=UTC)
NONCES = count(1)


def projected(*texts: str, problem: str = "") -> list[Message]:
    told = tuple(EarlierMessage("Alert bot", AT, text) for text in texts)
    read = EarlierRead("turn_1", AT, told, problem=problem)
    return project([read], marks=fresh_marks(lambda: f"{next(NONCES):032x}"), words=PHRASES.calls)


@pytest.mark.parametrize("text", ["can you look into it?", "看一下", "查一下怎么回事"])
async def test_the_thread_of_an_alert_says_what_it_is(text: str):
    card = "任务失败：nightly-report\n错误码 execute_failed\n任务 nightly-report (#3)\n运行 #28，第 4 次尝试\nexit 1: disk full"
    played = await play(text, history=projected(card, "hm, anybody?"))
    assert [name for name, _ in played.calls] == ["query_tasks", "query_instances", "analyze_failure"]
    assert played.calls[-1][1] == {"instance_id": 28}


async def test_a_thread_that_was_not_read_leaves_it_open():
    played = await play("pause it", history=projected(problem="missing_scope"))
    assert played.calls == [("pause_task", {"action": "pause"})]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "can you look into it?",
            "Nothing here names a task. The newest failure of any task is this:\nRun 28",
        ),
        ("看一下", "这里没有提到任何任务。所有任务里最近的一次失败是：\n任务 "),
    ],
)
async def test_an_alert_that_names_no_task_is_not_answered_as_if_it_did(text: str, said: str):
    played = await play(text, history=projected("disk full on host db-9"))
    assert played.text.startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("can you look into it?", "Nothing here names a task.\nNo failed"),
        ("看一下", "这里没有提到任何任务。\n"),
    ],
)
async def test_an_alert_that_names_no_task_is_said_to_when_nothing_failed(text: str, said: str):
    played = await play(text, history=projected("disk full on host db-9"), scheduler=Scheduler(runs=()))
    assert played.text.startswith(said)
