"""An arm that does worse pauses itself; one that does not stays, and so does one that fails together with the default."""

import random

import pytest

from chatops_bot.context.arm_guard import LEAST_TURNS, ArmGuard, chance


def rest(guard: ArmGuard, version: str, ends: str) -> list[str]:
    """`x` is a turn that failed."""
    return [guard.rested("one", version, "v1", failed=end == "x") for end in ends]


def test_an_arm_that_fails_more_often_pauses_once_and_says_why():
    guard = ArmGuard()
    rest(guard, "v1", "." * 28 + "xx")
    said = rest(guard, "v2", "xx.xx.xx.xxxx")
    assert [one for one in said if one] == ["7 of its newest 10 turns failed, and 2 of 30 with v1"]
    assert said.index("7 of its newest 10 turns failed, and 2 of 30 with v1") == 9
    assert guard.is_paused("one", "v2")
    assert not guard.is_paused("one", "v1")
    assert not guard.is_paused("two", "v2")


@pytest.mark.parametrize(
    ("default", "arm"),
    [
        ("." * 30, "." * 30),
        ("." * 30, "x" * (LEAST_TURNS - 1)),
        ("x" * 30, "x" * 30),
        ("." * 30, "....x" * 4),
    ],
    ids=["both well", "too few turns", "both badly", "little worse"],
)
def test_no_arm_pauses_on_thin_evidence(default: str, arm: str):
    guard = ArmGuard()
    rest(guard, "v1", default)
    assert not any(rest(guard, "v2", arm))


def test_without_turns_to_compare_with_most_must_fail():
    guard = ArmGuard()
    assert not any(rest(guard, "v2", ".x" * 10))
    assert any(rest(guard, "v2", "xxx"))


def test_the_default_version_never_pauses():
    assert not any(rest(ArmGuard(), "v1", "x" * 50))


def test_what_happened_long_ago_is_forgotten():
    guard = ArmGuard()
    rest(guard, "v1", "." * 300)
    rest(guard, "v2", "." * 200)
    said = rest(guard, "v2", "x" * 30)
    assert any(said), "two hundred good turns do not hide thirty bad ones"


def test_arms_that_are_alike_are_hardly_ever_paused():
    """Of 300 rollouts of 200 turns each, where one turn in ten fails in both."""
    draw = random.Random(3)
    paused = 0
    for _ in range(300):
        guard = ArmGuard()
        for _ in range(200):
            for version in ("v1", "v2"):
                guard.rested("one", version, "v1", failed=draw.random() < 0.1)
        paused += guard.is_paused("one", "v2")
    assert paused <= 6


def test_the_chance_is_that_of_fishers_exact_test():
    assert chance(3, 4, 1, 4) == pytest.approx(17 / 70)
    assert chance(0, 5, 3, 5) == 1
