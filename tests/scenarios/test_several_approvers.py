"""Scenario 2 where it takes two people, where somebody is late, and where things changed: through the chat and its buttons."""

import asyncio
from datetime import timedelta

import pytest

from chatops_bot.app.config import LocalConfig
from chatops_bot.app.policy_config import PolicyConfig, RuleConfig
from chatops_bot.domain.people import Effect
from tests.scenarios.conftest import ShiftedClock, World, action_ids, everything, until
from tests.scenarios.test_change import PAUSE, asked_for, code_of, is_paused, pausing, told


async def test_two_people_approve_what_takes_two_and_it_runs_once(world: World):
    rules = PolicyConfig(rules=(RuleConfig(effects=(Effect.WRITE,), count=2),))
    async with world.bot(pausing(), config=world.config(policy=rules)):
        ts, card = await asked_for(world, "pause it please")
        await world.click("ana", card, "approve")

        async def counted() -> bool | None:
            now = next(m for m in await world.thread(ts) if m["ts"] == card["ts"])
            return True if "Ana Duarte" in everything(now) and "approve" in action_ids(now) else None

        await until(counted, "a card that tells of the first approval")
        assert not await is_paused(world)
        await world.click("ana", card, "approve")
        assert (await told(world, "ana")).startswith("Your approval counts already")
        await world.says("adam", f"approve {code_of(card)}", ts)
        done = await world.becomes(ts, card, "Done: ")
    assert "Ana Duarte" in everything(done)
    assert len(world.to_scheduler.reached(PAUSE)) == 1


@pytest.mark.case("hitl-C01")
async def test_both_of_two_approvers_who_press_at_once_are_counted(world: World):
    rules = PolicyConfig(rules=(RuleConfig(effects=(Effect.WRITE,), count=2),))
    async with world.bot(pausing(), config=world.config(policy=rules)):
        ts, card = await asked_for(world, "pause it please")
        await asyncio.gather(world.click("ana", card, "approve"), world.click("adam", card, "approve"))
        await world.becomes(ts, card, "Done: ")
    assert len(world.to_scheduler.reached(PAUSE)) == 1


@pytest.mark.case("hitl-C23")
async def test_an_approval_at_this_machine_is_one_of_several(world: World):
    rules = PolicyConfig(rules=(RuleConfig(effects=(Effect.WRITE,), count=2),))
    config = world.config(policy=rules, local=LocalConfig(role="approver"))
    async with world.bot(pausing(), config=config), world.local_api() as api:
        ts, card = await asked_for(world, "pause it please")
        for is_done in (True, False):  # the second one counts already
            async with api.post("/approve", json={"code": code_of(card)}) as answer:
                assert (await answer.json())["is_done"] is is_done
        assert not await is_paused(world)
        await world.click("ana", card, "approve")
        await world.becomes(ts, card, "Done: ")


async def test_what_drifted_is_proposed_again_by_a_press_and_runs_as_things_are_now(world: World):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        task = await world.task("nightly-report")
        kept = ("Name", "Type", "Payload", "MaxRetry", "TimeoutSeconds")
        names = ("name", "type", "payload", "max_retry", "timeout_seconds")
        body = {name: task[field] for name, field in zip(names, kept, strict=True)}
        await world.at_scheduler("PUT", f"tasks/{task['ID']}", body | {"cron_expr": "5 5 * * *"})
        await world.click("ana", card, "approve")
        drifted = await world.becomes(ts, card, "Not run, things changed: ")
        await asyncio.gather(*(world.click("adam", drifted, "again") for _ in range(3)))

        async def proposed() -> object | None:
            found = [m for m in await world.thread(ts) if "approve" in action_ids(m)]
            return found[0] if found else None

        new = await until(proposed, "a new card")
        assert world.people["adam"]["id"] in everything(new)
        await world.becomes(ts, card, "Replaced: ")
        await world.click("ana", new, "approve")
        await world.becomes(ts, new, "Done: ")
        assert len(await world.thread(ts)) == 4, "question, answer, and two cards"
    assert len(world.to_scheduler.reached(PAUSE)) == 1


@pytest.mark.case("hitl-C36")
async def test_a_reject_that_comes_too_late_is_kept_and_told_as_late(world: World):
    clock = ShiftedClock()
    async with world.bot(pausing(), clock=clock):
        ts, card = await asked_for(world, "pause it please")
        clock.ahead = timedelta(minutes=61)
        await world.says("ana", f"reject {code_of(card)} because the backup still runs", ts)
        assert (await told(world, "ana")).startswith("Rejected, after it had expired at ")
        done = await world.becomes(ts, card, "Rejected: ")
    assert "the backup still runs" in everything(done)
    assert world.to_scheduler.reached(PAUSE) == []
