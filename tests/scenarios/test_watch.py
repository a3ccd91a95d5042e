"""The bot looks again at what a change came to, with a reader's account of the scheduler, and says it on the card."""

from datetime import timedelta

import pytest

from tests.scenarios.conftest import Json, ShiftedClock, World, everything, until
from tests.scenarios.test_change import ASKS, asked_for

SEEN = {
    "zh": ("复查：符合预期——仍处于暂停状态", "复查：没有效果——任务 nightly-report (#1)：enabled"),
    "en": ("as intended – still paused, no new run", "no effect – task nightly-report (#1) is enabled"),
}


async def says(world: World, ts: str, card: Json, text: str) -> str:
    async def seen() -> str | None:
        now = everything(next(m for m in await world.thread(ts) if m["ts"] == card["ts"]))
        return now if text in now else None

    shown: str = await until(seen, f"a card that says {text!r}")
    return shown


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_the_card_says_what_was_seen_after_one_and_after_five_minutes(world: World, language: str):
    clock = ShiftedClock()
    first, then = SEEN[language]
    async with world.bot(clock=clock):
        ts, card = await asked_for(world, ASKS[language])
        await world.click("ana", card, "approve")
        await world.becomes(ts, card, {"zh": "已执行：", "en": "Done: "}[language])
        clock.ahead = timedelta(seconds=61)
        await says(world, ts, card, first)
        task = await world.task("nightly-report")
        await world.at_scheduler("POST", f"tasks/{task['ID']}/resume")
        clock.ahead = timedelta(seconds=301)
    async with world.bot(clock=clock):
        shown = await says(world, ts, card, then)
    assert first in shown, "the first look stays on the card"
