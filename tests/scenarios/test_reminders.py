"""A card calls those who may approve when it is posted, asks once more by a message of its own, then asks the next people."""

from datetime import timedelta

import pytest

from chatops_bot.app.policy_config import PolicyConfig, RuleConfig, WhoConfig
from tests.scenarios.conftest import Json, ShiftedClock, World, everything, until
from tests.scenarios.test_change import ASKS, asked_for

SAYS = {
    "zh": ("仍在等待批准或拒绝：暂停任务 nightly-report (#1)", "还没有人决定提案", "[打开卡片]("),
    "en": (
        "still waits for an approve or a reject: Pause task nightly-report (#1)",
        "Nobody has decided about",
        "[Open the card](",
    ),
}


async def saying(world: World, ts: str, text: str) -> Json:
    """The message of a thread that says `text`, once there is one."""

    async def found() -> Json | None:
        said = [message for message in await world.thread(ts) if text in everything(message)]
        assert len(said) < 2, "said twice"
        return said[0] if said else None

    message: Json = await until(found, f"a message that says {text!r}")
    return message


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_card_calls_asks_again_and_escalates(world: World, language: str):
    clock, ids = ShiftedClock(), {name: person["id"] for name, person in world.people.items()}
    rules = PolicyConfig(rules=(RuleConfig(remind_minutes=20, escalate=WhoConfig(people=(ids["adam"],))),))
    again, escalated, link = SAYS[language]
    async with world.bot(clock=clock, config=world.config(policy=rules)):
        ts, card = await asked_for(world, ASKS[language])
        assert f"<@{ids['ana']}>" in everything(card)
        assert f"<@{ids['oscar']}>" not in everything(card)
        clock.ahead = timedelta(minutes=21)
        first = everything(await saying(world, ts, again))
        assert f"<@{ids['ana']}>" in first
        assert link in first
        clock.ahead = timedelta(minutes=46)
        last = everything(await saying(world, ts, escalated))
        assert f"<@{ids['adam']}>" in last
        assert f"<@{ids['ana']}>" not in last
        await world.click("ana", card, "approve")
        await world.becomes(ts, card, {"zh": "已执行：", "en": "Done: "}[language])
    assert len(await world.thread(ts)) == 5, "question, answer, card, and two reminders"
