"""Whether an arm of a rollout does so much worse than the default version that it must be paused.

The two are compared by Fisher's exact test on the newest turns of each, one-sided. Each failed turn is a look, and many looks
find something sooner or later, so the bar is high. Turns that ended because the model, the chat platform or the store was away
are not counted: they say nothing of a text, and an arm that has nearly all turns has no others to be compared with.
"""

import math
from collections.abc import Sequence

LEAST_TURNS = 10
REMEMBERED = 200
"""Turns of a version; what a text did a month ago says little of the model of today."""
MOST_CHANCE = 0.001


def why_paused(arm: Sequence[bool], others: Sequence[bool], default: str) -> str:
    """Why an arm must be paused whose newest turn failed: its turns against those of the version `default`, True for one that
    failed. Empty when it need not. Where there is too little to compare with, an arm of which most turns fail is worse."""
    failed, failed_there = sum(arm), sum(others)
    if len(arm) < LEAST_TURNS:
        return ""
    if len(others) < LEAST_TURNS:
        is_worse = failed * 2 > len(arm)
    else:
        is_worse = chance(failed, len(arm), failed_there, len(others)) < MOST_CHANCE
    if not is_worse:
        return ""
    return (
        f"{failed} of its newest {len(arm)} turns failed, and {failed_there} of {len(others)} with {default}"
    )


def chance(bad: int, of: int, other_bad: int, of_others: int) -> float:
    """How probable it is that at least `bad` of the failures fall on the first `of` turns, were both alike."""
    failures, turns = bad + other_bad, of + of_others
    ways = sum(
        math.comb(failures, each) * math.comb(turns - failures, of - each)
        for each in range(bad, min(of, failures) + 1)
    )
    return ways / math.comb(turns, of)
