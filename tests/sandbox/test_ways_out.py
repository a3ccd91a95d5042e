"""Nothing gets out: each way out is tried in a sandbox, by a bot that is root and by one that is a plain user.

`make test` tries one in twelve, and each as often as it is cheap; the soak tries every one.
"""

import os

import pytest

from tests.conftest import SOAK_SIZE
from tests.sandbox.trying import PLAIN_USER, got_out, tried
from tests.sandbox.ways_out import WAYS_OUT

BY_NAME = {way.name: way for way in WAYS_OUT}
EVERY = 1 if SOAK_SIZE else 12
IS_ROOT = os.geteuid() == 0
USERS = [
    pytest.param(
        0,
        id="root",
        marks=pytest.mark.skipif(not IS_ROOT, reason="this run is not root; the plain user's half stands"),
    ),
    pytest.param(PLAIN_USER if IS_ROOT else os.geteuid(), id="plain user"),
]


def test_there_are_enough_ways_out_and_each_has_a_name_of_its_own():
    assert len(BY_NAME) == len(WAYS_OUT) >= 80


@pytest.mark.soak
@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("user", USERS)
def test_nothing_gets_out(user: int):
    names = [way.name for way in WAYS_OUT[::EVERY]]
    done = tried(names, user=user if IS_ROOT and user else None)
    out = {name: said for name, said in done.said.items() if got_out(BY_NAME[name], said)}
    print(f"\n[measured] {len(done.said)} ways out tried, {len(out)} got out, {done.heard} services reached")
    assert out == {}
    assert (len(done.said), done.heard) == (len(names), 0)


@pytest.mark.soak
def test_the_same_ways_do_lead_out_where_there_is_no_sandbox():
    """Otherwise the table would prove nothing: a body with a mistake in it never gets anywhere."""
    names = [way.name for way in WAYS_OUT if way.outside][::EVERY]
    done = tried(names, user=PLAIN_USER if IS_ROOT else None, outside=True)
    assert {name: said for name, said in done.said.items() if "ESCAPED" not in said} == {}
