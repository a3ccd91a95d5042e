"""The whole page without a mouse, and what a screen reader hears of it."""

import re

import pytest
from playwright.async_api import Page, expect

from chatops_bot.simulators.slack.server import Workspace
from tests.browser.conftest import Bot, Pages
from tests.browser.kinds import Json, actions, button, channel_of

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def row(page: Page, author: str, text: str, pane: str = "#channel") -> object:
    return page.locator(pane).get_by_role("article", name=re.compile(author)).filter(has_text=text)


async def test_arrows_move_between_messages_and_enter_opens_a_thread_and_escape_comes_back(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    for text in ("first", "second", "third"):
        await bot.post(channel, text)
    page = await open_page("oscar", permissions=["clipboard-read", "clipboard-write"])
    write = page.get_by_role("combobox", name="Message #incidents")
    await expect(write).to_be_focused()
    messages = page.locator("#channel").get_by_role("article")
    await expect(messages).to_have_count(3)
    await page.keyboard.press("ArrowUp")
    await expect(messages.nth(2)).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(messages.nth(1)).to_be_focused()
    await page.keyboard.press("c")
    await expect(page.locator("#toast")).to_have_text("Copied")
    assert await page.evaluate("() => navigator.clipboard.readText()") == "second"
    await page.keyboard.press("r")
    await expect(write).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await expect(write).to_be_focused()

    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    reply = page.get_by_role("combobox", name="Reply…")
    await expect(reply).to_be_focused()
    await expect(page.locator("#thread").get_by_role("article")).to_contain_text("second")
    await page.keyboard.type("an answer")
    await page.keyboard.press("Enter")
    await expect(page.locator("#thread").get_by_role("article").last).to_contain_text("an answer")
    await page.keyboard.press("Escape")
    await expect(page.locator("#thread")).to_be_hidden()
    await expect(write).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("t")
    row = page.locator("#thread").get_by_role("article")
    await expect(row).to_contain_text("third")
    await expect(reply).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(row).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(reply).to_be_focused()


async def test_an_arrow_in_a_written_text_stays_in_it(open_page: Pages) -> None:
    page = await open_page("oscar")
    write = page.get_by_role("combobox", name="Message #incidents")
    await write.fill("half a thought / with ? in it")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("?")
    await expect(write).to_be_focused()
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_switcher_goes_to_a_channel_a_person_and_an_unread_thread(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    page = await open_page("oscar")
    await page.keyboard.press("Control+k")
    switcher = page.get_by_role("dialog", name="Jump to")
    await expect(switcher.get_by_role("combobox")).to_be_focused()
    await page.keyboard.type("#ops")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="ops", exact=True)).to_be_visible()
    await expect(switcher).to_be_hidden()

    root = await bot.post(channel_of(workspace), "disk is full on db-3")
    oscar = workspace.identity.person("oscar")
    assert oscar is not None
    await bot.post(channel_of(workspace), f"<@{oscar.id}> look", thread_ts=root)
    await expect(page.get_by_role("link", name=re.compile("disk is full"))).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("disk")
    await page.keyboard.press("Enter")
    await expect(page.locator("#thread").get_by_role("article").last).to_contain_text("look")

    await page.keyboard.press("Control+k")
    await page.keyboard.type("approver")
    await expect(switcher.get_by_role("option")).to_have_count(1)
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("person=ana"))
    await expect(page.get_by_role("button", name="You are Ana Duarte")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("nobody of that name")
    await expect(switcher).to_contain_text("Nothing matches")
    await page.keyboard.press("Escape")
    await expect(switcher).to_be_hidden()


async def test_a_question_mark_lists_the_keys(workspace: Workspace, bot: Bot, open_page: Pages) -> None:
    await bot.post(channel_of(workspace), "hello")
    page = await open_page("oscar")
    await expect(page.get_by_role("article")).to_have_count(1)
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    await expect(keys).to_contain_text("Open the message’s thread")
    await page.keyboard.press("Escape")
    await expect(keys).to_have_count(0)
    await expect(page.get_by_role("article")).to_be_focused()
    await page.keyboard.press("/")
    await expect(page.get_by_role("dialog", name="Jump to")).to_be_visible()


async def test_the_focus_stays_on_a_button_of_a_message_that_is_edited_and_while_it_waits(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)

    def blocks(text: str) -> list[Json]:
        return [{"type": "markdown", "text": text}, actions(button("a", "First"), button("b", "Second"))]

    ts = await bot.post(channel, "x", blocks=blocks("one"))
    page = await open_page("oscar")
    second = page.get_by_role("button", name="Second")
    await second.focus()
    for number in range(3):
        await bot.call(
            "chat.update", channel=channel, ts=ts, text="x", blocks=blocks(f"edit {number}\n\nmore")
        )
        await expect(page.get_by_text(f"edit {number}")).to_be_visible()
        await expect(second).to_be_focused()
    bot.answer = None
    await page.keyboard.press("Enter")
    await expect(second).to_have_attribute("aria-busy", "true")
    await expect(second).to_be_focused()
    await expect(page.get_by_role("alert").filter(has_text="not responding")).to_be_visible()
    await expect(second).to_be_focused()


async def test_a_growing_answer_is_read_out_once_when_it_stands_still(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    root = await bot.post(channel, "question")
    page = await open_page("oscar", f"#/{channel}/{root}")
    await expect(page.locator("#thread").get_by_role("article")).to_have_count(1)
    await page.evaluate("""() => {
      window.heard = [];
      const region = document.querySelector('#announcer');
      new MutationObserver(() => window.heard.push(region.textContent)).observe(region, { childList: true });
    }""")
    await expect(page.locator("#announcer")).to_have_attribute("aria-live", "polite")
    await expect(page.locator("#thread").get_by_role("log")).to_have_attribute("aria-live", "off")
    ts = await bot.post(channel, "The", thread_ts=root)
    for text in ("The answer", "The answer is", "The answer is forty-two."):
        await bot.call("chat.update", channel=channel, ts=ts, text=text)
    await page.wait_for_function("() => window.heard.length > 0")
    heard = await page.evaluate("() => window.heard")
    assert len(heard) == 1
    assert heard[0].startswith("opsbot: The answer is forty-two.")


async def test_every_control_has_a_name_and_chinese_is_marked_as_such(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    await bot.post(channel_of(workspace), "夜间备份失败")
    await bot.post(channel_of(workspace), "the backup failed")
    page = await open_page("oscar")
    assert await page.get_by_text("夜间备份失败").evaluate("node => node.closest('[lang]').lang") == "zh-CN"
    assert await page.get_by_text("the backup failed").evaluate("node => node.closest('[lang]').lang") == "en"
    await page.get_by_role("button", name=re.compile("Switch person")).click()
    nameless = await page.evaluate("""() => [...document.querySelectorAll('button, a, input, textarea, [role=dialog]')]
      .filter(node => node.checkVisibility() && !(node.ariaLabel || node.innerText.trim() || node.labels?.length))
      .map(node => node.outerHTML)""")
    assert nameless == []
