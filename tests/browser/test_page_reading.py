"""What is unread and what has been read, where the reader's eye stays while things change, and what is never lost."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from chatops_bot.simulators.slack.server import Workspace
from tests.browser.conftest import Bot, Pages
from tests.browser.kinds import channel_of

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def scroll_to(page: Page, top: int) -> None:
    await page.evaluate("top => document.querySelector('#channel .scroller').scrollTop = top", top)
    # The page learns of a scroll with the next frame.
    await page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


async def test_a_channels_unread_marks_are_the_persons_own_and_go_when_it_is_read(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    ops, vera = channel_of(workspace, "ops"), workspace.identity.person("vera")
    assert vera is not None
    await bot.post(ops, "seen before")
    hers, his = await open_page("vera", f"#/{ops}"), await open_page("oscar")
    await expect(hers.get_by_role("article")).to_have_count(1)
    await expect(hers.get_by_role("link", name="ops", exact=True)).to_be_visible()
    await hers.get_by_role("link", name="incidents").click()
    await bot.post(ops, "news")
    await bot.post(ops, f"<@{vera.id}> look")
    await expect(hers.get_by_role("link", name="ops, 2 unread, 1 mention")).to_be_visible()
    await expect(hers).to_have_title(re.compile(r"^\(1\) "))
    await expect(his.get_by_role("link", name="ops, 3 unread", exact=True)).to_be_visible()
    await expect(his).not_to_have_title(re.compile(r"^\("))

    await hers.get_by_role("link", name=re.compile("^ops,")).click()
    await expect(hers.get_by_role("separator", name="New")).to_be_visible()
    order = await hers.locator("#channel .list > *").all_inner_texts()
    new = next(index for index, text in enumerate(order) if text == "New")
    assert "seen before" in order[new - 1]
    assert "news" in order[new + 1]
    await expect(hers.get_by_role("link", name="ops", exact=True)).to_be_visible()
    await expect(hers).not_to_have_title(re.compile(r"^\("))
    await hers.get_by_role("link", name="incidents").click()
    await hers.reload()
    await expect(hers.get_by_role("link", name="ops", exact=True)).to_be_visible()
    await expect(his.get_by_role("link", name="ops, 3 unread", exact=True)).to_be_visible()


async def test_a_threads_unread_marks_go_when_the_thread_is_read_and_not_before(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel, oscar = channel_of(workspace), workspace.identity.person("oscar")
    assert oscar is not None
    page, other = await open_page("oscar"), await open_page("ana")
    write = page.get_by_role("combobox", name="Message #incidents")
    await write.fill("why is it slow?")
    await write.press("Enter")
    question = page.get_by_role("article")
    await expect(question).to_have_count(1)
    root = str(await question.get_attribute("data-ts"))
    await bot.post(channel, "a first answer", thread_ts=root)
    await bot.post(channel, f"<@{oscar.id}> a second", thread_ts=root)
    unread = page.get_by_role("link", name="why is it slow?, 2 unread, 1 mention")
    await expect(unread).to_be_visible()
    await expect(page).to_have_title(re.compile(r"^\(1\) "))
    await expect(page.get_by_role("link", name="incidents", exact=True)).to_be_visible()
    await page.reload()
    await unread.click()
    thread = page.locator("#thread")
    await expect(thread.get_by_role("article")).to_have_count(3)
    await expect(thread.get_by_role("separator", name="New")).to_be_visible()
    await expect(unread).to_have_count(0)
    await expect(page).not_to_have_title(re.compile(r"^\("))
    await bot.post(channel, "while it is looked at", thread_ts=root)
    await expect(thread.get_by_role("article")).to_have_count(4)
    await page.reload()
    await expect(thread.get_by_role("article")).to_have_count(4)
    await expect(page.get_by_role("link", name=re.compile("^why is it slow"))).to_have_count(0)
    # Somebody who neither wrote in the thread nor is named in it is not told of it.
    await expect(other.get_by_role("link", name=re.compile("^why is it slow"))).to_have_count(0)


async def test_away_from_the_end_the_page_stays_and_offers_the_way_back(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    for number in range(40):
        await bot.post(channel, f"line {number}")
    page = await open_page("vera")
    await expect(page.get_by_text("line 39")).to_be_in_viewport()
    back = page.locator("#channel .pill")
    await expect(back).to_be_hidden()
    await scroll_to(page, 400)
    await expect(back).to_have_text("Jump to newest")
    await bot.post(channel, "something new")
    await expect(back).to_have_text("1 new message")
    await back.click()
    await expect(page.get_by_text("something new")).to_be_in_viewport()
    await expect(back).to_be_hidden()


async def test_one_edit_touches_one_message_and_500_messages_stay_smooth(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    stamps = [await bot.post(channel, f"line {number}") for number in range(500)]
    page = await open_page("vera")
    rows = page.get_by_role("article")
    await expect(rows).to_have_count(60)
    while (shown := await rows.count()) < 500:
        await scroll_to(page, 0)
        await expect(rows).not_to_have_count(shown)
    await page.evaluate("() => document.querySelector('#channel .scroller').scrollTop = 1e9")
    await page.evaluate("""() => {
      window.before = [...document.querySelectorAll('#channel .message')];
      window.touched = new Set();
      new MutationObserver(changes => changes.forEach(({ target }) =>
        window.touched.add((target.closest ? target : target.parentElement).closest('.message')?.dataset.ts)))
        .observe(document.querySelector('#channel .list'), { subtree: true, childList: true, characterData: true, attributes: true });
      window.longest = 0;
      new PerformanceObserver(list => list.getEntries().forEach(({ duration }) => (window.longest = Math.max(window.longest, duration))))
        .observe({ type: 'longtask' });
    }""")
    text = ""
    for number in range(200):
        text += f"word{number} "
        await bot.call("chat.update", channel=channel, ts=stamps[-1], text=text)
    await expect(page.get_by_text("word199")).to_be_in_viewport()
    same = "() => { const now = [...document.querySelectorAll('#channel .message')]; return now.length === 500 && now.every((node, i) => node === window.before[i]); }"
    assert await page.evaluate(same)
    assert await page.evaluate("() => [...window.touched]") == [stamps[-1]]
    assert (
        await page.evaluate("() => window.longest") < 1000
    )  # milliseconds; a frozen page would be whole seconds


async def test_a_selection_in_a_growing_answer_stays(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)

    async def grow(text: str) -> None:
        await bot.call(
            "chat.update", channel=channel, ts=ts, text=text, blocks=[{"type": "markdown", "text": text}]
        )

    ts = await bot.post(channel, "The cause", blocks=[{"type": "markdown", "text": "The cause is"}])
    page = await open_page("vera")
    text = page.get_by_text("The cause is")
    await expect(text).to_be_visible()
    await text.evaluate("node => getSelection().setBaseAndExtent(node.firstChild, 4, node.firstChild, 9)")
    row = page.get_by_role("article")
    height = await row.evaluate("node => node.offsetHeight")
    await grow("The cause is a full disk")
    await expect(row).to_contain_text("(edited)")
    assert await row.evaluate("node => node.offsetHeight") == height  # the mark of an edit takes no line
    await grow("The cause is a full disk\n\non **db-3**")
    await expect(page.get_by_text("db-3")).to_be_visible()
    assert await page.evaluate("() => getSelection().toString()") == "cause"


@pytest.mark.parametrize(("person", "changes"), [("oscar", 1), ("vera", 0)])
async def test_an_empty_conversation_says_what_it_is_for_and_offers_questions_that_the_reader_may_ask(
    open_page: Pages, person: str, changes: int
) -> None:
    page = await open_page(person)
    await expect(page.get_by_role("heading", name=re.compile("very beginning of #incidents"))).to_be_visible()
    examples = page.get_by_role("group", name="Try one of these:").get_by_role("button")
    languages = await examples.evaluate_all("nodes => nodes.map(node => node.lang)")
    assert set(languages) == {"en"}
    await expect(examples.filter(has_text="Pause")).to_have_count(changes)
    await examples.first.click()
    write = page.get_by_role("combobox", name="Message #incidents")
    await expect(write).to_be_focused()
    await expect(write).to_have_value(re.compile("^@opsbot What failed"))
    await write.press("Enter")
    await expect(page.get_by_role("article")).to_contain_text("@opsbot What failed")

    await page.get_by_role("link", name="opsbot").click()
    await page.get_by_role("group", name="Try one of these:").get_by_role("button").first.click()
    await expect(page.get_by_role("combobox", name="Message opsbot")).to_have_value(
        re.compile("^What failed")
    )


async def test_the_first_visit_says_who_one_is_and_how_to_be_an_approver(open_page: Pages) -> None:
    page = await open_page("oscar")
    tip = page.get_by_role("note")
    await expect(tip).to_contain_text("You are 林浩然, operator")
    await expect(tip).to_contain_text("approver")
    await tip.get_by_role("button", name="Got it").click()
    await expect(tip).to_be_hidden()
    await page.reload()
    await expect(page.get_by_role("button", name=re.compile("Switch person"))).to_be_visible()
    await expect(tip).to_be_hidden()


@pytest.mark.parametrize(
    ("person", "english", "chinese", "work", "post"),
    [
        ("vera", "You can ask about anything", "变更由操作员提出", "Support lead", "客服主管"),
        ("oscar", "they need an approver’s yes", "变更需要审批人同意", "On-call engineer", "值班工程师"),
        ("ana", "what others ask for; deleting takes an admin", "删除需要管理员", "Incident commander", "事故指挥"),
        ("adam", "You can approve what others ask for, deletions too", "包括删除", "Platform owner", "平台负责人"),
    ],
)  # fmt: skip
async def test_the_tip_says_what_ones_own_role_can_do_and_all_is_in_ones_language(
    open_page: Pages, person: str, english: str, chinese: str, work: str, post: str
) -> None:
    for locale, said, title, topic in (
        ("en-US", english, work, "one thread each"),
        ("zh-CN", chinese, post, "每起一条消息列"),
    ):
        page = await open_page(person, locale=locale)
        await expect(page.get_by_role("note")).to_contain_text(said)
        await expect(page.locator(".me")).to_contain_text(title)
        await expect(page.locator("#channel")).to_contain_text(topic)


@pytest.mark.parametrize(("locale", "label"), [("en-US", "Ask @opsbot"), ("zh-CN", "向 @opsbot 提问")])
async def test_beside_an_empty_field_of_a_channel_a_button_names_the_bot(
    workspace: Workspace, bot: Bot, open_page: Pages, locale: str, label: str
) -> None:
    channel = channel_of(workspace)
    for number in range(40):
        root = await bot.post(channel, f"message {number}")
    page = await open_page("oscar", locale=locale)
    await expect(page.get_by_text("message 39")).to_be_in_viewport()
    button = page.get_by_role("button", name=label)
    await expect(button).to_be_in_viewport()
    await button.click()
    write = page.locator("#channel").get_by_role("combobox")
    await expect(write).to_be_focused()
    await expect(write).to_have_value("@opsbot ")
    await expect(button).to_be_hidden()
    await write.fill("")
    await expect(button).to_be_visible()
    await page.get_by_role("link", name="opsbot").click()
    await expect(button).to_be_hidden()  # a direct conversation needs no mention
    await page.goto(f"{page.url.partition('#')[0]}#/{channel}/{root}")
    await expect(page.locator("#thread").get_by_role("combobox")).to_be_visible()
    await expect(page.locator("#thread").get_by_role("button", name=label)).to_be_hidden()


async def test_what_is_typed_and_not_sent_outlives_a_reload_and_belongs_to_its_place(
    open_page: Pages,
) -> None:
    page = await open_page("oscar")
    write = page.get_by_role("combobox", name="Message #incidents")
    await write.fill("half a thought")
    await page.get_by_role("link", name="ops", exact=True).click()
    await expect(page.get_by_role("combobox", name="Message #ops")).to_have_value("")
    await page.reload()
    await page.get_by_role("link", name="incidents").click()
    await expect(write).to_have_value("half a thought")


async def test_a_lost_connection_can_be_tried_again_at_once_and_keeps_the_text(
    tmp_path: Path, open_page: Pages
) -> None:
    async with Workspace.start(tmp_path / "second") as second:
        port = int(second.url.rsplit(":", 1)[1])
        page = await open_page("oscar")
        # The page tries again by itself, at 0.2 s for the first time. Here only the button may be quick.
        await page.add_init_script(
            "const real = setTimeout; window.setTimeout = (f, ms, ...more) => real(f, ms < 200 ? ms : 60000, ...more);"
        )
        await page.goto(f"{second.url}/?person=oscar")
        write = page.get_by_role("combobox", name="Message #incidents")
        await write.fill("kept")
    banner = page.get_by_role("status").filter(has_text="Connection to the workspace lost")
    await expect(banner).to_contain_text("What you write is kept")
    async with Workspace.start(tmp_path / "second", port=port):
        await banner.get_by_role("button", name="Retry now").click()
        await expect(banner).to_be_hidden()
        await expect(write).to_have_value("kept")
        # The browser itself logs refused connections; nothing else may have gone wrong.
        open_page.problems[:] = [text for text in open_page.problems if "ERR_CONNECTION_REFUSED" not in text]
        await page.close()


async def test_a_thread_with_more_news_than_fits_opens_at_the_first_of_them(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    """A card is read from its head, not from its buttons."""
    incidents, vera = channel_of(workspace, "incidents"), workspace.identity.person("vera")
    assert vera is not None
    root = await bot.post(incidents, "why is it slow?")
    await bot.post(incidents, "an old reply", thread_ts=root)
    page = await open_page("vera")
    card = f"<@{vera.id}> *Approval needed*\n" + "\n".join(f"line {number}" for number in range(60))
    await bot.post(incidents, card, thread_ts=root)
    unread = page.get_by_role("link", name=re.compile("why is it slow"))
    await unread.first.click()
    thread = page.locator("#thread")
    await expect(thread.get_by_role("separator", name="New")).to_be_in_viewport()
    await expect(thread.get_by_text("Approval needed")).to_be_in_viewport()
    await thread.get_by_role("button", name="Jump to newest").click()
    await expect(thread.get_by_text("line 59")).to_be_in_viewport()


async def test_a_thread_whose_first_message_has_no_text_is_called_by_its_heading(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    incidents, vera = channel_of(workspace, "incidents"), workspace.identity.person("vera")
    assert vera is not None
    page = await open_page("vera")
    root = await bot.post(incidents, "", attachments=[{"title": "DiskFull on db-1", "text": "97 %"}])
    await bot.post(incidents, f"<@{vera.id}> look", thread_ts=root)
    await expect(page.get_by_role("link", name=re.compile("^DiskFull on db-1"))).to_be_visible()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("option", name="DiskFull on db-1")).to_be_visible()


async def test_the_last_entry_of_a_long_jump_list_can_be_seen(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    incidents, vera = channel_of(workspace, "incidents"), workspace.identity.person("vera")
    assert vera is not None
    for number in range(25):
        root = await bot.post(incidents, f"question {number}")
        await bot.post(incidents, f"<@{vera.id}> look", thread_ts=root)
    page = await open_page("vera")
    await expect(page.get_by_role("link", name=re.compile("^question 0,"))).to_be_attached()
    await page.keyboard.press("Control+k")
    await page.keyboard.press("ArrowUp")
    await expect(page.get_by_role("option").last).to_have_attribute("aria-selected", "true")
    await expect(page.get_by_role("option").last).to_be_in_viewport(ratio=0.9)
