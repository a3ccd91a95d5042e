"""A policy that nobody could meet starts nothing, and one that nobody can meet any more is told once."""

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from chatops_bot.app.clock import SystemClock
from chatops_bot.app.config import Config, Secrets, load_config
from chatops_bot.app.known_tools import KNOWN_SPECS
from chatops_bot.app.policy_check import MOST_LOOKED_AT, PolicyWatch, known_people, sound_policy
from chatops_bot.app.policy_config import PolicyConfig, RolesConfig, RuleConfig, ScopeConfig
from chatops_bot.app.registry import open_registry
from chatops_bot.app.skills import skills_of
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.tool import OF_THE_AGENT
from chatops_bot.tools.registry import Registry
from tests.sessions.test_answer import Wall
from tests.small_tools import Look, Switch
from tests.tracked import ROOT

TOOLS = Registry([Look(), Switch()])
SCHEDULER = {
    "url": "http://127.0.0.1:1",
    "accounts": {name: {"username": name, "password_env": name} for name in ("viewer", "operator", "admin")},
}


def config(rule: dict[str, object], people: dict[str, str], **more: object) -> Config:
    return Config.model_validate(
        {"scheduler": SCHEDULER, "roles": {"people": people}, "policy": {"rules": [rule]}, **more}
    )


@dataclass
class Company:
    """A directory and the members of its one group; `gone` are those who left."""

    gone: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        self.asked.append(user_id)
        role = Role.OPERATOR if user_id == "U5" else Role.APPROVER
        return Person(user_id, user_id, Role.GUEST if user_id in self.gone else role)

    async def members(self, group: str) -> frozenset[str]:
        return frozenset({"U3", "U4"})


async def test_what_the_page_shows_starts(tmp_path: Path):
    page = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    shown = "".join(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    path = tmp_path / "bot.yaml"
    path.write_text(yaml.safe_dump({"scheduler": SCHEDULER}) + shown)
    there = load_config(path)
    async with open_registry(
        there, Secrets("", "", {}, None, ""), SystemClock(), skills_of(there)
    ) as registry:
        policy = sound_policy(there, registry)
    assert (len(policy.rules), len(policy.freezes)) == (3, 3)
    keys = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert keys == set(RuleConfig.model_fields) - set(ScopeConfig.model_fields)


@pytest.mark.case("hitl-C39")
def test_a_policy_that_nobody_could_meet_starts_nothing():
    with pytest.raises(
        ConfigInvalid, match=r"^policy\.rules\.0: by policy\.rules\.0, switch \(high risk\) takes 3 approvals"
    ):
        sound_policy(config({"count": 3}, {"U1": "admin", "U2": "admin"}), TOOLS)
    with pytest.raises(ConfigInvalid, match="there is no tool swich"):
        sound_policy(config({"tools": ["swich"]}, {"U1": "admin"}), TOOLS)


@pytest.mark.parametrize("name", OF_THE_AGENT)
def test_a_rule_about_a_tool_of_the_agent_itself_is_known_even_while_the_tool_is_off(name: str):
    assert sound_policy(config({"tools": [name]}, {"U1": "admin"}), TOOLS).rules


async def test_the_registry_that_is_looked_at_has_every_tool_of_the_bot(tmp_path: Path):
    path = tmp_path / "bot.yaml"
    path.write_text(yaml.safe_dump({"scheduler": SCHEDULER}))
    there, secrets = load_config(path), Secrets("", "", {}, None, "")
    async with open_registry(there, secrets, SystemClock(), skills_of(there), routed=True) as registry:
        assert registry.names == {spec.name for spec in KNOWN_SPECS} >= set(OF_THE_AGENT)


def test_a_lesser_flaw_is_logged_and_starts(caplog: pytest.LogCaptureFixture):
    policy = sound_policy(config({"own": False}, {"U1": "admin", "U5": "operator"}), TOOLS)
    assert [rule.own for rule in policy.rules] == [False]
    assert "what U1 asks for with switch" in caplog.text


@pytest.mark.case("hitl-C39")
async def test_an_approver_who_left_is_missed_and_told_once(caplog: pytest.LogCaptureFixture):
    there = config(
        {"count": 2}, {"U1": "approver", "U2": "approver", "U5": "operator"}, alerts={"channel": "C1"}
    )
    wall, company = Wall(), Company()
    wall.replies.set()
    watch = PolicyWatch(there, there.make_policy(), TOOLS, company, company.members, wall, pause=0.001)
    assert await watch.look() == []
    company.gone = {"U2"}
    for _ in range(2):
        (sentence,) = await watch.look()
        assert "switch (high risk) takes 2 approvals, and fewer people may give one" in sentence
    assert len(wall.posted) == 1
    assert sentence in str(wall.shown)
    assert sentence in caplog.text


async def test_of_several_bots_one_looks():
    there = config({"count": 2}, {"U1": "approver"})
    company, over = Company(), asyncio.Event()
    watch = PolicyWatch(there, there.make_policy(), TOOLS, company, company.members, Wall(), pause=0.001)
    turns, seen = iter([False, True]), []

    async def is_mine() -> bool:
        seen.append(len(company.asked))
        mine = next(turns, None)
        if mine is None:
            over.set()
        return bool(mine)

    watching = asyncio.create_task(watch.watch(is_mine, first=0, every=0))
    try:
        await asyncio.wait_for(over.wait(), 20)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    assert seen[:3] == [0, 0, 1], (
        "how many people were looked at: not before it was this one's to do, and not after"
    )


async def test_of_a_crowd_nobody_is_looked_at():
    company = Company()
    few = config({"approve": {"groups": ["S1"]}}, {"U1": "approver", "local:root": "admin"})
    assert [one.id for one in await known_people(few, company, company.members) or []] == ["U1", "U3", "U4"]
    many = few.model_copy(
        update={
            "roles": RolesConfig(people={f"U{n}": "admin" for n in range(MOST_LOOKED_AT)}),
            "policy": PolicyConfig(),
        }
    )
    assert len(await known_people(many, company, company.members) or []) == MOST_LOOKED_AT
    more = many.model_copy(
        update={
            "policy": few.policy,
            "roles": RolesConfig(people={f"W{n}": "admin" for n in range(MOST_LOOKED_AT)}),
        }
    )
    assert await known_people(more, company, company.members) is None


def test_rules_that_change_nothing_are_logged_at_the_start(caplog: pytest.LogCaptureFixture):
    rule: dict[str, object] = {"remind_minutes": 500}
    sound_policy(config(rule, {"U1": "approver", "U2": "admin"}), TOOLS)
    assert "policy.rules.0: nobody is reminded after remind_minutes: 500" in caplog.text
