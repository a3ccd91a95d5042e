"""An arm that does worse pauses itself; one that does not stays, and so does one that fails together with the default."""

import random

import pytest

from chatops_bot.context.arm_guard import LEAST_TURNS, REMEMBERED, chance, why_paused


def said(arm: str, default: str = "") -> list[str]:
    """Why, after each turn of the arm that failed; `x` is a turn that failed, and the default had all of its own before."""
    ends, others = ([end == "x" for end in turns] for turns in (arm, default))
    looks = [at for at, failed in enumerate(ends, 1) if failed]
    return [why for at in looks if (why := why_paused(ends[max(0, at - REMEMBERED) : at], others, "v1"))]


def test_an_arm_that_fails_more_often_is_paused_and_it_is_said_why():
    assert said("xx.xx.xx.x", "." * 28 + "xx") == ["7 of its newest 10 turns failed, and 2 of 30 with v1"]


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
    assert not said(arm, default)


def test_without_turns_to_compare_with_most_must_fail():
    assert not said(".x" * 10)
    assert said(".x" * 10 + "xxx")


def test_what_happened_long_ago_is_forgotten():
    assert said("." * 200 + "x" * 30, "." * 200), "two hundred good turns do not hide thirty bad ones"


def test_arms_that_are_alike_are_hardly_ever_paused():
    """Of 300 rollouts of 200 turns each, where one turn in ten fails in both."""
    draw = random.Random(3)
    paused = 0
    for _ in range(300):
        turns: list[list[bool]] = [[], []]
        is_paused = False
        for _ in range(200):
            for ends in turns:
                ends.append(draw.random() < 0.1)
            is_paused = is_paused or (turns[1][-1] and bool(why_paused(turns[1], turns[0], "v1")))
        paused += is_paused
    assert paused <= 6


def test_the_chance_is_that_of_fishers_exact_test():
    assert chance(3, 4, 1, 4) == pytest.approx(17 / 70)
    assert chance(0, 5, 3, 5) == 1
