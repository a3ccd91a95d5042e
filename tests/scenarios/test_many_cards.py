"""Many changes asked for in one model message: a card each, decided one by one, and no call without a result."""

import re
from contextlib import closing

import pytest

from chatops_bot.llm.scripted import ScriptedModel, calls
from chatops_bot.stores.codec import entry_from
from chatops_bot.stores.sqlite_file import open_read_only
from tests.scenarios.conftest import Json, World, action_ids, everything
from tests.sessions.panel import Switches

VERDICTS = {3: "approve", 1: "reject", 5: "approve", 2: "approve", 4: "reject"}
"""By task, in the order in which they are given."""


async def cards_of(world: World, text: str, count: int) -> tuple[str, dict[int, Json]]:
    """The cards of a new thread by the task that each is about."""
    ts = await world.says("oscar", f"{world.mention} {text}")
    messages = await world.settled(ts, 1 + count)
    cards = [message for message in messages if "approve" in action_ids(message)]
    assert len(cards) == count
    tasks = [int(found.group(1)) for card in cards if (found := re.search(r"task #(\d+)", everything(card)))]
    return ts, dict(zip(tasks, cards, strict=True))


def results(world: World) -> dict[str, str]:
    """What each call came to, by the call's id; fails where a call has none, or two."""
    with closing(open_read_only(world.folder / "bot" / "bot.db")) as db:
        entries = [entry_from(body) for (body,) in db.execute("SELECT body FROM entries ORDER BY seq")]
    made = [call.id for entry in entries if entry.kind == "model" for call in entry.calls]
    returned = [entry for entry in entries if entry.kind == "tool"]
    assert [entry.call_id for entry in returned] == made
    return {entry.call_id: entry.status for entry in returned}


@pytest.mark.case("hitl-C07")
@pytest.mark.case("hitl-C10")
@pytest.mark.case("hitl-C14")
async def test_five_changes_are_five_cards_with_five_decisions_of_their_own(world: World):
    tool = Switches()
    flips = [("flip", {"task_id": task, "action": "pause"}) for task in range(1, 6)]
    failing: list[tuple[str, Json]] = [("flip", {"task_id": 0, "action": "pause"}), ("no_such_tool", {})]
    reads: list[tuple[str, Json]] = [("query_tasks", {}), ("query_workers", {})]
    model = ScriptedModel(
        [calls(*reads, *flips[:3], failing[0], reads[0], failing[1], *flips[2:], flips[0], text="Five changes.")]
    )  # fmt: skip
    async with world.bot(model, tools=[tool]):
        ts, cards = await cards_of(world, "pause them all", 5)
        assert set(cards) == set(VERDICTS)
        statuses = list(results(world).values())
        assert statuses == [
            "ok", "ok", "waits", "waits", "waits", "error", "not_run", "not_run", "waits", "waits", "waits", "waits",
        ]  # fmt: skip
        for number, (task, verdict) in enumerate(VERDICTS.items(), start=1):
            assert await world.click("ana", cards[task], verdict) == {"ok": True}
            heading = {"approve": "Done: ", "reject": "Rejected: "}[verdict]
            await world.becomes(ts, cards[task], heading)
            left = [m for m in await world.thread(ts) if "approve" in action_ids(m)]
            assert len(left) == 5 - number, "no other card is touched"
    assert [(task, action) for _, task, action in tool.applied] == [(3, "pause"), (5, "pause"), (2, "pause")]


@pytest.mark.case("hitl-C10")
async def test_twenty_changes_of_one_message_are_twenty_cards(world: World):
    tool = Switches()
    flips = [("flip", {"task_id": task, "action": "pause"}) for task in range(1, 21)]
    async with world.bot(ScriptedModel([calls(*flips)]), tools=[tool]):
        ts, cards = await cards_of(world, "pause them all", 20)
        assert set(cards) == set(range(1, 21))
        assert await world.click("ana", cards[20], "approve") == {"ok": True}
        await world.becomes(ts, cards[20], "Done: ")
    assert [task for _, task, _ in tool.applied] == [20]
    assert set(results(world).values()) == {"waits"}
