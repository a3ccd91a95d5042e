"""The order in which several workers get the tests of a run."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from tests.dealing import SLOW, dealt
from tests.tracked import ROOT

PATHS = st.sampled_from(
    [f"tests/{room}/test_{n}.py" for room in ("app", "browser", "domain", "llm") for n in range(4)]
)


@given(st.dictionaries(PATHS, st.integers(1, 9)), st.integers(1, 5))
def test_every_test_is_dealt_once_and_a_slow_module_stays_whole(sizes: dict[str, int], workers: int):
    items = [f"{path}::{n}" for path, size in sizes.items() for n in range(size)]
    order = dealt(items, workers, lambda item: item.partition("::")[0])
    assert sorted(order) == sorted(items)
    runs = [path for path, _ in groupby(order, lambda item: item.partition("::")[0])]
    slow = [path for path in runs if path.startswith(SLOW)]
    assert len(slow) == len(set(slow))


def test_each_worker_begins_with_its_share_of_what_is_slow():
    items = [f"tests/browser/test_{n}.py::a" for n in range(4)] + [
        f"tests/llm/test_0.py::{n}" for n in range(16)
    ]
    order = dealt(items, 4, lambda item: item.partition("::")[0])
    assert [order[row * 5].partition("::")[0] for row in range(4)] == [
        f"tests/browser/test_{n}.py" for n in range(4)
    ]


def test_what_is_slow_exists():
    assert [path for path in SLOW if not (ROOT / path).exists()] == []
