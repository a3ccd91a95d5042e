"""What a person says is meant on their own clock; the scheduler's cron is read on its own. Exactly the same, or nothing."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.clocks import Clocks
from chatops_bot.toolsets.scheduler.cron import next_times

NOW = datetime(2026, 11, 30, 4, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("person", "scheduler", "said", "meant"),
    [
        ("Asia/Shanghai", "UTC", "0 2 * * *", "0 18 * * *"),
        ("Asia/Shanghai", "UTC", "0 9 * * *", "0 1 * * *"),
        ("UTC", "Asia/Shanghai", "0 20 * * *", "0 4 * * *"),
        ("Asia/Kolkata", "UTC", "0 2 * * *", "30 20 * * *"),
        ("Asia/Shanghai", "UTC", "0 2 * * 1-5", "0 18 * * 0-4"),
        ("Asia/Shanghai", "UTC", "0 9 * * 1-5", "0 1 * * 1-5"),
        ("Asia/Shanghai", "UTC", "0 2 * * 0,6", "0 18 * * 5,6"),
        ("Asia/Shanghai", "UTC", "0 2 * * 0", "0 18 * * 6"),
        ("UTC", "Asia/Shanghai", "0 20 * * 5,6", "0 4 * * 0,6"),
        ("Asia/Shanghai", "UTC", "0 9 1 * *", "0 1 1 * *"),
        ("Asia/Shanghai", "UTC", "0 2 15 * *", "0 18 14 * *"),
        ("Asia/Shanghai", "UTC", "0 2 1 * *", None),
        ("Asia/Shanghai", "UTC", "0 2 29 * *", None),
        ("UTC", "Asia/Shanghai", "0 20 28 * *", None),
        ("Asia/Shanghai", "UTC", "0 2 15 6 *", None),
        ("Europe/Berlin", "UTC", "0 2 * * *", None),
        ("UTC", "America/New_York", "0 2 * * *", None),
        ("Europe/Berlin", "Europe/Paris", "0 2 * * *", "0 2 * * *"),
        ("Europe/Berlin", "UTC", "*/15 * * * *", "*/15 * * * *"),
        ("Europe/Berlin", "UTC", "0 */2 * * *", "0 */2 * * *"),
        ("Europe/Berlin", "UTC", "15 * * * *", "15 * * * *"),
        ("Asia/Kolkata", "UTC", "15 * * * *", "45 * * * *"),
        ("Asia/Shanghai", "UTC", "0 9-17 * * 1-5", None),
        ("Asia/Shanghai", "UTC", "0 9,18 * * *", "0 1,10 * * *"),
        ("Asia/Shanghai", "UTC", "0 2,9 * * *", "0 1,18 * * *"),
        ("Asia/Shanghai", "UTC", "0 2,9 * * 1", None),
        ("", "", "0 2 * * *", "0 2 * * *"),
    ],
)
def test_a_schedule_moves_to_the_schedulers_clock_where_that_is_exact(person, scheduler, said, meant):
    assert Clocks.named(person, scheduler).schedule(said, NOW) == meant


def test_what_the_schedulers_clock_shows_is_told_with_the_day():
    assert Clocks.named("Asia/Shanghai", "UTC").shown_at("0 2 1 * *", NOW) == [(-1, time(18))]
    assert Clocks.named("Europe/Berlin", "UTC").shown_at("0 2 * * *", NOW) == [(0, time(1)), (0, time(0))]
    assert Clocks.named("Europe/Berlin", "UTC").shown_at("*/5 * * * *", NOW) == ()


def test_two_names_of_one_clock_do_not_differ():
    assert not Clocks.named("Asia/Shanghai", "Asia/Singapore").differ(NOW)
    assert Clocks.named("Europe/London", "UTC").differ(NOW), "in summer"


@given(
    zones=st.tuples(*[st.sampled_from(["UTC", "Asia/Shanghai", "Asia/Kolkata", "America/Phoenix", "Pacific/Kiritimati"])] * 2),
    clock=st.tuples(st.integers(0, 59), st.integers(0, 23)),
    days=st.one_of(
        st.just("* * *"),
        st.integers(1, 31).map(lambda day: f"{day} * *"),
        st.sets(st.integers(0, 6), min_size=1).map(lambda days: f"* * {','.join(map(str, sorted(days)))}"),
    ),
)  # fmt: skip
def test_what_is_converted_runs_at_the_very_moments_that_were_meant(zones, clock, days):
    clocks, said = Clocks.named(*zones), f"{clock[0]} {clock[1]} {days}"
    meant = clocks.schedule(said, NOW)
    if meant is not None:
        after = NOW + timedelta(days=70)  # February is near
        assert next_times(meant, after, clocks.scheduler, 14) == next_times(said, after, clocks.person, 14)
    elif zones[0] != zones[1]:
        assert days.partition(" ")[0].isdecimal(), "only a day of month may fall on another month's"
