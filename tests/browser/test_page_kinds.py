"""Each kind of message, looked at: a picture of each on a wide and a narrow window, and what holds for all of them."""

import re

import pytest
from playwright.async_api import expect

from chatops_bot.simulators.slack.server import Workspace
from tests.browser.conftest import Bot, Pages
from tests.browser.kinds import FORM, KINDS, actions, button, channel_of, plain
from tests.browser.looks import TWO_LOOKS, all_look_right, looks_right

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_each_kind_of_message_is_readable_wide_and_narrow_light_and_dark(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    stamps = {}
    for name, body in KINDS.items():
        rest = {key: value for key, value in body.items() if key != "text"}
        stamps[name] = await bot.post(channel, body.get("text") or name, **rest)
    page = await open_page("vera", f"#/{channel}")
    await expect(page.get_by_role("article")).to_have_count(len(KINDS))
    rows = {f"kind-{name}": page.locator(f'#channel .message[data-ts="{ts}"]') for name, ts in stamps.items()}
    for row in rows.values():
        await expect(row).not_to_contain_text("which this page does not show")
    await all_look_right(page, rows, TWO_LOOKS)


async def test_each_view_of_the_page_is_readable_wide_and_narrow_light_and_dark(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel, vera = channel_of(workspace), workspace.identity.person("vera")
    assert vera is not None
    page = await open_page("vera", f"#/{channel}")
    await looks_right(page, "view-empty", page.locator(".beginning"))

    confirm = {"title": plain("Delete it?"), "text": plain("It is gone then."), "style": "danger"}
    sure = confirm | {"confirm": plain("Delete"), "deny": plain("Keep")}
    buttons = actions(button("open", "Fill in"), button("del", "Delete", style="danger", confirm=sure))
    root = await bot.post(channel, "x", blocks=[buttons])
    await bot.post(channel, f"<@{vera.id}> look", thread_ts=root)
    await bot.call("chat.postEphemeral", channel=channel, user=vera.id, text="You may not do this.")
    unread = page.get_by_role("link", name=re.compile("1 mention"))
    await expect(unread).to_be_visible()
    top = page.locator("#channel .message").first
    await looks_right(page, "view-unread-thread-and-ephemeral", top, TWO_LOOKS)

    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("dialog", name="Jump to")).to_be_visible()
    await looks_right(page, "view-switcher", top, TWO_LOOKS)
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Delete", exact=True).click()
    await looks_right(page, "view-confirm", top, TWO_LOOKS)
    await page.get_by_role("button", name="Keep").click()

    await page.get_by_role("button", name="Fill in").click()
    trigger = (await bot.next_interaction())["trigger_id"]
    view = {"type": "modal", "title": plain("New task"), "submit": plain("Create"), "blocks": FORM[:-1]}
    await bot.call("views.open", trigger_id=trigger, view=view)
    dialog = page.get_by_role("dialog", name="New task")
    bot.answer = {"response_action": "errors", "errors": {"name": "A task of this name exists."}}
    await dialog.get_by_label("Name").fill("archive")
    await page.keyboard.press("Control+Enter")
    await expect(dialog.get_by_label("Name")).to_have_attribute("aria-invalid", "true")
    await looks_right(page, "view-modal-errors", dialog.get_by_label("Name"))
    await dialog.get_by_role("combobox", name="Regions").click()
    await looks_right(page, "view-list", dialog.get_by_role("combobox", name="Regions"))
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()

    await unread.click()
    await expect(page.locator("#thread").get_by_role("article")).to_have_count(2)
    await bot.call("assistant.threads.setStatus", channel_id=channel, thread_ts=root, status="is thinking…")
    await expect(page.locator("#thread").get_by_text("is thinking…")).to_be_visible()
    await looks_right(page, "view-thread", page.locator("#thread .message").first)
