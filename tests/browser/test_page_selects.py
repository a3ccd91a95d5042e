"""Selects and text fields of forms: found by typing, used by keyboard, kept through edits."""

import pytest
from playwright.async_api import Locator, Page, expect

from chatops_bot.simulators.slack.server import Workspace
from tests.browser.conftest import Bot, Pages
from tests.browser.kinds import GROUPS, REGIONS, Json, actions, button, channel_of, field, options, plain

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

REGION = {
    "type": "multi_static_select",
    "action_id": "region",
    "options": REGIONS,
    "initial_options": REGIONS[:2],
    "placeholder": plain("Choose regions"),
}
TASK = {
    "type": "static_select",
    "action_id": "task",
    "option_groups": GROUPS,
    "placeholder": plain("Choose a task"),
}
MANY = {"type": "static_select", "action_id": "n", "options": options(*(f"Task {n:02}" for n in range(60)))}


def shown(page: Page) -> Locator:
    return page.get_by_role("listbox").get_by_role("option")


def active(page: Page) -> Locator:
    """The option that the focused field points at."""
    return page.locator(".picker-option.active")


async def test_a_select_is_used_by_keyboard_and_found_by_typing(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    await bot.post(channel_of(workspace), "x", blocks=[actions(TASK)])
    page = await open_page("oscar")
    choice = page.get_by_role("combobox", name="Choose a task")
    await choice.focus()
    await expect(choice).to_have_attribute("aria-expanded", "false")
    await page.keyboard.press("ArrowDown")
    await expect(choice).to_have_attribute("aria-expanded", "true")
    await expect(shown(page)).to_have_count(5)
    await expect(page.get_by_role("group", name="Payments").get_by_role("option")).to_have_count(3)
    await page.keyboard.press("End")
    await expect(active(page)).to_have_text("archive-logs")
    await page.keyboard.press("ArrowDown")
    await expect(active(page)).to_have_text("nightly-backup")
    pointed = await choice.get_attribute("aria-activedescendant")
    assert await active(page).get_attribute("id") == pointed
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("listbox")).to_have_count(0)
    await expect(choice).to_be_focused()

    await page.keyboard.type("digest")
    await expect(shown(page)).to_have_text(["weekly-digest"])
    await page.keyboard.press("Enter")
    await expect(choice).to_have_value("weekly-digest")
    payload = await bot.next_interaction()
    assert payload["actions"][0]["selected_option"]["value"] == "weekly-digest"
    await expect(choice).to_be_editable()
    await page.keyboard.type("zzz")
    await expect(page.get_by_role("listbox")).to_have_text("Nothing matches")
    await page.keyboard.press("Escape")
    await expect(choice).to_have_value("weekly-digest")


async def test_a_choice_of_several_shows_chips_and_counts_once_when_it_ends(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    await bot.post(channel_of(workspace), "x", blocks=[actions(REGION)])
    page = await open_page("oscar")
    choice = page.get_by_role("combobox", name="Choose regions")
    chips = page.get_by_role("button", name="Remove")
    await expect(chips).to_have_count(2)
    await choice.click()
    await expect(page.get_by_role("listbox")).to_have_attribute("aria-multiselectable", "true")
    await page.get_by_role("option", name="us-west-2").click()
    await choice.type("ap-n")
    await page.keyboard.press("Enter")
    await expect(choice).to_have_value("")
    assert bot.interactions.empty()
    await page.keyboard.press("Tab")
    chosen = (await bot.next_interaction())["actions"][0]["selected_options"]
    assert [each["value"] for each in chosen] == ["eu-west-1", "eu-central-1", "us-west-2", "ap-northeast-1"]

    await expect(choice).to_be_editable()
    await page.get_by_role("button", name="Remove eu-west-1").click()
    await expect(choice).to_be_focused()
    assert len((await bot.next_interaction())["actions"][0]["selected_options"]) == 3
    await expect(choice).to_be_editable()
    await page.keyboard.press("Backspace")
    assert len((await bot.next_interaction())["actions"][0]["selected_options"]) == 2
    await expect(chips).to_have_count(2)


async def test_a_list_opens_upward_when_there_is_no_room_below_and_a_long_one_scrolls(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    await bot.post(channel_of(workspace), "x", blocks=[actions(MANY)])
    page = await open_page("oscar")
    choice = page.get_by_role("combobox", name="Select an option")
    await choice.click()
    listbox = page.get_by_role("listbox")
    await expect(shown(page)).to_have_count(60)
    box, at = await listbox.bounding_box(), await choice.bounding_box()
    assert box is not None
    assert at is not None
    assert box["y"] + box["height"] <= at["y"]
    assert box["y"] >= 0
    await page.keyboard.press("End")
    await expect(page.get_by_role("option", name="Task 59")).to_be_in_viewport()
    await page.keyboard.press("Home")
    await expect(page.get_by_role("option", name="Task 00")).to_be_in_viewport()


async def test_a_waiting_select_keeps_the_focus_and_is_not_used_twice(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    bot.answer = None
    await bot.post(channel_of(workspace), "x", blocks=[actions(TASK)])
    page = await open_page("oscar")
    choice = page.get_by_role("combobox", name="Choose a task")
    await choice.fill("settle")
    await page.keyboard.press("Enter")
    await expect(choice).to_have_attribute("aria-disabled", "true")
    await expect(choice).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.type("charge")
    await expect(page.get_by_role("listbox")).to_have_count(0)
    await expect(page.get_by_role("alert").filter(has_text="This app is not responding")).to_be_visible()
    await expect(choice).to_be_enabled()
    await expect(choice).to_have_value("settle-invoices")


async def test_an_open_list_and_a_typed_text_survive_an_edit_of_their_message(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    name = {"type": "plain_text_input", "action_id": "v", "max_length": 12, "min_length": 3}

    def form(title: str) -> list[Json]:
        fields = [field("t", "Task", TASK), field("n", "Name", name)]
        return [{"type": "section", "text": plain(title)}, *fields, actions(button("go", "Go"))]

    ts = await bot.post(channel, "x", blocks=form("first"))
    page = await open_page("oscar")
    await page.get_by_label("Name").fill("ab")
    await expect(page.locator(".counter")).to_have_text("2 of at least 3")
    await page.get_by_role("combobox", name="Task").click()
    await page.keyboard.press("ArrowDown")
    await bot.call("chat.update", channel=channel, ts=ts, text="x", blocks=form("second"))
    await expect(page.get_by_text("second")).to_be_visible()
    await expect(page.get_by_role("combobox", name="Task")).to_have_attribute("aria-expanded", "true")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("combobox", name="Task")).to_have_value("settle-invoices")
    await expect(page.get_by_label("Name")).to_have_value("ab")
    await page.get_by_label("Name").fill("abcd")
    await expect(page.locator(".counter")).to_have_text("4 / 12")
    assert bot.interactions.empty()  # a field of a form is sent with its button only
    await page.get_by_role("button", name="Go", exact=True).click()
    values = (await bot.next_interaction())["state"]["values"]
    assert values["n"]["v"]["value"] == "abcd"
    assert values["t"]["task"]["selected_option"]["value"] == "settle-invoices"


async def test_a_text_that_says_so_is_sent_on_enter(workspace: Workspace, bot: Bot, open_page: Pages) -> None:
    text = {"type": "plain_text_input", "action_id": "q"}
    await bot.post(channel_of(workspace), "x", blocks=[field("b", "Search", text, dispatch_action=True)])
    page = await open_page("oscar")
    await page.get_by_label("Search").fill("backup")
    await page.keyboard.press("Enter")
    action = (await bot.next_interaction())["actions"][0]
    assert (action["type"], action["value"]) == ("plain_text_input", "backup")


async def test_the_root_of_a_thread_is_a_form_of_its_own_in_both_panes(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    text = {"type": "plain_text_input", "action_id": "v"}
    ts = await bot.post(channel, "x", blocks=[field("n", "Name", text)])
    page = await open_page("oscar", f"#/{channel}/{ts}")
    await page.locator("#thread").get_by_text("Name").click()
    await expect(page.locator("#thread").get_by_label("Name")).to_be_focused()
