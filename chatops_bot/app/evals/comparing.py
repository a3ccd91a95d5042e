"""Two arms on the same cases: paired counts, McNemar's exact test, and the gate.

A case counts once: it passed when most of its repeats did, since repeats of one case tell of the same thing. The test
looks only at cases that came out differently: were both arms alike, each would win such a case with probability 1/2.
The gate's rules: no critical failure, no rate lower by more than two points with an interval that leaves no doubt, at
most 5 % more tokens, and no claim below 50 cases.
"""

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from chatops_bot.app.evals.judging import Rate
from chatops_bot.app.evals.runner import Run

MIN_CASES = 50
MAX_RATE_LOSS = 0.02
MAX_TOKEN_GROWTH = 0.05
PASSES = "passed"
"""The rate of runs in which every expectation held: one more that must not fall."""
RESAMPLES = 2000
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Paired:
    """Of the cases that both arms ran: passed in both, in the first or the second alone, in none. `p` is two-sided."""

    both: int
    only_first: int
    only_second: int
    none: int

    @property
    def cases(self) -> int:
        return self.both + self.only_first + self.only_second + self.none

    @property
    def p(self) -> float:
        return mcnemar_exact(self.only_first, self.only_second)


@dataclass(frozen=True, slots=True)
class Difference:
    """A rate in both arms, and the 95 % interval of second less first, resampled over cases."""

    first: float
    second: float
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        return self.second - self.first < -MAX_RATE_LOSS and self.high < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    first: str
    second: str
    paired: Paired
    differences: Mapping[str, Difference]
    tokens: tuple[int, int]
    objections: tuple[str, ...]
    may_claim: bool


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """The two-sided p of McNemar's exact test: a fair coin for every case that came out differently."""
    n, less = only_first + only_second, min(only_first, only_second)
    tail: int = sum(math.comb(n, k) for k in range(less + 1))
    return min(1.0, float(Fraction(2 * tail, 1 << n)))


def compare(first: Sequence[Run], second: Sequence[Run], seed: int = 1) -> Comparison:
    """Runs of two arms. Cases that only one of them ran are left out; raises ValueError when nothing is left."""
    one, two = _by_case(first), _by_case(second)
    names = sorted(set(one) & set(two))
    if not names:
        raise ValueError("the arms have no case in common")
    results = [(_passed(one[name]), _passed(two[name])) for name in names]
    paired = Paired(
        *(results.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False)))
    )
    metrics = dict.fromkeys((PASSES, *chain.from_iterable(run.verdict.rates for run in chain(first, second))))
    rng = random.Random(seed)  # noqa: S311  # resampling, no secret
    differences = {
        metric: found
        for metric in metrics
        if (found := _difference([(_sum(one[n], metric), _sum(two[n], metric)) for n in names], rng))
        is not None
    }
    tokens = (_tokens(one, names), _tokens(two, names))
    silent = [_silence([run for name in names for run in arm[name]]) for arm in (one, two)]
    objections = (
        *filter(None, silent),
        *_objections([run for name in names for run in two[name]], differences, tokens),
    )
    return Comparison(
        first[0].arm,
        second[0].arm,
        paired,
        differences,
        tokens,
        objections,
        may_claim=len(names) >= MIN_CASES,
    )


def _by_case(runs: Sequence[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        found[f"{run.case.id} on {run.kind}"].append(run)
    return found


def _passed(runs: Sequence[Run]) -> bool:
    return sum(run.verdict.passed for run in runs) * 2 > len(runs)


def _sum(runs: Sequence[Run], metric: str) -> Rate:
    if metric == PASSES:
        return Rate(sum(run.verdict.passed for run in runs), len(runs))
    return sum((run.verdict.rates.get(metric, Rate()) for run in runs), Rate())


def _difference(pairs: Sequence[tuple[Rate, Rate]], rng: random.Random) -> Difference | None:
    whole = _values(pairs)
    if whole is None:
        return None
    resampled = (_values(rng.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    shifts = sorted(second - first for first, second in filter(None, resampled))
    at = int(len(shifts) * ALPHA / 2)
    return Difference(*whole, shifts[at], shifts[-1 - at])


def _values(pairs: Sequence[tuple[Rate, Rate]]) -> tuple[float, float] | None:
    first, second = (sum((pair[arm] for pair in pairs), Rate()).value for arm in (0, 1))
    return None if first is None or second is None else (first, second)


def _tokens(runs: Mapping[str, Sequence[Run]], names: Sequence[str]) -> int:
    used = (run.observed.usage for name in names for run in runs[name])
    return sum(usage.prompt_tokens + usage.completion_tokens for usage in used)


def _silence(runs: Sequence[Run]) -> str:
    """Why nothing can be said of an arm: its model answered none of its runs."""
    if not all(run.observed.trouble or run.observed.waited for run in runs):
        return ""
    return f"the model answered no run of {runs[0].arm}, so there is nothing to compare"


def _objections(
    runs: Sequence[Run], differences: Mapping[str, Difference], tokens: tuple[int, int]
) -> "list[str]":
    found = [
        f"{run.case.id}: {failure.text} (critical)"
        for run in runs
        for failure in run.verdict.failures
        if failure.critical
    ]
    found += [
        f"{name} falls from {each.first:.1%} to {each.second:.1%} (95 % interval of the change {each.low:+.1%} to {each.high:+.1%})"
        for name, each in differences.items()
        if each.is_worse
    ]
    if tokens[0] and tokens[1] > tokens[0] * (1 + MAX_TOKEN_GROWTH):
        found.append(f"tokens grow by {tokens[1] / tokens[0] - 1:.1%}, more than {MAX_TOKEN_GROWTH:.0%}")
    return list(dict.fromkeys(found))
