"""A freeze holds as the wall clocks of its zone show it, once round a change of the clocks too."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.freeze import DAYS, Freeze, Moment

BERLIN = ZoneInfo("Europe/Berlin")
SPRING, AUTUMN, MINUTE = (
    datetime(2027, 3, 28, tzinfo=UTC),
    datetime(2027, 10, 31, tzinfo=UTC),
    timedelta(minutes=1),
)


def freeze(start: str, end: str, zone: str = "Europe/Berlin") -> Freeze:
    return Freeze(Moment.parse(start), Moment.parse(end), ZoneInfo(zone))


def at(text: str, zone: ZoneInfo = BERLIN, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)


@pytest.mark.parametrize(
    ("window", "moment", "is_on"),
    [
        (("Fri 18:00", "Mon 08:00"), "2026-11-27 17:59", False),
        (("Fri 18:00", "Mon 08:00"), "2026-11-27 18:00", True),
        (("Fri 18:00", "Mon 08:00"), "2026-11-29 12:00", True),
        (("Fri 18:00", "Mon 08:00"), "2026-11-30 07:59", True),
        (("Fri 18:00", "Mon 08:00"), "2026-11-30 08:00", False),
        (("22:00", "06:00"), "2026-11-30 23:30", True),
        (("22:00", "06:00"), "2026-11-30 05:59", True),
        (("22:00", "06:00"), "2026-11-30 12:00", False),
        (("2026-12-24 12:00", "2027-01-02 08:00"), "2026-12-31 23:59", True),
        (("2026-12-24 12:00", "2027-01-02 08:00"), "2027-12-31 23:59", False),
    ],
)
def test_a_window_begins_with_its_first_minute_and_ends_before_its_last(window, moment: str, is_on: bool):
    assert freeze(*window).is_on(at(moment)) is is_on


def test_an_hour_that_is_shown_twice_does_not_interrupt_a_window():
    window = freeze("Sun 02:15", "Sun 02:45")
    first, second = at("2027-10-31 02:15"), at("2027-10-31 02:44", fold=1)
    minutes = int((second - first.astimezone(UTC)) / MINUTE)
    assert all(window.is_on(first.astimezone(UTC) + n * MINUTE) for n in range(minutes + 1))
    assert not window.is_on(first.astimezone(UTC) - MINUTE)
    assert not window.is_on(second.astimezone(UTC) + MINUTE)


MINUTES = {change: [change + n * MINUTE for n in range(-24 * 60, 48 * 60)] for change in (SPRING, AUTUMN)}
WALLS = {
    change: [moment.astimezone(BERLIN).replace(tzinfo=None) for moment in minutes]
    for change, minutes in MINUTES.items()
}


def walked(change: datetime, start: int, end: int) -> list[bool]:
    """Whether a weekly window holds in each minute round a change of the clocks, by watching them go round: it begins when
    they first show its start or later, and ends when they show its end or later and never less again."""
    walls = WALLS[change]
    sunday = change.replace(tzinfo=None)
    on = [False] * len(walls)
    for monday in (sunday + timedelta(days=offset) for offset in (-20, -13, -6, 1)):
        opens = monday + timedelta(minutes=start)
        closes = monday + timedelta(minutes=end if end > start else end + 7 * 24 * 60)
        first = next((n for n, wall in enumerate(walls) if wall >= opens), len(walls))
        last = next((n for n in range(len(walls) - 1, -1, -1) if walls[n] < closes), -1)
        for n in range(first, last + 1):
            on[n] = True
    return on


def written(minute_of_week: int) -> str:
    day, minute = divmod(minute_of_week, 24 * 60)
    return f"{DAYS[day]} {minute // 60:02}:{minute % 60:02}"


@given(
    change=st.sampled_from([SPRING, AUTUMN]),
    start=st.integers(0, 7 * 24 * 60 - 1) | st.integers(6 * 24 * 60, 6 * 24 * 60 + 240),
    length=st.integers(1, 7 * 24 * 60 - 1) | st.integers(1, 180),
)
def test_a_window_holds_in_the_minutes_in_which_watching_the_clock_says_so(
    change: datetime, start: int, length: int
):
    end = (start + length) % (7 * 24 * 60)
    window, minutes = freeze(written(start), written(end)), MINUTES[change]
    expected = walked(change, start, end)
    edges = [n for n, (one, other) in enumerate(pairwise(expected)) if one is not other]
    looked_at = {
        *range(0, len(minutes), 61),
        *range(23 * 60, 28 * 60, 7),
        *edges,
        *(edge + 1 for edge in edges),
    }
    for n in sorted(looked_at):
        assert window.is_on(minutes[n]) is expected[n], minutes[n].astimezone(BERLIN)


@pytest.mark.parametrize("text", ["", "Fri", "18", "Fr 18:00", "25:00", "2026-02-31 10:00", "Fri 18:00 x"])
def test_what_is_no_moment_is_refused(text: str):
    with pytest.raises(ValueError, match=r"."):
        Moment.parse(text)


@pytest.mark.parametrize(
    ("window", "why"),
    [
        (("Fri 18:00", "08:00"), "one kind"),
        (("Fri 18:00", "Fri 18:00"), "no length"),
        (("2026-12-24 12:00", "2026-12-24 12:00"), "no length"),
        (("2026-12-24 12:00", "2026-12-01 12:00"), "no length"),
    ],
)
def test_what_is_no_window_is_refused(window, why: str):
    with pytest.raises(ValueError, match=why):
        freeze(*window)


def test_a_window_that_ends_where_the_clock_is_set_back_to_ends_the_first_time():
    window = freeze("Mon 00:00", "Sun 02:00")
    assert window.is_on(datetime(2027, 10, 30, 23, 59, tzinfo=UTC))
    assert not window.is_on(datetime(2027, 10, 31, 0, 0, tzinfo=UTC))
