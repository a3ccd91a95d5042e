"""Which version of an agent's text a thread gets while a new one is rolled out.

Every unit, the channel that a thread is in, falls into one of 10,000 buckets by a hash of salt, agent and unit: the same in
every process, for ever. Arms take the buckets from the first one on, in their order, so raising the share of an arm keeps all
that it has. What no arm takes stays with the default version. A thread keeps the version that it began with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

BUCKETS = 10_000

VersionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,32}$")]

Unit = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class Arm(BaseModel):
    """A version, the share of units that get it by their bucket, and those that get it whatever their bucket is."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    version: VersionName
    percent: float = Field(ge=0, le=100)
    allow: tuple[Unit, ...] = ()


class Rollout(BaseModel):
    """The arms of one agent. Units in `deny` get the default version; `paused` gives it to everybody at once."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    arms: tuple[Arm, ...] = ()
    deny: tuple[Unit, ...] = ()
    salt: str = Field(default="", max_length=100)
    paused: bool = False

    @model_validator(mode="after")
    def _shares_fit(self) -> "Rollout":
        if sum(arm.percent for arm in self.arms) > 100:
            raise ValueError("the arms take more than 100 percent together")
        versions = [arm.version for arm in self.arms]
        if len(set(versions)) < len(versions):
            raise ValueError("two arms have the same version")
        return self


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Those of all agents. With `enabled` false, which is the kill switch, every thread gets the default version."""

    agents: Mapping[str, Rollout] = field(default_factory=dict)
    enabled: bool = True

    def version(self, agent_id: str, unit: str, *, default: str, pinned: str = "") -> str:
        """The version for a thread in `unit`, which began with `pinned` if that is not empty.

        Only the kill switch and a pause take a thread from the version that it began with: then a text is out that must not be.
        """
        rollout = self.agents.get(agent_id)
        if not self.enabled or rollout is None or rollout.paused:
            return default
        if pinned:
            return pinned
        if unit in rollout.deny:
            return default
        for arm in rollout.arms:
            if unit in arm.allow:
                return arm.version
        return _by_bucket(rollout, bucket(rollout.salt, agent_id, unit)) or default


def bucket(salt: str, agent_id: str, unit: str) -> int:
    """From 0 to 9,999, evenly."""
    return int.from_bytes(sha256("\0".join((salt, agent_id, unit)).encode()).digest()) % BUCKETS


def _by_bucket(rollout: Rollout, number: int) -> str:
    """The version whose arm takes the bucket; empty when none does."""
    end = 0.0
    for arm in rollout.arms:
        end += arm.percent * BUCKETS / 100
        if number < end:
            return arm.version
    return ""
