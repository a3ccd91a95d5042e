"""A change is taken back: by a press, as a proposal like any other; and by the clock, where nobody keeps it."""

import asyncio
from datetime import timedelta

import pytest

from chatops_bot.app.policy_config import PolicyConfig, RuleConfig
from chatops_bot.llm.scripted import ScriptedModel, calls
from tests.scenarios.conftest import Json, ShiftedClock, World, action_ids, everything, until
from tests.scenarios.test_change import ASKS, PAUSE, asked_for, is_paused

DONE = {"zh": "已执行：", "en": "Done: "}
BEFOREHAND = {"zh": "恢复任务 nightly-report (#1)", "en": "Resume task nightly-report (#1)"}
RESUME = "POST /api/v1/tasks/1/resume"


async def cards_of(world: World, ts: str, count: int, action: str = "") -> list[Json]:
    """The thread's messages after the first card, once there are so many; those that offer `action` alone, where it is given."""

    async def there() -> list[Json] | None:
        found = [m for m in (await world.thread(ts))[3:] if not action or action in str(action_ids(m))]
        return found if len(found) >= count else None

    cards: list[Json] = await until(there, f"{count} more cards")
    return cards


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_undo_is_proposed_by_a_press_and_runs_once_it_is_approved(world: World, language: str):
    async with world.bot():
        ts, card = await asked_for(world, ASKS[language])
        assert BEFOREHAND[language] in everything(card)
        await world.click("ana", card, "approve")
        done = await world.becomes(ts, card, DONE[language])
        await asyncio.gather(*(world.click(name, done, "undo") for name in ("oscar", "adam", "oscar")))
        (inverse,) = await cards_of(world, ts, 1, "approve")
        assert await is_paused(world)
        await world.click("ana", inverse, "approve")
        await world.becomes(ts, inverse, DONE[language])
        assert not await is_paused(world)
        assert "undo" not in str(action_ids(await world.becomes(ts, card, DONE[language])))
    assert len(world.to_scheduler.reached(RESUME)) == 1


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_what_nobody_keeps_is_taken_back_even_if_the_bot_was_away(world: World, language: str):
    clock = ShiftedClock()
    rules = PolicyConfig(rules=(RuleConfig(tools=("pause_task",), keep_minutes=10),))
    config = world.config(policy=rules)
    async with world.bot(clock=clock, config=config):
        ts, card = await asked_for(world, ASKS[language])
        assert "10" in everything(card)
        await world.click("ana", card, "approve")
        assert "keep" in str(action_ids(await world.becomes(ts, card, DONE[language])))
    clock.ahead = timedelta(minutes=11)
    async with world.bot(clock=clock, config=config):
        (back,) = await cards_of(world, ts, 1)
        await world.becomes(ts, back, DONE[language])
        assert not await is_paused(world)
    assert len(world.to_scheduler.reached(RESUME)) == 1


async def test_what_an_approver_keeps_stays(world: World):
    clock = ShiftedClock()
    rules = PolicyConfig(rules=(RuleConfig(tools=("pause_task",), keep_minutes=10),))
    async with world.bot(clock=clock, config=world.config(policy=rules)):
        ts, card = await asked_for(world, ASKS["en"])
        await world.click("ana", card, "approve")
        done = await world.becomes(ts, card, DONE["en"])
        await world.click("ana", done, "keep")

        async def kept() -> bool | None:
            now = next(m for m in await world.thread(ts) if m["ts"] == card["ts"])
            return True if "Kept by" in everything(now) and "keep" not in str(action_ids(now)) else None

        await until(kept, "a card that says who kept it")
        clock.ahead = timedelta(minutes=11)

        async def looked() -> bool | None:
            now = next(m for m in await world.thread(ts) if m["ts"] == card["ts"])
            return True if "Looked again" in everything(now) else None

        await until(looked, "a sweep after the time")
        assert await is_paused(world)
    assert len(world.to_scheduler.reached(PAUSE)) == 1


async def test_a_deleted_task_is_made_anew_by_undo_and_the_card_said_what_does_not_come_back(world: World):
    before = await world.task("nightly-report")
    model = ScriptedModel([calls(("delete_task", {"task_id": before["ID"]}))])
    rules = PolicyConfig(rules=(RuleConfig(keep_minutes=10),))
    async with world.bot(model, config=world.config(policy=rules)):
        ts, card = await asked_for(world, "delete nightly-report")
        shown = everything(card)
        assert (
            "In part: create task nightly-report anew with the same settings; its number, its past runs"
            in shown
        )
        assert "high: can be taken back only in part" in shown
        assert (
            "never by itself, although the rules say after 10 min: what is deleted comes back only in part"
            in shown
        )
        await world.click("adam", card, "approve")
        done = await world.becomes(ts, card, DONE["en"])
        await world.click("oscar", done, "undo")
        (inverse,) = await cards_of(world, ts, 1, "approve")
        assert everything(inverse).startswith("Approval needed: Create task nightly-report")
        await world.click("ana", inverse, "approve")
        await world.becomes(ts, inverse, DONE["en"])
    after = await world.task("nightly-report")
    same = ("Type", "Payload", "CronExpr", "Status", "TimeoutSeconds", "MaxRetry", "RetryPolicy")
    assert [after[name] for name in same] == [before[name] for name in same]
    assert after["ID"] != before["ID"]
