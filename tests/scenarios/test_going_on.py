"""After a decision: why it was rejected, and a turn that goes on from what came of it."""

import asyncio

import pytest

from chatops_bot.domain.model import RecordMessage, UserMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.scenarios.conftest import Json, World, action_ids, everything, until, visible
from tests.scenarios.filling import dialog_of, filling
from tests.scenarios.test_change import ASKS, asked_for, told

REJECTED = {"zh": "已拒绝：", "en": "Rejected: "}
DONE = {"zh": "已执行：", "en": "Done: "}
WHY = {"zh": "为什么拒绝提案 ", "en": "Why was proposal "}
PAUSES = calls(("pause_task", {"task_id": 1, "action": "pause"}), text="I will ask.")


async def answered(world: World, ts: str, text: str) -> None:
    async def there() -> bool | None:
        return True if any(text in visible(message) for message in await world.thread(ts)) else None

    await until(there, f"the answer {text!r}")


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_reject_takes_one_press_and_its_reason_reaches_the_model(world: World, language: str):
    model = ScriptedModel([PAUSES, says("I see.")])
    async with world.bot(model):
        ts, card = await asked_for(world, ASKS[language])
        await world.click("ana", card, "reject")
        rejected = await world.becomes(ts, card, REJECTED[language])
        await world.click("adam", rejected, "reason")
        assert await told(world, "adam")
        await world.click("ana", rejected, "reason")
        dialog = await dialog_of(world, "ana")
        label = next(b["label"]["text"] for b in dialog["blocks"] if b["type"] == "input")
        assert label.startswith(WHY[language])
        fill = filling(dialog["blocks"], {label: "backup <!channel> runs"})
        await world.sim("submit", person="ana", view_id=dialog["id"], values=fill)

        async def explained() -> Json | None:
            now = next(m for m in await world.thread(ts) if m["ts"] == card["ts"])
            return now if "backup" in everything(now) else None

        shown = await until(explained, "a card with the reason")
        assert "reason" not in str(action_ids(shown))
        await world.says("oscar", f"{world.mention} ok", ts)
        await answered(world, ts, "I see.")
    (record,) = [
        m.text for m in model.requests[-1].messages if isinstance(m, RecordMessage) and "backup" in m.text
    ]
    assert record.startswith("[UNTRUSTED DATA nonce=")
    assert "rejected" in record


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_continue_begins_one_turn_that_knows_the_outcome(world: World, language: str):
    model = ScriptedModel([PAUSES, says("It is paused now.")])
    async with world.bot(model):
        ts, card = await asked_for(world, ASKS[language])
        await world.click("ana", card, "approve")
        done = await world.becomes(ts, card, DONE[language])
        await asyncio.gather(*(world.click(name, done, "continue") for name in ("ana", "oscar", "ana")))
        await answered(world, ts, "It is paused now.")
    request = model.requests[-1]
    (asked,) = [m.text for m in request.messages if isinstance(m, UserMessage)][1:]
    assert ("结果如何" if language == "zh" else "did it work?") in asked
    assert any("applied" in m.text for m in request.messages if isinstance(m, RecordMessage))
