"""Edits keep both rules: one message's interval, and the allowance that all messages share."""

from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.rendering.pacing import Allowance, Pace, next_edit_at

PACE = Pace()


def test_the_first_edit_comes_soon_and_later_ones_keep_the_interval():
    assert next_edit_at(PACE, posted_at=10.0, edited_at=None) == 10.3
    assert next_edit_at(PACE, posted_at=10.0, edited_at=12.0) == 13.0


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 2), st.booleans()), max_size=200))
def test_no_minute_holds_more_than_slack_allows(asks: list[tuple[float, float, bool]]):
    allowance, now, slots = Allowance(PACE), 0.0, []
    for passed, ahead, waits in asks:
        now += passed
        if waits:
            slot, allowance = allowance.reserve(now + ahead)
            assert slot >= now + ahead
            slots.append(slot)
    most = 60 / PACE.spacing + PACE.burst + 1
    assert all(sum(start <= slot < start + 60 for slot in slots) <= most for start in slots)


@given(st.integers(1, 12))
def test_messages_share_the_allowance_evenly(messages: int):
    allowance = Allowance(PACE)
    last: dict[int, float] = dict.fromkeys(range(messages), 0.0)
    edits = dict.fromkeys(range(messages), 0)
    now = 0.0
    while now < 300:
        message = min(last, key=lambda each: last[each])
        now, allowance = allowance.reserve(next_edit_at(PACE, 0.0, last[message]))
        last[message] = now
        edits[message] += 1
    fair = 300 / max(PACE.per_message, messages * PACE.spacing)
    assert all(fair - 2 <= count <= fair + PACE.burst + 2 for count in edits.values())


def test_a_final_does_not_wait_but_is_paid_for():
    allowance = Allowance(PACE)
    for _ in range(PACE.burst + 3):
        allowance = allowance.charge(100.0)
    slot, _ = allowance.reserve(100.0)
    assert slot > 103.0
