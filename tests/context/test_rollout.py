"""A new text reaches some channels first, the same ones each time, and never half a thread."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chatops_bot.context.rollout import Arm, Rollout, Rollouts, bucket

UNITS = [f"C{number:05}" for number in range(10_000)]
VERSIONS = st.sampled_from(["v1", "v2", "v3"])


def rollouts(*arms: tuple[str, float], **more: object) -> Rollouts:
    shares = tuple(Arm(version=version, percent=percent) for version, percent in arms)
    return Rollouts({"one": Rollout.model_validate({"arms": shares, **more})})


def members(of: Rollouts, version: str) -> set[str]:
    return {unit for unit in UNITS if of.version("one", unit, default="v1") == version}


@pytest.mark.case("prompt-R63")
@pytest.mark.case("prompt-V20")
def test_raising_a_share_keeps_all_who_had_the_version():
    tenth, quarter = members(rollouts(("v2", 10)), "v2"), members(rollouts(("v2", 25)), "v2")
    assert tenth < quarter
    assert 900 < len(tenth) < 1100
    assert 2350 < len(quarter) < 2650


@given(st.floats(0, 50), st.floats(0, 50), st.floats(0, 50), st.text(max_size=9))
def test_raising_the_last_arm_moves_nobody_between_arms(first: float, less: float, more: float, salt: str):
    before = rollouts(("v2", first), ("v3", min(less, more)), salt=salt)
    after = rollouts(("v2", first), ("v3", max(less, more)), salt=salt)
    for unit in UNITS[:200]:
        had, has = (each.version("one", unit, default="v1") for each in (before, after))
        assert has == had or (had, has) == ("v1", "v3")


@pytest.mark.parametrize("percent", [0, 100])
def test_none_and_all(percent: float):
    assert len(members(rollouts(("v2", percent)), "v2")) == percent * 100


def test_agents_and_salts_divide_the_units_each_in_their_own_way():
    ways = {
        tuple(bucket(salt, agent, unit) for unit in UNITS[:50])
        for salt in ("", "s")
        for agent in ("one", "two")
    }
    assert len(ways) == 4


def test_a_bucket_is_the_same_in_every_process():
    code = "from chatops_bot.context.rollout import bucket; print(bucket('s', 'one', 'C1'))"
    env = {"PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert int(other.stdout) == bucket("s", "one", "C1")


@pytest.mark.case("prompt-V20")
@given(VERSIONS, st.floats(0, 100), st.sampled_from(UNITS))
def test_a_thread_keeps_the_version_that_it_began_with(pinned: str, percent: float, unit: str):
    assert rollouts(("v2", percent)).version("one", unit, default="v1", pinned=pinned) == pinned


def test_lists_come_before_buckets_and_denial_before_all():
    arms = [{"version": "v2", "percent": 0, "allow": ["C1", "C2"]}, {"version": "v3", "percent": 100}]
    rollout = Rollouts({"one": Rollout.model_validate({"arms": arms, "deny": ["C2", "C3"]})})
    got = [rollout.version("one", unit, default="v1") for unit in ("C1", "C2", "C3", "C4")]
    assert got == ["v2", "v1", "v1", "v3"]


@pytest.mark.parametrize("stop", [{"enabled": False}, {"paused": True}])
def test_the_kill_switch_and_a_pause_take_every_thread_back(stop: dict[str, bool]):
    rollout = Rollout(arms=(Arm(version="v2", percent=100),), paused=stop.get("paused", False))
    stopped = Rollouts({"one": rollout}, enabled=stop.get("enabled", True))
    assert stopped.version("one", "C1", default="v1", pinned="v2") == "v1"


def test_an_agent_without_a_rollout_has_its_default():
    assert rollouts(("v2", 100)).version("two", "C1", default="v1") == "v1"


@pytest.mark.parametrize("percents", [(60, 50), (-1,), (101,)])
def test_shares_that_cannot_be_are_refused(percents: tuple[float, ...]):
    with pytest.raises(ValidationError):
        rollouts(*((f"v{number}", percent) for number, percent in enumerate(percents)))


def test_one_version_has_one_arm():
    with pytest.raises(ValidationError, match="two arms have the same version"):
        rollouts(("v2", 10), ("v2", 5))
