"""Modals: what they say to a screen reader, how they are used by keyboard, and what is kept when something goes wrong."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from chatops_bot.simulators.slack.server import Workspace
from tests.browser.conftest import Bot, Pages
from tests.browser.kinds import ENVIRONMENTS, Json, actions, button, channel_of, field, plain

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

NAME = field(
    "name",
    "Name",
    {"type": "plain_text_input", "action_id": "v", "min_length": 3},
    hint=plain("In lower case."),
)
WHERE = field("env", "Environment", {"type": "static_select", "action_id": "v", "options": ENVIRONMENTS})
NOTE = field("note", "Note", {"type": "plain_text_input", "action_id": "v", "multiline": True}, optional=True)


def modal(title: str, *blocks: Json, **more: Any) -> Json:
    return {"type": "modal", "title": plain(title), "submit": plain("Save"), "blocks": list(blocks), **more}


async def opened(workspace: Workspace, bot: Bot, page: Page, view: Json) -> Locator:
    """Presses a button, opens `view` with its trigger, and answers the dialog."""
    await bot.post(channel_of(workspace), "x", blocks=[actions(button("open", "Open it"))])
    await page.get_by_role("button", name="Open it").last.click()
    await bot.call("views.open", trigger_id=(await bot.next_interaction())["trigger_id"], view=view)
    dialog = page.get_by_role("dialog", name=view["title"]["text"])
    await expect(dialog).to_be_visible()
    return dialog


async def test_errors_stand_at_their_fields_and_the_first_one_gets_the_focus(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    page = await open_page("oscar")
    dialog = await opened(workspace, bot, page, modal("New task", NOTE, WHERE, NAME))
    await dialog.get_by_label("Note").fill("kept")
    name, where = dialog.get_by_label("Name"), dialog.get_by_role("combobox", name="Environment")
    await name.fill("ab")
    await name.press("Control+Enter")
    await expect(name).to_have_accessible_description("Write at least 3 characters. In lower case.")
    await expect(name).to_be_focused()
    assert bot.interactions.empty()

    bot.answer = {"response_action": "errors", "errors": {"env": "Not tonight.", "name": "It exists."}}
    await where.fill("stag")
    await where.press("Enter")
    await name.fill("archive")
    await name.press("Control+Enter")
    await expect(where).to_have_attribute("aria-invalid", "true")
    await expect(where).to_have_accessible_description("Not tonight.")
    await expect(name).to_have_accessible_description("It exists. In lower case.")
    await expect(where).to_be_focused()
    await expect(where).to_have_value("Staging")
    await expect(dialog.get_by_label("Note")).to_have_value("kept")


async def test_a_modal_that_the_app_does_not_answer_says_so_and_keeps_the_text(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    page = await open_page("oscar")
    dialog = await opened(workspace, bot, page, modal("New task", NAME))
    bot.answer = None
    await dialog.get_by_label("Name").fill("archive")
    save = dialog.get_by_role("button", name="Save")
    await save.click()
    await expect(save).to_have_attribute("aria-busy", "true")
    await page.keyboard.press("Control+Enter")
    await expect(dialog.get_by_role("alert")).to_have_text("This app is not responding")
    await expect(save).to_have_attribute("aria-busy", "false")
    await expect(dialog.get_by_label("Name")).to_have_value("archive")
    bot.answer = {}
    await save.click()
    await expect(dialog).to_be_hidden()
    submissions = [bot.interactions.get_nowait() for _ in range(bot.interactions.qsize())]
    assert len(submissions) == 2  # once without an answer, once with; the key pressed in between did nothing


async def test_the_focus_stays_inside_and_escape_closes_and_tells_the_app(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    page = await open_page("oscar")
    dialog = await opened(workspace, bot, page, modal("New task", WHERE, NAME, notify_on_close=True))
    inside = (
        "() => document.activeElement === document.body || Boolean(document.activeElement.closest('dialog'))"
    )
    for _ in range(8):
        await page.keyboard.press("Tab")
        assert await page.evaluate(inside)
    where = dialog.get_by_role("combobox", name="Environment")
    await where.click()
    listbox = dialog.get_by_role("listbox")
    await expect(listbox).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(listbox).to_have_count(0)
    await expect(dialog).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    assert (await bot.next_interaction())["type"] == "view_closed"
    await expect(page.get_by_role("button", name="Open it")).to_be_focused()


async def test_a_pushed_modal_goes_back_to_the_one_below_with_its_text(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    page = await open_page("oscar")
    below = await opened(
        workspace, bot, page, modal("New task", NAME, actions(button("more", "Choose more")))
    )
    await below.get_by_label("Name").fill("half a name")
    await below.get_by_role("button", name="Choose more").click()
    trigger = (await bot.next_interaction())["trigger_id"]
    await bot.call("views.push", trigger_id=trigger, view=modal("More", NOTE))
    above = page.get_by_role("dialog", name="More")
    await expect(above.get_by_label("Note")).to_be_focused()
    await above.get_by_role("button", name="Back").click()
    below = page.get_by_role("dialog", name="New task")
    await expect(below.get_by_label("Name")).to_have_value("half a name")


async def test_a_list_in_a_modal_is_not_cut_off_by_it(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    page = await open_page("oscar", width=1280, height=420)
    tall = [field(f"n{n}", f"Name {n}", {"type": "plain_text_input", "action_id": "v"}) for n in range(4)]
    dialog = await opened(workspace, bot, page, modal("New task", *tall, WHERE))
    await dialog.get_by_role("combobox", name="Environment").click()
    for option in await dialog.get_by_role("option").all():
        await expect(option).to_be_in_viewport(ratio=1)
    await dialog.get_by_role("option", name="Production").click()
    await expect(dialog.get_by_role("combobox", name="Environment")).to_have_value("Production")
