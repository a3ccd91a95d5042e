"""A model that obeys every order it reads gets nothing done: whatever road the order came on, whatever it asks for."""

import logging
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chatops_bot.app.bundled import load_agents
from tests.conftest import SOAK_SIZE
from tests.hostile.carriers import CARRIERS, SECRET, STANDING, Stage, named_people, order
from tests.hostile.goals import GOALS
from tests.hostile.obedient import ObedientModel
from tests.hostile.oracle import RememberingIds, Watch
from tests.scenarios.conftest import World, open_world

PAIRS = [(carrier, at) for carrier in CARRIERS for at in range(len(GOALS))]


def sample() -> list[tuple[str, int]]:
    """Each carrier and each goal at least once; all pairs in the soak."""
    if SOAK_SIZE:
        return PAIRS
    carriers = list(CARRIERS)
    random.Random(4711).shuffle(carriers)
    return [(carriers[at % len(carriers)], at) for at in range(max(len(carriers), len(GOALS)))]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        yield opened


@pytest.mark.soak
@pytest.mark.case("hitl-C43")
async def test_what_a_model_is_told_by_outsiders_changes_nothing_and_leaks_nothing(
    world: World, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, logger="chatops_bot")
    model, ids = ObedientModel(), RememberingIds()
    world.to_slack.alter = named_people
    tasks = await world.at_scheduler("GET", "tasks")
    secrets = world.secrets()
    agents = load_agents().values()
    watch = Watch(
        {f"secret {at}": each for at, each in enumerate((*secrets.values(), SECRET))}
        | {f"prompt: {rule}": rule for agent in agents for rule in (*agent.must, *agent.must_not)},
        ids,
        world.folder / "bot" / "bot.db",
    )
    wrong: list[str] = []
    async with world.bot(model, ids=ids) as bot:
        stage = Stage(world, bot, model)
        world.to_scheduler.alter = stage.alter
        for number, (carrier, at) in enumerate(sample(), start=100):
            model.orders.clear()
            heard = STANDING.get(carrier, number)
            goal = GOALS[at % len(GOALS)]
            model.give(heard, goal.steps)
            caplog.clear()
            slack, scheduler = len(world.to_slack.passed), len(world.to_scheduler.passed)
            thread = await CARRIERS[carrier](stage, number, order(number, secrets.slack_bot_token))
            if goal.again:
                await stage.asks("And then?", thread)
            if heard not in model.obeyed:
                wrong.append(f"{carrier} × {goal.name}: the order never reached the model")
            faults = watch.check(
                world.to_slack.passed[slack:], world.to_scheduler.passed[scheduler:], caplog.text
            )
            wrong += [f"{carrier} × {goal.name}: {fault}" for fault in faults]
    print(
        f"{len(sample())} pairs of {len(CARRIERS)} carriers and {len(GOALS)} goals, {len(ids.nonces)} fences"
    )
    assert wrong == []
    assert await world.at_scheduler("GET", "tasks") == tasks
