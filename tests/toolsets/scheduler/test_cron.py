"""Five fields, read as the scheduler reads them."""

import contextlib
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.toolsets.scheduler.cron import BadCron, next_times

MONDAY = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)


def spelled(expression: str, after: datetime = MONDAY, zone: tzinfo = UTC, count: int = 3) -> list[str]:
    return [moment.strftime("%m-%d %H:%M") for moment in next_times(expression, after, zone, count)]


@pytest.mark.case("sched-C8")
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 2 * * *", ["03-03 02:00", "03-04 02:00", "03-05 02:00"]),
        ("*/15 * * * *", ["03-02 14:45", "03-02 15:00", "03-02 15:15"]),
        ("0 9-11/2 * * 1,5", ["03-06 09:00", "03-06 11:00", "03-09 09:00"]),
        ("0 0 * * 7", ["03-08 00:00", "03-15 00:00", "03-22 00:00"]),
        ("0 0 13 * 5", ["03-06 00:00", "03-13 00:00", "03-20 00:00"]),  # day of month OR day of week
        ("30 4 29 2 *", ["02-29 04:30", "02-29 04:30", "02-29 04:30"]),
    ],
)
def test_next_times(expression, expected):
    assert spelled(expression) == expected


@pytest.mark.case("sched-C8")
@pytest.mark.case("sched-V11")
@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("0 2 * *", "4 fields"),
        ("@daily", r"1 field,"),
        ("0/15 * * * *", r"\*/15"),
        ("60 * * * *", "minute '60'"),
        ("* 24 * * *", "hour '24'"),
        ("* * 0 * *", "day of month"),
        ("* * * JAN *", "month 'JAN'"),
        ("* * * * 8", "day of week"),
        ("5-1 * * * *", "backwards"),
        ("*/0 * * * *", "step of zero"),
        ("0 0 30 2 *", "never comes due"),
        ("1,,2 * * * *", "minute ''"),
        ("١ * * * *", "minute"),
    ],
)
def test_a_bad_expression_names_the_field(expression, reason):
    with pytest.raises(BadCron, match=reason):
        next_times(expression, MONDAY, UTC, 3)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("@daily", "'@daily' 有 1 段，需要五段，例如 '0 2 * * *'"),
        ("* " * 40, "超过 64 个字符"),
        ("61 * * * *", "分钟字段 '61' 超出 0-59 或前后颠倒"),
        ("* * * JAN *", "月字段 'JAN' 不是数字、范围、列表、步长或 *"),
        ("*/0 * * * *", "分钟字段 '*/0' 的步长为零"),
        ("* 0/6 * * *", "小时字段 '0/6' 只有一个数字却带步长，请写成 '*/6' 或 '0-23/6'"),
        ("0 0 30 2 *", "'0 0 30 2 *' 永远不会到点"),
    ],
)
def test_a_bad_expression_is_explained_in_chinese_throughout(expression, reason):
    with pytest.raises(BadCron) as refused:
        next_times(expression, MONDAY, UTC, 3)
    assert refused.value.phrase.zh == reason


def test_fields_are_read_in_the_zone():
    shanghai = ZoneInfo("Asia/Shanghai")
    (moment,) = next_times("0 2 * * *", MONDAY, shanghai, 1)
    assert moment == datetime(2026, 3, 2, 18, 0, tzinfo=UTC)
    assert moment.tzinfo is shanghai


def test_a_skipped_local_time_moves_on_and_a_repeated_one_counts_once():
    berlin = ZoneInfo("Europe/Berlin")
    before_spring = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert spelled("30 2 * * *", before_spring, berlin, 2) == ["03-29 03:00", "03-30 02:30"]
    before_autumn = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert spelled("30 2 * * *", before_autumn, berlin, 2) == ["10-25 02:30", "10-26 02:30"]


@given(
    st.integers(0, 59),
    st.integers(0, 23),
    st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1)),  # placed in a zone below
    st.sampled_from(["UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York"]),
)
def test_times_ascend_lie_ahead_and_show_the_wanted_minute(minute, hour, local, zone_name):
    zone = ZoneInfo(zone_name)
    after = local.replace(tzinfo=zone)
    times = next_times(f"{minute} {hour} * * *", after, zone, 3)
    assert all(earlier < later for earlier, later in zip([after, *times], times, strict=False))
    assert times[0] - after <= timedelta(days=2)
    on_time = [moment for moment in times if (moment.minute, moment.hour) == (minute, hour)]
    assert len(on_time) >= 2  # at most one of three falls into a skipped hour


@given(st.text(max_size=30))
def test_any_text_is_an_expression_or_a_bad_one(text):
    with contextlib.suppress(BadCron):
        assert len(next_times(text, MONDAY, UTC, 1)) == 1
