"""The mutator makes the faults that it says, and a sample of them is noticed by the tests of what decides and dispatches."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SOAK_SIZE
from tests.mutation.mutants import mutants_of
from tests.mutation.scoring import equivalents, mutants
from tests.mutation.table import GROUPS
from tests.tracked import ROOT

SOURCE = '''
"""A module."""
LIMIT = 3


@known(True)
async def f(a: "int" = 1) -> "str":
    """Words."""
    if a < LIMIT and not a:
        raise ValueError("some words")
    try:
        await g(a, key=a)
    except (KeyError, OSError):
        _log.info("words %s", a, extra=1)
    return Phrase("a")
'''
FAULTS = {
    "module: 3 → 4",
    "f: 1 → 2",
    "f: if a < LIMIT and (not a): raise ValueError('some words') → if True: raise ValueError('some words')",
    "f: if a < LIMIT and (not a): raise ValueError('some words') → if False: raise ValueError('some words')",
    "f: a < LIMIT and (not a) → a < LIMIT or not a",
    "f: a < LIMIT and (not a) → not a",
    "f: a < LIMIT and (not a) → a < LIMIT",
    "f: a < LIMIT → a <= LIMIT",
    "f: a < LIMIT → a >= LIMIT",
    "f: not a → a",
    "f: raise ValueError('some words') → pass",
    "f: await g(a, key=a) → pass",
    "f: g(a, key=a) → g(a)",
    "f: try except (KeyError, OSError) → if True: await g(a, key=a)",
    "f: except (KeyError, OSError) → except (OSError,)",
    "f: except (KeyError, OSError) → except (KeyError,)",
    "f: return Phrase('a') → return None",
}


def test_faults_are_made_in_what_runs_and_not_in_words_types_and_decorators():
    found = mutants_of("m.py", SOURCE)
    assert {mutant.name.removeprefix("m.py ") for mutant in found} == FAULTS
    assert len({compile(mutant.tree(), "m.py", "exec").co_code for mutant in found}) >= 1


def test_equivalent_mutants_exist_and_carry_a_reason():
    names = {mutant.name for group in GROUPS for mutant in mutants(group)}
    for name, reason in equivalents().items():
        assert name in names, f"there is no such fault any more: {name}"
        assert len(reason) > 20


def test_modules_and_tests_of_the_table_are_there():
    for group in GROUPS:
        for path in (*group.modules, *group.tests):
            assert Path(ROOT, path).exists(), path


TOY = """
import json
from tests.mutation import scoring, trial
from tests.mutation.table import Group
trial.PATIENCE = 1.0
toy = Group(("tests/mutation/toy.py",), ("tests/mutation/toy_checks.py",))
print(json.dumps(dict(scoring.tried(toy, scoring.mutants(toy), 2, {}))))
"""
ANSWERS = {
    "module: 'a' → 'ax'": "killed",
    "module: 1 → 2": "killed",
    "found: while len(key) > 3 → while False": "survived",
    "found: len(key) > 3 → len(key) >= 3": "survived",
    "found: len(key) > 3 → len(key) <= 3": "timed out",
    "found: 3 → 4": "survived",
    "found: 1 → 2": "survived",
    "found: return TABLE.get(key) → return None": "killed",
    "unused: return 5 → return None": "no test gets there",
    "unused: 5 → 6": "no test gets there",
}


def test_each_fault_gets_its_answer():
    answers = json.loads(run("-c", TOY).splitlines()[-1])
    assert {
        name.removeprefix("tests/mutation/toy.py "): answer for name, answer in answers.items()
    } == ANSWERS


def run(*arguments: str) -> str:
    """What a process of its own says: forks of one that has threads would be none that one could rely on."""
    environment = {**os.environ, "SOAK_SIZE": ""}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.soak
def test_of_a_sample_of_faults_nine_of_ten_are_noticed():
    """In `make soak` alone; `make mutate` tries all faults, and asks for nine of ten of each module."""
    if SOAK_SIZE:
        print(run("-m", "tests.mutation", "--size", "ci"))
