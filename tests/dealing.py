"""The order of a run on several workers: what starts processes and browsers comes first and is spread over all of them.

`--dist worksteal` gives each worker as many tests, in a row, and moves tests from the end of a row to whoever has none left.
So what takes long must not stand in one row, nor at an end.
"""

from collections.abc import Callable
from itertools import groupby, islice
from typing import TypeVar

T = TypeVar("T")
SLOW = (
    "tests/app/test_demo.py", "tests/app/test_ask.py", "tests/browser/test_scenarios.py", "tests/browser/test_card_life.py",
    "tests/evals/test_shipped_cases.py", "tests/scenarios/test_forms.py", "tests/kills/test_every_await.py", "tests/packaging/",
    "tests/scenarios/test_bad_input.py", "tests/scenarios/test_strict_slack.py", "tests/app/test_cli.py", "tests/app/test_doctor.py",
    "tests/scheduler/test_processes.py", "tests/scheduler/test_timing.py", "tests/platforms/slack/test_card_blocks.py",
    "tests/platforms/slack/test_outbound.py", "tests/hostile/", "tests/browser/", "tests/app/", "tests/scenarios/", "tests/kills/",
    "tests/mutation/", "tests/architecture/",
)  # fmt: skip
"""Modules and rooms of which one test may take seconds, or whose first one prepares what the others use; the longest first."""


def dealt(items: list[T], workers: int, path_of: Callable[[T], str]) -> list[T]:
    """The same items, a row of equal length for each worker: its share of the slow modules, each whole, and then the rest."""
    modules = [list(module) for _, module in groupby(items, path_of)]
    slow = [module for module in modules if path_of(module[0]).startswith(SLOW)]
    slow.sort(
        key=lambda module: next(n for n, path in enumerate(SLOW) if path_of(module[0]).startswith(path))
    )
    quick = iter([item for module in modules if module not in slow for item in module])
    order: list[T] = []
    for worker in range(workers):
        row = [item for module in slow[worker::workers] for item in module]
        ends = len(items) * (worker + 1) // workers
        order += row + list(islice(quick, max(0, ends - len(order) - len(row))))
    return order + list(quick)
