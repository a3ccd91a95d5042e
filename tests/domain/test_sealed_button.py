"""A button's value proves that this program made it, for one press on one revision."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.sealed_button import opened_button, sealed_button

KEY = b"k" * 32
PRESSES = st.sampled_from(["approve", "reject", "undo", "keep"])
IDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789_", min_size=1, max_size=40)
REVISIONS = st.integers(0, 999_999)


@given(PRESSES, IDS, REVISIONS)
def test_a_sealed_value_opens_to_what_it_was_made_of(press: str, proposal_id: str, revision: int):
    assert opened_button([KEY], press, sealed_button(KEY, press, proposal_id, revision)) == (
        proposal_id,
        revision,
    )


@given(PRESSES, PRESSES, IDS, REVISIONS)
def test_a_value_opens_for_no_other_press_and_no_other_key(
    press: str, other: str, proposal_id: str, revision: int
):
    value = sealed_button(KEY, press, proposal_id, revision)
    assert opened_button([b"other" * 8], press, value) is None
    assert (opened_button([KEY], other, value) is None) == (other != press)


@given(PRESSES, IDS, REVISIONS)
def test_what_an_older_key_sealed_still_opens(press: str, proposal_id: str, revision: int):
    value = sealed_button(KEY, press, proposal_id, revision)
    assert opened_button([b"newer" * 8, KEY], press, value) == (proposal_id, revision)


@given(PRESSES, IDS, REVISIONS, st.data())
def test_a_changed_value_opens_to_nothing(press: str, proposal_id: str, revision: int, data: st.DataObject):
    value = sealed_button(KEY, press, proposal_id, revision)
    at = data.draw(st.integers(0, len(value) - 1))
    letter = data.draw(st.characters(exclude_characters=value[at]))
    assert opened_button([KEY], press, value[:at] + letter + value[at + 1 :]) is None


@given(PRESSES, st.text(max_size=120))
def test_a_made_up_value_opens_to_nothing(press: str, value: str):
    assert opened_button([KEY], press, value) is None


def test_a_release_seals_a_button_as_the_one_before_it():
    """Cards stay in a chat for long: their buttons must open after an update too."""
    assert sealed_button(KEY, "approve", "prop_1", 7) == "prop_1.7.de04c4e91a842cca13b586904732fe11"


@pytest.mark.parametrize(
    "rest", ["", ".", "x.", "x.{seal}", ".{seal}", "².{seal}", "-1.{seal}", "+1.{seal}", "01.{seal}", "1.é", "1.{seal}é", "1 .{seal}", "١.{seal}"]
)  # fmt: skip
def test_what_is_no_number_or_no_seal_opens_to_nothing(rest: str):
    seal = sealed_button(KEY, "approve", "prop_1", 1).rpartition(".")[2]
    assert opened_button([KEY], "approve", f"prop_1.1.{seal}") == ("prop_1", 1)
    assert opened_button([KEY], "approve", "prop_1." + rest.format(seal=seal)) is None


def test_no_revision_is_so_long_that_it_would_be_one():
    for revision, opens in ((999_999_999, True), (1_000_000_000, False)):
        value = sealed_button(KEY, "approve", "prop_1", revision)
        assert (opened_button([KEY], "approve", value) is not None) is opens


def test_half_a_character_opens_nothing():
    """JSON may hold a lone surrogate, and so may what somebody makes up."""
    value = sealed_button(KEY, "approve", "p", 1)
    assert opened_button([KEY], "approve", "\ud800" + value) is None
