"""The workspace page, driven as a person drives it: keyboard and mouse in a real browser, against the real server."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from chatops_bot.simulators.slack.server import Workspace
from chatops_bot.simulators.slack.settings import Settings
from tests.browser.conftest import Bot, Pages
from tests.browser.kinds import Json, button, channel_of, options, plain

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def composer(page: Page, pane: str = "#channel") -> Any:
    return page.locator(f"{pane} textarea.composer-field")


def message(page: Page, text: str, pane: str = "#channel") -> Any:
    return page.locator(f"{pane} .message", has_text=text)


async def scroll_to(page: Page, top: int) -> None:
    await page.evaluate("top => document.querySelector('#channel .scroller').scrollTop = top", top)
    # The page learns of a scroll with the next frame.
    await page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


async def scroll_top(page: Page) -> float:
    return float(await page.evaluate("() => document.querySelector('#channel .scroller').scrollTop"))


async def test_a_person_posts_and_replies_in_a_thread(workspace: Workspace, open_page: Pages) -> None:
    page = await open_page("oscar")
    await composer(page).fill("first line")
    await composer(page).press("Shift+Enter")
    await composer(page).type("second *bold* line")
    await composer(page).press("Enter")
    await expect(message(page, "second bold line").locator("strong")).to_have_text("bold")
    await expect(composer(page)).to_have_value("")

    await message(page, "first line").hover()
    await message(page, "first line").get_by_role("button", name="Reply in thread").click()
    await expect(composer(page, "#thread")).to_be_focused()
    await composer(page, "#thread").fill("a reply")
    await composer(page, "#thread").press("Enter")
    await expect(message(page, "a reply", "#thread")).to_be_visible()
    await expect(message(page, "first line").locator(".reply-count")).to_have_text("1 reply")
    await expect(page.locator("#channel .message", has_text="a reply")).to_have_count(0)

    await page.keyboard.press("Escape")
    await expect(page.locator("#thread")).to_be_hidden()
    await page.reload()
    await page.get_by_role("button", name="1 reply").click()
    await expect(message(page, "a reply", "#thread")).to_be_visible()


async def test_a_live_edit_keeps_scroll_thread_focus_draft_and_an_unsent_choice(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    select = {
        "type": "static_select",
        "action_id": "env",
        "placeholder": plain("Which?"),
        "options": options("Dev", "Prod"),
    }
    form = {"type": "input", "block_id": "b", "label": plain("Environment"), "element": select}

    def blocks(text: str) -> list[Json]:
        return [{"type": "section", "text": {"type": "mrkdwn", "text": text}}, form]

    root = await bot.post(channel, "the root", blocks=blocks("the root"))
    for number in range(25):
        await bot.post(channel, f"line {number}\nof two")
    page = await open_page("vera", f"#/{channel}/{root}")
    await expect(message(page, "line 24")).to_be_visible()
    await scroll_to(page, 150)
    before = await scroll_top(page)
    choice = page.locator("#thread").get_by_role("combobox", name="Environment")
    await choice.fill("pro")
    await choice.press("Enter")
    await composer(page, "#thread").fill("half a thou")

    await bot.call(
        "chat.update", channel=channel, ts=root, text="x", blocks=blocks("the root\nnow\nmuch\nlonger")
    )
    await expect(message(page, "longer", "#thread").locator(".edited")).to_be_visible()
    await bot.post(channel, "news at the end")
    await expect(page.locator("#channel .pill")).to_have_text("1 new message")
    assert (
        abs(await scroll_top(page) - before) < 120
    )  # the row above grew by its three lines; the reader's row stayed
    await expect(choice).to_have_value("Prod")
    await expect(composer(page, "#thread")).to_be_focused()
    await expect(composer(page, "#thread")).to_have_value("half a thou")

    await page.locator("#channel .pill").click()
    await expect(message(page, "news at the end")).to_be_in_viewport()
    await bot.post(channel, "and one more")
    await expect(message(page, "and one more")).to_be_in_viewport()


async def test_an_edit_below_leaves_the_readers_line_where_it_is(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    stamps = [await bot.post(channel, f"line {number}") for number in range(30)]
    page = await open_page("vera")
    await expect(message(page, "line 29")).to_be_visible()
    await scroll_to(page, 500)
    reading = page.locator(f'#channel .message[data-ts="{stamps[15]}"]')
    before = await reading.bounding_box()
    await bot.call("chat.update", channel=channel, ts=stamps[0], text="line 0\nwith\nmany\nmore\nlines")
    await expect(message(page, "more")).to_have_count(1)
    assert await reading.bounding_box() == before


async def test_completion_by_keyboard_mentions_people_and_the_bot(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    page = await open_page("oscar")
    field = composer(page)
    await field.type("hey @")
    listbox = page.locator("#channel").get_by_role("listbox")
    await expect(listbox.get_by_role("option")).to_have_count(4)  # the bot and everyone but the writer
    await field.press("Escape")
    await expect(listbox).to_be_hidden()
    await expect(field).to_have_value("hey @")
    await field.type("v")
    await expect(listbox.get_by_role("option", selected=True)).to_contain_text("Vera Lindqvist")
    await field.press("Tab")
    await field.type("and @")
    await field.press("ArrowDown")
    await field.press("ArrowUp")
    await field.press("Enter")
    await expect(field).to_have_value("hey @Vera Lindqvist and @opsbot ")
    await field.type("`@opsbot` a < b")
    await field.press("Enter")
    await expect(page.locator("#channel .message .mention")).to_have_text(["@Vera Lindqvist", "@opsbot"])
    history = await bot.call("conversations.history", channel=channel_of(workspace))
    vera, ours = workspace.identity.person("vera"), workspace.identity.bot_user_id
    assert vera is not None
    assert history["messages"][0]["text"] == f"hey <@{vera.id}> and <@{ours}> `@opsbot` a &lt; b"


async def test_enter_of_an_input_method_does_not_send(open_page: Pages) -> None:
    page = await open_page("oscar")
    await composer(page).fill("@opsbot 查一下")
    await composer(page).dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    await expect(composer(page)).to_have_value("@opsbot 查一下")
    await composer(page).press("Enter")
    await expect(message(page, "查一下")).to_be_visible()


async def test_a_confirm_dialog_asks_before_the_click_reaches_the_app(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    confirm = {
        "title": plain("Roll back?"),
        "text": plain("This changes production."),
        "confirm": plain("Do it"),
        "deny": plain("No"),
    }
    approve = button("approve", "Approve", style="primary", confirm=confirm)
    ts = await bot.post(channel, "P-17", blocks=[{"type": "actions", "block_id": "d", "elements": [approve]}])
    page = await open_page("ana")
    control = page.get_by_role("button", name="Approve", exact=True)
    await control.click()
    dialog = page.get_by_role("alertdialog", name="Roll back?")
    await expect(dialog).to_contain_text("This changes production.")
    await expect(dialog.get_by_role("button", name="No")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(control).to_be_focused()
    assert bot.interactions.empty()

    await control.press("Enter")
    await dialog.get_by_role("button", name="Do it").click()
    payload = await bot.next_interaction()
    ana = workspace.identity.person("ana")
    assert ana is not None
    assert (payload["user"]["id"], payload["actions"][0]["value"]) == (ana.id, "v1")
    await bot.call("chat.update", channel=channel, ts=ts, text="Approved", blocks=[])
    await expect(message(page, "Approved")).to_be_visible()
    await expect(control).to_have_count(0)
    assert bot.interactions.empty()


async def test_a_click_that_the_app_does_not_answer_says_so_beside_the_button(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    bot.answer = None
    await bot.post(channel_of(workspace), "x", blocks=[{"type": "actions", "elements": [button("go", "Go")]}])
    page = await open_page("oscar")
    await page.get_by_role("button", name="Go", exact=True).click()
    await expect(page.locator(".click-error")).to_have_text("This app is not responding")
    await expect(page.get_by_role("button", name="Go", exact=True)).to_be_enabled()


async def test_selects_send_their_choice_and_fields_go_with_the_button(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    one = {
        "type": "static_select",
        "action_id": "one",
        "placeholder": plain("One"),
        "options": options("Dev", "Prod"),
    }
    many = {
        "type": "multi_static_select",
        "action_id": "many",
        "placeholder": plain("Many"),
        "options": options("EU", "US", "AP"),
    }
    text = {"type": "plain_text_input", "action_id": "why"}
    blocks = [
        {"type": "input", "block_id": "w", "label": plain("Reason"), "element": text},
        {"type": "actions", "block_id": "a", "elements": [one, many, button("send", "Send it")]},
    ]
    await bot.post(channel_of(workspace), "form", blocks=blocks)
    page = await open_page("oscar")
    await page.get_by_role("combobox", name="One").click()
    await page.get_by_role("option", name="Prod").click()
    payload = await bot.next_interaction()
    assert payload["actions"][0]["selected_option"]["value"] == "prod"

    await page.get_by_role("combobox", name="Many").click()
    await page.get_by_role("option", name="EU").click()
    await page.get_by_role("option", name="AP").click()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Remove")).to_have_count(2)
    payload = await bot.next_interaction()
    assert [option["value"] for option in payload["actions"][0]["selected_options"]] == ["eu", "ap"]

    await page.get_by_label("Reason").fill("because")
    await page.get_by_role("button", name="Send it").click()
    values = (await bot.next_interaction())["state"]["values"]
    assert values["w"]["why"]["value"] == "because"
    assert values["a"]["one"]["selected_option"]["value"] == "prod"
    assert [option["value"] for option in values["a"]["many"]["selected_options"]] == ["eu", "ap"]


async def test_a_modal_shows_field_errors_and_closes_when_accepted(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    await bot.post(
        channel_of(workspace), "x", blocks=[{"type": "actions", "elements": [button("open", "Fill in")]}]
    )
    page = await open_page("oscar")
    await page.get_by_role("button", name="Fill in").click()
    trigger = (await bot.next_interaction())["trigger_id"]
    field = {
        "type": "input",
        "block_id": "n",
        "label": plain("Replicas"),
        "element": {"type": "plain_text_input", "action_id": "n"},
    }
    view = {"type": "modal", "title": plain("Scale"), "submit": plain("Scale it"), "blocks": [field]}
    await bot.call("views.open", trigger_id=trigger, view=view)
    dialog = page.get_by_role("dialog", name="Scale")
    await expect(dialog.get_by_label("Replicas")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(dialog.locator(".field-error").first).to_contain_text("complete")
    bot.answer = {"response_action": "errors", "errors": {"n": "Give a number."}}
    await dialog.get_by_label("Replicas").fill("many")
    await dialog.get_by_role("button", name="Scale it").click()
    await expect(dialog.locator(".field-block .field-error")).to_have_text("Give a number.")
    await expect(dialog.get_by_label("Replicas")).to_have_value("many")
    bot.answer = {}
    await dialog.get_by_label("Replicas").fill("3")
    await dialog.get_by_role("button", name="Scale it").click()
    await expect(dialog).to_be_hidden()


async def test_two_windows_are_two_people_and_the_menu_switches(
    workspace: Workspace, open_page: Pages
) -> None:
    oscar, ana = await open_page("oscar"), await open_page("ana", f"#/{channel_of(workspace, 'ops')}")
    await composer(oscar).fill("@ana please look")
    await composer(oscar).press("Enter")
    await expect(ana.locator(".channel-link", has_text="incidents").locator(".badge")).to_have_text("1")
    await ana.locator(".channel-link", has_text="incidents").click()
    await expect(message(ana, "please look").locator(".mention.mine")).to_be_visible()
    await expect(ana.locator(".badge")).to_have_count(0)

    await ana.locator("button.me").click()
    await expect(ana.get_by_role("menuitemradio", checked=True).first).to_be_focused()
    await ana.keyboard.press("ArrowDown")
    await ana.keyboard.press("Enter")
    await expect(ana).to_have_url(re.compile(r"\?person=adam#"))
    await expect(ana.locator("button.me")).to_contain_text("admin")
    await composer(ana).fill("on it")
    await composer(ana).press("Enter")
    await expect(message(oscar, "on it").locator(".author")).to_have_text("陈思远")
    await ana.go_back()
    await expect(ana.locator("button.me")).to_contain_text("Ana Duarte")


async def test_an_ephemeral_message_is_seen_by_its_person_only(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel, vera = channel_of(workspace), workspace.identity.person("vera")
    assert vera is not None
    hers, his = await open_page("vera"), await open_page("oscar")
    await bot.call("chat.postEphemeral", channel=channel, user=vera.id, text="only for you")
    await bot.post(channel, "for everyone")
    await expect(message(hers, "only for you")).to_contain_text("Only visible to you")
    await expect(message(his, "for everyone")).to_be_visible()
    await expect(message(his, "only for you")).to_have_count(0)
    await hers.reload()
    await expect(message(hers, "only for you")).to_be_visible()


async def test_the_thinking_line_stands_in_the_thread_until_the_answer(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    root = await bot.post(channel, "root")
    page = await open_page("oscar", f"#/{channel}/{root}")
    await bot.call("assistant.threads.setStatus", channel_id=channel, thread_ts=root, status="is thinking…")
    await expect(page.locator("#thread .status")).to_have_text("opsbot is thinking…")
    await bot.post(channel, "the answer", thread_ts=root)
    await expect(message(page, "the answer", "#thread")).to_be_visible()
    await expect(page.locator(".status")).to_have_count(0)


async def test_a_lost_connection_is_announced_and_missed_messages_arrive(
    tmp_path: Path, workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    settings = Settings()
    async with Workspace.start(tmp_path / "second", settings=settings) as second:
        port = int(second.url.rsplit(":", 1)[1])
        page = await open_page("oscar")
        await page.goto(f"{second.url}/?person=oscar")
        await expect(composer(page)).to_be_focused()
    await expect(page.locator("#banner")).to_contain_text("Connection to the workspace lost")
    await composer(page).fill("typed while away")
    await composer(page).press("Enter")
    await expect(page.locator("#channel .composer-error")).to_contain_text("Not sent")
    await expect(composer(page)).to_have_value("typed while away")
    async with Workspace.start(tmp_path / "second", port=port, settings=settings) as second:
        await expect(page.locator("#banner")).to_be_hidden()
        await composer(page).press("Enter")
        await expect(message(page, "typed while away")).to_be_visible()
        # The browser itself logs refused connections; nothing else may have gone wrong.
        open_page.problems[:] = [text for text in open_page.problems if "ERR_CONNECTION_REFUSED" not in text]
        await page.close()


async def test_a_phone_shows_one_pane_at_a_time(workspace: Workspace, bot: Bot, open_page: Pages) -> None:
    channel = channel_of(workspace)
    root = await bot.post(channel, "root of the thread")
    await bot.post(channel, "reply", thread_ts=root)
    await bot.post(channel, "wide " + "w" * 300 + "\n```" + "c" * 300 + "```")
    page = await open_page("oscar", width=390, height=780, has_touch=True, is_mobile=True)
    panes = {name: page.locator(f"#{name}") for name in ("sidebar", "channel", "thread")}

    async def only(shown: str) -> None:
        for name, pane in panes.items():
            await expect(pane).to_be_visible(visible=name == shown)
        assert await page.evaluate("() => document.documentElement.scrollWidth") == 390

    await only("sidebar")
    await page.locator(".channel-link", has_text="incidents").tap()
    await expect(message(page, "root of the thread")).to_be_visible()
    await only("channel")
    await page.get_by_role("button", name="1 reply").tap()
    await expect(message(page, "reply", "#thread").last).to_be_visible()
    await only("thread")
    await page.get_by_role("button", name="Back to channel").tap()
    await only("channel")
    await page.get_by_role("button", name="Back to channels").tap()
    await only("sidebar")


async def test_code_can_be_copied_and_the_theme_is_remembered(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    await bot.post(channel_of(workspace), "```\nkubectl get pods -n shop\n```")
    page = await open_page("oscar", permissions=["clipboard-read", "clipboard-write"], color_scheme="light")
    await page.locator(".code-frame").hover()
    await page.get_by_role("button", name="Copy", exact=True).click()
    await expect(page.locator("#toast")).to_have_text("Copied")
    assert await page.evaluate("() => navigator.clipboard.readText()") == "kubectl get pods -n shop"

    background = "() => getComputedStyle(document.querySelector('#channel')).backgroundColor"
    assert await page.evaluate(background) == "rgb(255, 255, 255)"
    await page.locator("button.me").click()
    await page.get_by_role("menuitemradio", name="Dark").click()
    assert await page.evaluate(background) == "rgb(26, 29, 33)"
    await page.get_by_role("menuitemradio", name="中文").click()
    await expect(page.locator(".section-title").first).to_have_text("频道")
    await page.reload()
    await expect(page.locator(".section-title").first).to_have_text("频道")
    assert await page.evaluate(background) == "rgb(26, 29, 33)"


async def test_older_messages_load_when_the_reader_comes_near_them(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    for number in range(90):
        await bot.post(channel, f"line {number}")
    page = await open_page("vera")
    await expect(message(page, "line 89")).to_be_in_viewport()
    await expect(page.locator("#channel .message")).to_have_count(60)
    await scroll_to(page, 0)
    await expect(page.locator("#channel .message")).to_have_count(90)
    await expect(message(page, "line 30")).to_be_in_viewport()
    await expect(page.locator(".beginning")).to_have_count(1)


async def test_text_that_looks_like_html_stays_text(workspace: Workspace, bot: Bot, open_page: Pages) -> None:
    attack = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>"
    channel = channel_of(workspace)
    await bot.post(channel, attack, blocks=[{"type": "markdown", "text": attack}])
    page = await open_page("vera")
    await composer(page).fill(attack)
    await composer(page).press("Enter")
    await expect(page.locator("#channel .message")).to_have_count(2)
    await expect(page.locator("#channel .message img, #channel .message script")).to_have_count(0)
    await expect(page.locator("#channel .message").first).to_contain_text("<script>")
    await expect(page).to_have_title(re.compile("Night Shift"))
