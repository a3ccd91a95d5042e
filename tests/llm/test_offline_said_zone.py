"""Times that are said in a zone of their own."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from chatops_bot.domain.clocks import Clocks
from chatops_bot.llm.offline.arguments import mask
from chatops_bot.llm.offline.creation import new_task_in, on_clocks, said_with_form
from chatops_bot.llm.offline.windows import window_in

CLOCKS = Clocks(ZoneInfo("Asia/Shanghai"), UTC)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "cron"),
    [
        ("every day at 02:00", "0 18 * * *"),
        ("every day at 02:00 UTC", "0 2 * * *"),
        ("every day at 02:00 in UTC", "0 2 * * *"),
        ("every day at 02:00 GMT+1", "0 1 * * *"),
        ("every day at 2am in the scheduler's zone", "0 2 * * *"),
        ("every day at 2am server time", "0 2 * * *"),
        ("every day at 2am in my time zone", "0 18 * * *"),
        ("every day at 9am Asia/Tokyo", "0 0 * * *"),
        ("every day at 9am Tokyo time", "0 0 * * *"),
        ("every day at 9am Europe/Berlin", ""),
        ("every day at 9am EST", ""),
        ("每天北京时间早上9点", "0 1 * * *"),
        ("每天按调度器的时间两点", "0 2 * * *"),
        ("每天服务器时间两点", "0 2 * * *"),
        ("每天两点（UTC）", "0 2 * * *"),
        ("to sync server time every day at 2am", "0 18 * * *"),
        ("每天2点同步服务器时间", "0 18 * * *"),
        ("cron `0 2 * * *` in UTC", "0 2 * * *"),
    ],
)
def test_a_schedule_counts_on_the_clock_that_was_named(said: str, cron: str):
    task = on_clocks(new_task_in(mask(f"create a task x-y of type shell running `ls` {said}")), CLOCKS, NOW)
    assert task.arguments.get("cron_expr", "") == cron
    assert bool(said_with_form(task, CLOCKS, NOW, "en")) == (not cron)


def test_a_zone_that_nobody_can_be_sure_of_is_asked_for():
    task = on_clocks(new_task_in(mask("create a task every weekday at 9am PST")), CLOCKS, NOW)
    assert "not sure which time zone" in said_with_form(task, CLOCKS, NOW, "en")
    assert "哪个时区" in said_with_form(task, CLOCKS, NOW, "zh")


@pytest.mark.parametrize(
    ("said", "since"),
    [
        ("what failed since 10:00?", "2026-11-30T10:00:00+08:00"),
        ("what failed since 10:00 UTC?", "2026-11-30T10:00:00+00:00"),
        ("what failed since 10:00 UTC+02:00?", "2026-11-30T10:00:00+02:00"),
        ("北京时间10点以来有哪些失败？", "2026-11-30T10:00:00+08:00"),
    ],
)
def test_a_window_is_read_on_the_clock_that_was_named(said: str, since: str):
    window = window_in(mask(said).text, NOW.astimezone(CLOCKS.person))
    assert window is not None
    assert window.since == datetime.fromisoformat(since)
