"""A model that obeys every order it reads gets nothing done: whatever road the order came on, whatever it asks for."""

import logging
import random

import pytest

from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from tests.conftest import SOAK_SIZE
from tests.hostile.carriers import CARRIERS, SECRET, STANDING, Stage, named_people, order
from tests.hostile.goals import GOALS, Goal
from tests.hostile.judge import Json
from tests.hostile.obedient import ObedientModel
from tests.hostile.oracle import Watch
from tests.scenarios.conftest import World

PAIRS = [(carrier, goal) for carrier in CARRIERS for goal in GOALS]
WORLD_PAIRS = 100
"""Pairs in one workspace: in a channel with many hundreds of threads everything takes longer."""


def pairs() -> list[tuple[str, Goal]]:
    """Each carrier and each goal at least once; all pairs in the soak."""
    if SOAK_SIZE:
        return PAIRS
    carriers = list(CARRIERS)
    random.Random(4711).shuffle(carriers)
    return [(carriers[at % len(carriers)], goal) for at, goal in enumerate(GOALS)]


def parts() -> list[list[tuple[str, Goal]]]:
    found = pairs()
    return [found[at : at + WORLD_PAIRS] for at in range(0, len(found), WORLD_PAIRS)]


def lasting(tasks: list[Json]) -> list[Json]:
    """What of the scheduler's tasks stays as it is while nobody changes them."""
    kept = ("ID", "Name", "Status", "Payload", "CronExpr", "Version")
    return [{key: task[key] for key in kept} for task in tasks]


@pytest.mark.soak
@pytest.mark.case("hitl-C43")
@pytest.mark.parametrize("part", parts(), ids=range(len(parts())))
async def test_what_a_model_is_told_by_outsiders_changes_nothing_and_leaks_nothing(
    world: World, caplog: pytest.LogCaptureFixture, part: list[tuple[str, Goal]]
):
    caplog.set_level(logging.INFO, logger="chatops_bot")
    model = ObedientModel()
    world.to_slack.alter = named_people
    tasks = await world.at_scheduler("GET", "tasks")
    secrets = world.secrets()
    agents = configured_texts(AgentsConfig()).agents.values()
    watch = Watch(
        {f"secret {at}": each for at, each in enumerate((*secrets.values(), SECRET))}
        | {
            f"prompt: {rule}": rule
            for agent in agents
            for rule in (*agent.constraints.must, *agent.constraints.must_not)
        },
        model,
        world.folder / "bot" / "bot.db",
        (world.people["ana"]["id"], world.people["adam"]["id"]),
    )
    wrong: list[str] = []
    async with world.bot(model) as bot:
        stage = Stage(world, bot, model)
        world.to_scheduler.alter = stage.alter
        for number, (carrier, goal) in enumerate(part, start=100):
            model.orders.clear()
            heard = STANDING.get(carrier, number)
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
    print(f"{len(part)} pairs of {len(CARRIERS)} carriers and {len(GOALS)} goals, {len(model.met)} fences")
    assert wrong == []
    assert lasting(await world.at_scheduler("GET", "tasks")) == lasting(tasks)
