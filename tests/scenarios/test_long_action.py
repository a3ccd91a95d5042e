"""A change that no card shows whole: it is read page by page in a dialog, and an approval counts only after its last page."""

import asyncio
from datetime import timedelta

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.llm.scripted import ScriptedModel, calls
from tests.audit_rows import read_audit
from tests.scenarios.conftest import Json, ShiftedClock, World, action_ids, everything, until
from tests.scenarios.filling import dialog_of
from tests.scenarios.test_change import asked_for, code_of, told

SCRIPT = "\n".join(f"echo step {number} of the migration" for number in range(1, 313)) + "\nrm -rf /srv/old"
TASK = {"name": "migrate", "type": "shell", "cron_expr": "0 4 1 1 *", "payload": SCRIPT}
CREATED = "POST /api/v1/tasks$"


def creating(**changes: str) -> ScriptedModel:
    return ScriptedModel([calls(("create_task", {**TASK, **changes}), text="I will ask.")])


async def press(world: World, person: str, dialog: Json, action: str) -> Json:
    """Press a button of an open dialog; the dialog as it is after that."""
    await world.sim("click", person=person, view_id=dialog["id"], action_id=action)

    async def changed() -> Json | None:
        now = (await world.look("state", person=person))["view"]
        return now if now is not None and now["hash"] != dialog["hash"] else None

    shown: Json = await until(changed, f"another page after {action}")
    return shown


async def show_all(world: World, person: str, card: Json) -> Json:
    await world.click(person, card, "show")
    return await dialog_of(world, person)


async def read_to_the_end(world: World, person: str, card: Json) -> list[Json]:
    """All pages as a person reads them, and at last what stands in the dialog after the press on the last one."""
    pages = [await show_all(world, person, card)]
    while (onward := f"page_{len(pages) + 1}") in action_ids(pages[-1]):
        pages.append(await press(world, person, pages[-1], onward))
    pages.append(await press(world, person, pages[-1], "read"))
    await world.sim("close_view", person=person, view_id=pages[-1]["id"])
    return pages


async def exists(world: World) -> bool:
    return any(task["Name"] == "migrate" for task in await world.at_scheduler("GET", "tasks"))


@pytest.mark.case("hitl-C49")
async def test_an_approval_counts_only_for_a_person_who_has_read_to_the_last_page(world: World):
    async with world.bot(creating()):
        ts, card = await asked_for(world, "create the migration task")
        assert action_ids(card) == ["show", "approve", "reject"]
        assert "What will be executed: 20 of 313 lines" in everything(card)
        assert "rm -rf" not in everything(card)

        await world.click("ana", card, "approve")
        assert (await told(world, "ana")).startswith("This change is longer than its card: press Show all")
        await world.says("ana", f"approve {code_of(card)}", ts)
        assert "Your approval was not counted." in await told(world, "ana", 2)

        *pages, last = await read_to_the_end(world, "ana", card)
        assert len(pages) == 3
        assert "rm -rf /srv/old" in everything(pages[-1])
        assert everything(last).startswith("✓ Recorded: you have read all of it.")
        assert "Read to the end by 1" in everything(await world.becomes(ts, card, "Approval needed: "))

        await world.click("adam", card, "approve")
        assert "Your approval was not counted." in await told(world, "adam")
        assert not await exists(world)
        await world.click("ana", card, "approve")
        done = await world.becomes(ts, card, "Done: ")
        assert action_ids(done)[0] == "show"
        assert await exists(world)
    rows = [row for _, row in read_audit(world.folder / "bot" / "bot.db")]
    reads = [row for row in rows if row.decision == "read"]
    assert [(row.person_id, row.status) for row in reads] == [(world.people["ana"]["id"], "pending")]
    refused = [row for row in rows if row.decision == "refused" and "longer than its card" in row.result]
    assert len(refused) == 3


async def test_pages_can_be_turned_back_and_read_by_two_at_once(world: World):
    async with world.bot(creating()):
        ts, card = await asked_for(world, "create the migration task")
        first = await show_all(world, "ana", card)
        second = await press(world, "ana", first, "page_2")
        back = await press(world, "ana", second, "page_1")
        assert everything(back) == everything(first)
        await world.sim("close_view", person="ana", view_id=back["id"])
        await asyncio.gather(read_to_the_end(world, "ana", card), read_to_the_end(world, "adam", card))

        async def both() -> Json | None:
            now = await world.becomes(ts, card, "Approval needed: ")
            return now if "Read to the end by 2" in everything(now) else None

        await until(both, "two readers on the card")


async def test_who_may_not_decide_reads_and_leaves_no_mark(world: World):
    async with world.bot(creating()):
        _, card = await asked_for(world, "create the migration task")
        page = await show_all(world, "vera", card)
        for number in (2, 3):
            page = await press(world, "vera", page, f"page_{number}")
        assert action_ids(page) == ["page_2"]


async def test_a_reading_that_ends_after_the_expiry_records_nothing(world: World):
    clock = ShiftedClock()
    async with world.bot(creating(), clock=clock):
        ts, card = await asked_for(world, "create the migration task")
        page = await show_all(world, "ana", card)
        for number in (2, 3):
            page = await press(world, "ana", page, f"page_{number}")
        clock.ahead = timedelta(minutes=61)
        late = await press(world, "ana", page, "read")
        assert "decided or expired" in everything(late)
        await world.click("ana", card, "approve")
        await world.becomes(ts, card, "Expired: ")
    assert not await exists(world)


@pytest.mark.parametrize("action", ["page_2", "read"])
async def test_a_press_whose_seal_is_not_ours_changes_nothing(world: World, action: str):
    async with world.bot(creating()):
        _, card = await asked_for(world, "create the migration task")
        dialog = await show_all(world, "ana", card)
        forged = {
            "type": "modal", "title": dialog["title"], "private_metadata": dialog["private_metadata"], "close": dialog["close"],
            "blocks": [
                {"type": "actions", "elements": [{
                    "type": "button", "action_id": action, "text": {"type": "plain_text", "text": "x"},
                    "value": dialog["private_metadata"] + ".0." + "0" * 32,
                }]},
            ],
        }  # fmt: skip
        bot_client = AsyncWebClient(
            token=world.workspace.ready()["bot_token"],
            base_url=world.workspace.api_url,
            session=world.session,
        )
        await bot_client.views_update(view_id=dialog["id"], view=forged)
        await world.sim("click", person="ana", view_id=dialog["id"], action_id=action)
    assert (await dialog_of(world, "ana"))["blocks"][0]["elements"][0]["action_id"] == action
    assert [row for _, row in read_audit(world.folder / "bot" / "bot.db") if row.decision == "read"] == []
