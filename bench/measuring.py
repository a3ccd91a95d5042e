"""Times of contenders that do comparable work, taken in turns so that a busy machine slows them all alike."""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """`seconds` is the best of all rounds, for the whole work of a contender."""

    name: str
    seconds: float


def in_turns(contenders: Mapping[str, Callable[[], object]], rounds: int) -> list[Figure]:
    """Every contender `rounds` times, one after the other in each round. The first round only warms up."""
    best = dict.fromkeys(contenders, float("inf"))
    for number in range(rounds + 1):
        for name, work in contenders.items():
            gc.collect()
            gc.disable()
            began = time.perf_counter()
            work()
            seconds = time.perf_counter() - began
            gc.enable()
            if number:
                best[name] = min(best[name], seconds)
    return [Figure(name, seconds) for name, seconds in best.items()]


def table(title: str, figures: Sequence[Figure]) -> str:
    """The figures with their ratio to the first of them."""
    first = figures[0].seconds
    width = max(len(figure.name) for figure in figures)
    lines = [
        f"  {figure.name:<{width}}  {figure.seconds * 1000:>10.3f} ms  {figure.seconds / first:>8.2f} x"
        for figure in figures
    ]
    return "\n".join((title, *lines))
