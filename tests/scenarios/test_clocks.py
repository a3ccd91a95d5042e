"""Scenario: people who are elsewhere than the scheduler say times on their own clock, and see both wherever a schedule is told."""

import re

import pytest

from tests.scenarios.conftest import World, everything
from tests.scenarios.test_forms import asked_for, card_in, dialog

SAID = {
    "en": "create a task nightly-x of type shell every night at 2 running `ls`",
    "zh": "创建 shell 任务 nightly-x，每天凌晨2点执行 `ls`",
}
BOTH = {
    "en": re.compile(r"02:00 Europe/Lisbon is 0[12]:00 / 0[12]:00 on the scheduler's clock \(UTC\)"),
    "zh": re.compile(r"02:00 Europe/Lisbon 在调度服务的时钟（UTC）上是 0[12]:00 / 0[12]:00"),
}


@pytest.mark.case("prompt-P10")
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_night_of_the_asker_becomes_the_schedulers_and_the_card_says_both(
    world: World, language: str
):
    async with world.bot():
        ts = await world.says("oscar", f"{world.mention} {SAID[language]}")
        card = everything(await card_in(world, ts))
    assert "0 18 * * *" in card
    assert len(re.findall(r"18:00 UTC = \d{4}-\d\d-\d\d 02:00 Asia/Shanghai", card)) == 3


@pytest.mark.case("prompt-P10")
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_where_daylight_saving_leaves_no_exact_schedule_both_are_said_and_a_form_asks(
    world: World, language: str
):
    async with world.bot():
        ts, form = await asked_for(world, SAID[language], "ana")
        said = "".join(map(everything, await world.thread(ts)))
        view = str(await dialog(world, "ana", form))
    assert BOTH[language].search(said)
    assert {"en": "Every night at 02:00 UTC", "zh": "每天 02:00（UTC）"}[language] in view
    assert {"en": "read in UTC, not in Europe/Lisbon", "zh": "按 UTC 解读，不是 Europe/Lisbon"}[
        language
    ] in view
