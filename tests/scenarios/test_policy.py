"""The rules of an installation through the whole product: a group that approves, a channel, a freeze, and who is told what."""

from datetime import UTC, datetime, timedelta

import pytest

from chatops_bot.app.config import LocalConfig
from chatops_bot.app.policy_config import FreezeConfig, PolicyConfig, RolesConfig, RuleConfig, WhoConfig
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.scenarios.conftest import World, everything
from tests.scenarios.test_audit import records
from tests.scenarios.test_change import PAUSE, asked_for, code_of, is_paused, pausing, told


def leads(world: World) -> str:
    """The simulated workspace's user group of ana and adam."""
    return str(world.workspace.ready()["groups"]["incident-leads"])


@pytest.mark.case("hitl-C32")
async def test_a_user_group_gives_its_members_their_role_and_being_in_the_channel_gives_nobody_one(
    world: World,
):
    ids = {name: person["id"] for name, person in world.people.items()}
    roles = RolesConfig(
        people={ids["vera"]: "viewer"},
        groups={leads(world): "approver"},
        channels={world.incidents: "operator"},
    )
    async with world.bot(pausing(), config=world.config(roles=roles)):
        ts, card = await asked_for(world, "pause it please")
        await world.click("oscar", card, "approve")
        assert (await told(world, "oscar")).startswith("Role operator may not approve this change")
        await world.says("vera", f"approve {code_of(card)}", ts)
        assert (await told(world, "vera")).startswith("Role viewer may not approve this change")
        assert not await is_paused(world)
        await world.click("ana", card, "approve")
        assert "Ana Duarte" in everything(await world.becomes(ts, card, "Done: "))
    assert len(world.to_scheduler.reached(PAUSE)) == 1


@pytest.mark.case("hitl-C38")
async def test_whom_a_rule_does_not_name_is_refused_on_every_road(world: World):
    rule = RuleConfig(
        tools=("pause_task",),
        approve=WhoConfig(groups=(leads(world),)),
        deny=WhoConfig(people=(world.people["adam"]["id"],)),
    )
    config = world.config(policy=PolicyConfig(rules=(rule,)), local=LocalConfig(role="admin"))
    async with world.bot(pausing(), config=config), world.local_api() as api:
        ts, card = await asked_for(world, "pause it please")
        await world.click("adam", card, "approve")
        assert (await told(world, "adam")).startswith("The policy rules you out for pause_task")
        await world.says("adam", f"approve {code_of(card)}", ts)
        assert (await told(world, "adam", 2)).startswith("The policy rules you out for pause_task")
        async with api.post("/approve", json={"code": code_of(card)}) as answer:
            refused = await answer.json()
        assert not refused["is_done"]
        assert "You are not among those whom the policy names" in str(refused["views"])
        assert not await is_paused(world)
        await world.click("ana", card, "approve")
        await world.becomes(ts, card, "Done: ")


async def test_a_freeze_is_broken_with_a_reason_that_the_card_and_the_audit_keep(world: World):
    now = datetime.now(UTC)
    freeze = FreezeConfig.model_validate(
        {
            "from": f"{now - timedelta(hours=1):%Y-%m-%d %H:%M}",
            "to": f"{now + timedelta(hours=1):%Y-%m-%d %H:%M}",
            "break_glass": ["admin"],
        }
    )
    config = world.config(policy=PolicyConfig(freezes=(freeze,)))
    async with world.bot(pausing(), config=config):
        ts, card = await asked_for(world, "pause it please")
        await world.click("ana", card, "approve")
        typed = f"approve {code_of(card)} break-glass: reason"
        assert f"; an admin may break the glass by typing: {typed}" in everything(card)
        assert f"an admin may break the glass with “{typed}”" in await told(world, "ana")
        await world.says("ana", f"approve {code_of(card)} break-glass: I want to", ts)
        assert "an admin may break the glass" in await told(world, "ana", 2)
        await world.click("adam", card, "approve")
        refused = await told(world, "adam")
        assert refused.startswith("Frozen until ")
        assert refused.endswith(f"type “{typed}”.")
        assert not await is_paused(world)
        await world.says("adam", f"approve {code_of(card)} break-glass: the site is down", ts)
        done = everything(await world.becomes(ts, card, "Done: "))
    assert "the site is down" in done
    assert "I want to" not in done
    (broken,) = [row for row in records(world) if row.decision == "broke_glass"]
    assert (broken.person_id, "the site is down" in broken.result) == (world.people["adam"]["id"], True)
    assert len(world.to_scheduler.reached(PAUSE)) == 1


async def test_the_channel_where_a_change_may_be_asked_for_is_said_by_its_name(world: World):
    ops = world.workspace.ready()["channels"]["ops"]
    rule = RuleConfig(tools=("pause_task",), only_in=(world.incidents, ops))
    config = world.config(policy=PolicyConfig(rules=(rule,)), local=LocalConfig(role="admin"))
    async with world.bot(pausing(), config=config), world.local_api() as api:
        _, card = await asked_for(world, "pause it please")
        async with api.post("/approve", json={"code": code_of(card)}) as answer:
            refused = str((await answer.json())["views"])
        assert "#incidents" in refused
        assert "#ops" in refused
        assert ops not in refused
    only_there = RuleConfig(tools=("pause_task",), only_in=(ops,))
    model = ScriptedModel([calls(("pause_task", {"task_id": 1, "action": "pause"})), says("Not here.")])
    async with world.bot(model, config=world.config(policy=PolicyConfig(rules=(only_there,)))):
        ts = await world.says("oscar", f"{world.mention} pause it please")
        (*_, reply) = await world.settled(ts, 1)
        leaves = [
            leaf
            for block in reply["blocks"]
            if block["type"] == "rich_text"
            for leaf in block["elements"][0]["elements"]
        ]
        assert [leaf["channel_id"] for leaf in leaves if leaf["type"] == "channel"] == [ops]
