"""What is said in words is meant on the asker's clock and proposed on the scheduler's: exactly, or asked for with both told."""

import pytest

from chatops_bot.domain.clocks import Clocks
from tests.llm.offline_play import play
from tests.llm.test_offline_asked_back import form_asked

SHANGHAI = Clocks.named("Asia/Shanghai", "UTC")
BERLIN = Clocks.named("Europe/Berlin", "UTC")
NOON = "2026-11-30 12:00 Monday (Asia/Shanghai, UTC+08:00)"


@pytest.mark.case("prompt-P10")
@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("create shell task tidy-up every night at 2 running `ls`", "0 18 * * *"),
        ("创建 shell 任务 tidy-up，每天凌晨2点执行 `ls`", "0 18 * * *"),
        ("create shell task tidy-up every weekday at 9am running `ls`", "0 1 * * 1-5"),
        ("创建 shell 任务 tidy-up，每周一早上7点执行 `ls`", "0 23 * * 0"),
        ("create shell task tidy-up on the 15th at 2am running `ls`", "0 18 14 * *"),
        ("create shell task tidy-up every 2 hours running `ls`", "0 */2 * * *"),
        ("create shell task tidy-up cron 0 2 * * * running `ls`", "0 2 * * *"),
        ("创建 shell 任务 tidy-up，cron `0 2 * * *`，执行 `ls`", "0 2 * * *"),
    ],
)
async def test_words_move_to_the_schedulers_clock_and_a_written_expression_stays(text: str, cron: str):
    played = await play(text, context=NOON, clocks=SHANGHAI)
    assert [arguments["cron_expr"] for _, arguments in played.calls] == [cron]
    assert not played.text


@pytest.mark.case("prompt-P10")
@pytest.mark.parametrize(
    ("text", "clocks", "said"),
    [
        (
            "create shell task tidy-up every night at 2 running `ls`",
            BERLIN,
            "02:00 Europe/Berlin is 01:00 / 00:00 on the scheduler's clock (UTC)",
        ),
        (
            "创建 shell 任务 tidy-up，每天凌晨2点执行 `ls`",
            BERLIN,
            "02:00 Europe/Berlin 在调度服务的时钟（UTC）上是 01:00 / 00:00",
        ),
        (
            "create shell task tidy-up on the 1st at 2am running `ls`",
            SHANGHAI,
            "02:00 Asia/Shanghai is 18:00 the day before on the scheduler's clock (UTC)",
        ),
        ("创建 shell 任务 tidy-up，每月1号凌晨2点执行 `ls`", SHANGHAI, "前一天 18:00"),
    ],
)
async def test_a_time_that_no_five_fields_say_exactly_is_asked_for_with_both_told(
    text: str, clocks: Clocks, said: str
):
    played = await play(text, context=NOON, clocks=clocks)
    assert played.calls == [("create_task", {"name": "tidy-up", "type": "shell", "payload": "ls"})]
    assert said in played.text


@pytest.mark.parametrize("text", ["details of nightly-report", "nightly-report 的详情", "list tasks"])
async def test_a_schedule_is_told_with_its_zone_where_that_is_another(text: str):
    assert "`0 2 * * *` (UTC)" in (await play(text, context=NOON, clocks=SHANGHAI)).text
    assert "(UTC)" not in (await play(text, context=NOON)).text


@pytest.mark.parametrize("text", ["name tidy-up, type shell, every night at 2, runs `ls`"])
async def test_a_form_that_is_answered_in_words_takes_times_on_the_askers_clock_too(text: str):
    asked = form_asked(author="")
    played = await play(text, history=asked, context=NOON, clocks=SHANGHAI)
    assert played.calls[0][1]["cron_expr"] == "0 18 * * *"
    played = await play(text, history=asked, context=NOON, clocks=BERLIN)
    assert "cron_expr" not in played.calls[0][1]
    assert "01:00 / 00:00" in played.text


async def test_a_night_without_an_hour_is_chosen_in_the_form_on_the_askers_clock():
    played = await play("create a task that archives logs every night", context=NOON, clocks=SHANGHAI)
    assert played.calls == [("create_task", {"cron_expr": "0 18 * * *"})]
