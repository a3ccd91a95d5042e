"""Five numeric fields, checked strictly, and next times compared with plain counting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.scheduler.clock import from_datetime, to_datetime
from chatops_bot.scheduler.cron import FIELDS, BadCron, parse, values

NUMBERS = [(field.low, field.high) for field in FIELDS]


@st.composite
def field_text(draw: Any, index: int) -> str:
    low, high = NUMBERS[index]
    number = st.integers(low, high)

    def item() -> str:
        kind = draw(st.sampled_from(["*", "*/n", "a", "a-b", "a-b/n"]))
        first, second = sorted((draw(number), draw(number)))
        step = draw(st.integers(1, 12))
        return str(kind).replace("a", str(first)).replace("b", str(second)).replace("n", str(step))

    return ",".join(item() for _ in range(draw(st.integers(1, 2))))


expressions = st.tuples(*(field_text(index) for index in range(5))).map(" ".join)
moments = st.datetimes(datetime(2023, 1, 1), datetime(2027, 12, 31)).map(
    lambda naive: naive.replace(tzinfo=UTC)
)


def matches(expression: str, moment: datetime) -> bool:
    """The rule in one place: every field fits, the two day fields joined by OR when both are restricted."""
    sets = [values(part, field) for part, field in zip(expression.split(), FIELDS, strict=True)]
    minute, hour, day, month, weekday = sets
    if moment.minute not in minute or moment.hour not in hour or moment.month not in month:
        return False
    day_fits, weekday_fits = moment.day in day, moment.isoweekday() % 7 in weekday
    if len(day) == 31:
        return weekday_fits
    return day_fits if len(weekday) == 7 else day_fits or weekday_fits


def never_comes(expression: str) -> bool:
    """30 February and the like: no month of the expression has a day of the expression."""
    _, _, day, month, weekday = (values(p, f) for p, f in zip(expression.split(), FIELDS, strict=True))
    longest = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
    return len(weekday) == 7 and all(longest.get(m, 31) < min(day) for m in month)


@given(expressions, moments)
def test_the_next_time_fits_is_later_and_none_is_skipped(expression: str, start: datetime):
    try:
        found = to_datetime(parse(expression).next_after(from_datetime(start)))
    except BadCron:
        assert never_comes(expression)
        return
    assert found > start
    assert (found.second, found.microsecond) == (0, 0)
    assert matches(expression, found)
    # Counting minute by minute is the reference; eight hours of it are enough to catch a skip.
    step = start.replace(second=0, microsecond=0) + timedelta(minutes=1)
    while step < min(found, start + timedelta(hours=8)):
        assert not matches(expression, step), step
        step += timedelta(minutes=1)


@given(st.text(alphabet="0123456789*/,- \tLW#?@ajn", max_size=20))
def test_any_text_is_parsed_or_refused_with_a_reason(text: str):
    try:
        problem = ""
        parse(text)
    except BadCron as error:
        problem = str(error)
    assert not problem or problem.startswith("cron_expr: ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("* * * * * *", "five fields"),
        ("@daily", "not supported"),
        ("0/15 * * * *", "did you mean '*/15'?"),
        ("* 5/2 * * *", "did you mean '*/2'?"),
        ("0 0 * * mon", "day of week 'mon'"),
        ("0 0 * jan *", "month 'jan'"),
        ("60 * * * *", "outside 0-59"),
        ("* 24 * * *", "outside 0-23"),
        ("* * 0 * *", "outside 1-31"),
        ("* * * * 8", "outside 0-7"),
        ("5-1 * * * *", "runs backwards"),
        ("*/0 * * * *", "no positive number"),
        ("1,,2 * * * *", "not a number"),
        ("-1 * * * *", "not a number"),
        ("? * * * *", "not a number"),
        ("* * L * *", "not a number"),
        ("٣ * * * *", "not a number"),
    ],
)
def test_what_the_go_service_does_not_know_is_refused(text: str, reason: str):
    with pytest.raises(BadCron, match=r".*") as refused:
        parse(text)
    assert reason in str(refused.value)


def next_time(text: str, start: str, zone: str = "UTC") -> str:
    found = parse(text).next_after(from_datetime(datetime.fromisoformat(start)), zone)
    return to_datetime(found).strftime("%Y-%m-%dT%H:%M")


def test_sunday_is_0_and_7():
    assert next_time("0 0 * * 7", "2026-01-01T00:00+00:00") == "2026-01-04T00:00"
    assert next_time("0 0 * * 0", "2026-01-01T00:00+00:00") == "2026-01-04T00:00"
    assert next_time("0 0 * * 5-7", "2026-01-03T00:00+00:00") == "2026-01-04T00:00"


def test_both_day_fields_restricted_means_either():
    assert next_time("0 0 13 * 5", "2026-01-01T00:00+00:00") == "2026-01-02T00:00"
    assert next_time("0 0 13 * *", "2026-01-01T00:00+00:00") == "2026-01-13T00:00"


def test_29_february_is_found_years_ahead():
    assert next_time("0 0 29 2 *", "2097-01-01T00:00+00:00") == "2104-02-29T00:00"


@pytest.mark.case("sched-E4")
def test_a_skipped_local_time_runs_at_the_next_minute_that_exists():
    # Berlin leaps from 02:00 to 03:00 on 29 March 2026, which is 01:00 UTC.
    assert next_time("30 2 * * *", "2026-03-28T12:00+00:00", "Europe/Berlin") == "2026-03-29T01:00"
    assert next_time("30 2 * * *", "2026-03-29T01:00+00:00", "Europe/Berlin") == "2026-03-30T00:30"


@pytest.mark.case("sched-E4")
def test_a_repeated_local_time_runs_once():
    # Berlin has 02:30 twice on 25 October 2026: 00:30 and 01:30 UTC.
    assert next_time("30 2 * * *", "2026-10-24T12:00+00:00", "Europe/Berlin") == "2026-10-25T00:30"
    assert next_time("30 2 * * *", "2026-10-25T00:30+00:00", "Europe/Berlin") == "2026-10-26T01:30"
