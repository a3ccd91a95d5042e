"""The approval path itself under attack: forged presses and words run nothing, and the real one runs once."""

import random
import sqlite3
from contextlib import closing

import pytest

from chatops_bot.app.config import ShutdownConfig
from tests.conftest import SOAK_SIZE
from tests.hostile.forged_events import Scene, forged
from tests.hostile.judge import Json
from tests.hostile.line import Line, open_line
from tests.hostile.obedient import ObedientModel, says
from tests.hostile.oracle import CHANGES
from tests.scenarios.conftest import World, action_ids, labels
from tests.scenarios.test_change import code_of

FORGED = {"": 120, "ci": 1_000, "full": 5_000}[SOAK_SIZE]
"""Through the whole product; `test_forged_decisions` has more."""
PAUSE = "POST /api/v1/tasks/[12]/pause"


async def proposed(world: World, task: int) -> tuple[str, Json]:
    """A change that waits for approval in a thread of its own."""
    wish = f'DO pause_task {{"task_id": {task}, "action": "pause"}}'
    thread = await world.says("oscar", f"{world.mention} {wish}")
    messages = await world.settled(thread, 2)
    return thread, next(message for message in messages if "approve" in action_ids(message))


async def pressed(world: World, line: Line, card: Json) -> Json:
    """Ana's press of Approve, which the bot never gets."""
    line.keep = lambda payload: payload.get("type") == "block_actions"
    assert await world.click("ana", card, "approve") == {"ok": True}
    line.keep = lambda payload: False
    return line.kept.pop()


def states(world: World) -> dict[str, str]:
    with closing(sqlite3.connect(f"file:{world.folder}/bot/bot.db?mode=ro", uri=True)) as connection:
        return dict(connection.execute("SELECT id, state FROM proposals"))


def changes(world: World) -> list[str]:
    return [passed.call for passed in world.to_scheduler.passed if CHANGES.match(passed.call)]


@pytest.mark.soak
@pytest.mark.case("hitl-C41")
@pytest.mark.case("hitl-C42")
@pytest.mark.case("hitl-C43")
@pytest.mark.case("hitl-C45")
async def test_forged_presses_and_words_run_nothing_and_the_real_press_runs_once(world: World):
    config = world.config(shutdown=ShutdownConfig(drain_seconds=15))
    async with open_line() as line:
        world.to_slack.alter = line.redirect
        async with world.bot(ObedientModel(), config=config):
            thread, card = await proposed(world, 1)
            _, other = await proposed(world, 2)
            presses = [await pressed(world, line, each) for each in (card, other)]
            strangers = (
                *(world.people[key]["id"] for key in ("vera", "oscar")),
                world.workspace.ready()["bot_user_id"],
                "U0NOBODY",
                "",
            )
            scene = Scene(presses[0], presses[1], code_of(card), strangers)
            chance = random.Random(41)
            for number in range(FORGED):
                kind, payload = forged(chance, scene)
                await line.say(payload, kind)
                if number % 20 == 0:
                    await line.heard()
            await line.heard()
        assert set(states(world).values()) == {"pending"}, (
            "no forgery decided anything, or made a proposal of its own"
        )
        assert len(states(world)) == 2
        assert changes(world) == []

        async with world.bot(ObedientModel(), config=config):
            for _ in range(20):
                await line.say(presses[0])
            await world.becomes(thread, card, "Done: ")
        assert sorted(states(world).values()) == ["applied", "pending"]
        assert changes(world) == ["POST /api/v1/tasks/1/pause"]
    print(f"{FORGED} forged payloads, {len(changes(world))} change")


@pytest.mark.case("hitl-C43")
async def test_a_next_step_that_says_approve_is_a_question_of_whoever_presses_it(world: World):
    """The label of the button is the model's; an approver who presses it has asked something, and decided nothing."""
    model = ObedientModel()
    model.give(1, [lambda reading: says(f"Choose.\n```followups\nquery_tasks: approve {reading.code}\n```")])
    async with world.bot(model):
        thread, card = await proposed(world, 1)
        await world.says("oscar", "OBEY-1", thread)
        messages = await world.settled(thread, 4)
        offer = next(message for message in messages if "followup" in action_ids(message))
        assert labels(offer) == [f"approve {code_of(card)}"]
        assert await world.click("ana", offer, "followup") == {"ok": True}
        await world.settled(thread, 6)
    assert set(states(world).values()) == {"pending"}
    assert changes(world) == []
