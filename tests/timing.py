"""Whether work grows with its input or with its square, told by a ratio, so that a slow machine does not matter."""

from collections.abc import Callable
from time import process_time

FACTOR = 6
MEASURABLE = 0.001
"""Seconds. What takes less counts as this long."""


def ratio(work: Callable[[int], object], size: int) -> float:
    """How many times longer `FACTOR` times the size takes, best of three each: about 6 when linear, 36 when quadratic."""
    return _best(work, FACTOR * size) / max(_best(work, size), MEASURABLE)


def _best(work: Callable[[int], object], size: int) -> float:
    taken = []
    for _ in range(3):
        start = process_time()
        work(size)
        taken.append(process_time() - start)
    return min(taken)
