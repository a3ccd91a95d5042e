"""Pauses an arm of a rollout by itself when its turns fail more often than those of the default version.

The two are compared by Fisher's exact test on the newest turns of each, one-sided. Each failed turn is a look, and many looks
find something sooner or later, so the bar is high. Turns that ended because the model, the chat platform or the store was away
are not told to the guard: they say nothing of a text, and an arm that has nearly all turns has no others to be compared with.
"""

import math
from collections import deque
from collections.abc import Iterable

LEAST_TURNS = 10
REMEMBERED = 200
"""Turns of a version; what a text did a month ago says little of the model of today."""
MOST_CHANCE = 0.001


class ArmGuard:
    def __init__(self) -> None:
        self._ends: dict[tuple[str, str], deque[bool]] = {}
        self._paused: set[tuple[str, str]] = set()

    def is_paused(self, agent_id: str, version: str) -> bool:
        return (agent_id, version) in self._paused

    def rested(self, agent_id: str, version: str, default: str, *, failed: bool) -> str:
        """Note how a turn with a version ended. When that pauses it: why, in words; empty else."""
        arm = self._ends.setdefault((agent_id, version), deque(maxlen=REMEMBERED))
        arm.append(failed)
        if not failed or version == default or self.is_paused(agent_id, version) or len(arm) < LEAST_TURNS:
            return ""
        others = self._ends.get((agent_id, default), deque())
        if not _is_worse(arm, others):
            return ""
        self._paused.add((agent_id, version))
        return f"{sum(arm)} of its newest {len(arm)} turns failed, and {sum(others)} of {len(others)} with {default}"


def _is_worse(arm: Iterable[bool], others: Iterable[bool]) -> bool:
    """Where there is too little to compare with, an arm of which most turns fail is worse."""
    mine, theirs = list(arm), list(others)
    if len(theirs) < LEAST_TURNS:
        return sum(mine) * 2 > len(mine)
    return chance(sum(mine), len(mine), sum(theirs), len(theirs)) < MOST_CHANCE


def chance(bad: int, of: int, other_bad: int, of_others: int) -> float:
    """How probable it is that at least `bad` of the failures fall on the first `of` turns, were both alike."""
    failures, turns = bad + other_bad, of + of_others
    ways = sum(
        math.comb(failures, each) * math.comb(turns - failures, of - each)
        for each in range(bad, min(of, failures) + 1)
    )
    return ways / math.comb(turns, of)
