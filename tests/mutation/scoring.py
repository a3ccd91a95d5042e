"""The score of each module: of the faults that one could make in it, the part that some test notices."""

import ast
import json
import os
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.table import GROUPS, Group
from tests.mutation.trial import (  # fmt: skip
    ARGUMENTS,
    KILLED,
    SURVIVED,
    TIMED_OUT,
    Forks,
    Inside,
    separately,
    try_outside,
    warmed,
)
from tests.tracked import ROOT

WANTED = 0.9
"""Of the faults, overall and in each module of a full run."""
SAMPLES = {"ci": 60}
SEED = 20260302
EQUIVALENT = Path(__file__).with_name("equivalent.txt")

Note = Callable[[Mutant, str], None]


def equivalents() -> dict[str, str]:
    """Mutants that no test could tell from the program, by name, and why."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines()
    pairs = [line.rpartition("  # ") for line in lines if line and not line.startswith("#")]
    return {name.strip(): reason for name, _, reason in pairs}


def mutants(group: Group, only: Sequence[str] = ()) -> list[Mutant]:
    """Those of the group's modules, or of `only` some of them."""
    return [
        mutant
        for path in group.modules
        if not only or path in only
        for mutant in mutants_of(path, (ROOT / path).read_text(encoding="utf-8"))
    ]


def run(size: str, only: Sequence[str], jobs: int) -> int:
    """Print what survived and the scores; 0 when they are high enough and `equivalent.txt` holds what is needed and no more."""
    chance, known = random.Random(SEED), equivalents()
    found = [mutants(group, only) for group in GROUPS]
    gone = set() if only else set(known) - {mutant.name for each in found for mutant in each}
    total = sum(map(len, found))
    answers: dict[str, str] = {}
    for group, all_of_it in zip(GROUPS, found, strict=True):
        chosen = all_of_it
        if size in SAMPLES:
            share = round(SAMPLES[size] * len(all_of_it) / total)
            chosen = [mutant for mutant in chance.sample(all_of_it, share) if mutant.name not in known]
        if chosen:
            answers |= tried(group, chosen, jobs, known)
    needless = gone | {name for name in known if answers.get(name) in (KILLED, TIMED_OUT)}
    for name in sorted(needless):
        print(f"no longer needed in {EQUIVALENT.name}: {name}")
    is_high = _reported({name: answer for name, answer in answers.items() if name not in known}, size)
    return 0 if is_high and not needless else 1


def tried(group: Group, chosen: Sequence[Mutant], jobs: int, known: Mapping[str, str]) -> Mapping[str, str]:
    """What became of each mutant, by name. Raises RuntimeError when the tests fail without any fault."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "answers")
        record.touch()

        def note(mutant: Mutant, answer: str) -> None:
            with record.open("a", encoding="utf-8") as file:
                file.write(json.dumps([mutant.name, answer]) + "\n")
            if answer not in (KILLED, TIMED_OUT) and mutant.name not in known:
                print(f"  {answer}: line {mutant.line} of {mutant.name}", file=sys.__stdout__, flush=True)

        bodies = [mutant for mutant in chosen if not mutant.in_function]
        inside = [mutant for mutant in chosen if mutant.in_function]
        for ways, some in ((_inside, inside), (_outside, bodies)):
            if some and not separately(partial(ways, group, some, jobs, note)):
                raise RuntimeError("the tests fail without any fault, or could not be run")
        return dict(map(json.loads, record.read_text(encoding="utf-8").splitlines()))


def _inside(group: Group, chosen: Sequence[Mutant], jobs: int, note: Note) -> None:
    plugin = Inside(chosen, Forks(jobs, note))
    said = sys.stdout
    with open(os.devnull, "w", encoding="utf-8") as sys.stdout:  # noqa: PTH123
        ended = pytest.main([*ARGUMENTS, "-s", *group.tests], plugins=[plugin])
    sys.stdout = said
    if plugin.failed or ended not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"these fail without a fault: {plugin.failed}; the run ended with {ended}")


def _outside(group: Group, chosen: Sequence[Mutant], jobs: int, note: Note) -> None:
    warmed()
    alone: list[str] = []
    first = Forks(1, lambda mutant, answer: alone.append(answer))
    path = chosen[0].path
    first.start(chosen[0], partial(try_outside, path, ast.parse(chosen[0].source), group.tests))
    first.finish()
    if alone != [SURVIVED]:
        raise RuntimeError(f"the tests of {path} fail without a fault")
    forks = Forks(jobs, note)
    for mutant in chosen:
        forks.start(mutant, partial(try_outside, mutant.path, mutant.tree(), group.tests))
    forks.finish()


def _reported(answers: Mapping[str, str], size: str) -> bool:
    """Print a line a module. A sample is judged as a whole: of one module it holds too few."""
    by_module: dict[str, list[str]] = defaultdict(list)
    for name, answer in answers.items():
        by_module[name.partition(" ")[0]].append(answer)
    scores = [_score(path, said) for path, said in by_module.items()]
    whole = _score("all", list(answers.values()))
    return whole >= WANTED and (size in SAMPLES or min(scores) >= WANTED)


def _score(what: str, said: Sequence[str]) -> float:
    killed = sum(answer in (KILLED, TIMED_OUT) for answer in said)
    by_time = said.count(TIMED_OUT)
    print(
        f"{killed / len(said):7.1%}  {killed:4} of {len(said):4}  {what}"
        + (f", {by_time} by time" if by_time else "")
    )
    return killed / len(said)
