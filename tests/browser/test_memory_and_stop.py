"""In the page: a thread that was there before the bot, messages that wait, and Stop; in both languages."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from chatops_bot.domain.language import Language
from chatops_bot.llm.scripted import ScriptedModel, says
from tests.browser.conftest import Pages, Windows
from tests.browser.test_scenarios import ANSWER_MS, LANGUAGES, ask, reply, say, settled
from tests.scenarios.conftest import World, open_world
from tests.scenarios.test_ask import failed_runs
from tests.scenarios.test_restart import HeldAt

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def small_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with open_world(tmp_path_factory.mktemp("world")) as opened:
        await failed_runs(opened)
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def pages_of_it(chromium: Windows, small_world: World) -> AsyncIterator[Pages]:
    """At the end of a test, no page may have logged an error."""
    pages = Pages(chromium, small_world.workspace.url)
    yield pages
    await pages.close()
    assert pages.problems == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_look_into_it_in_the_thread_of_an_alert_is_about_that_alert(
    small_world: World, pages_of_it: Pages, language: Language
):
    title = {"en": "TaskFailed in the night", "zh": "夜间任务失败"}[language]
    await small_world.sim(
        "app_post", app="Alertmanager", channel=small_world.incidents,
        attachments=[{"title": title, "text": "task db-backup failed again"}],
    )  # fmt: skip
    async with small_world.bot():
        page = await pages_of_it("oscar")
        alert = page.locator("#channel .message", has_text=title).last
        await alert.hover()
        await alert.get_by_role("button", name="Reply in thread").click()
        await say(page, {"en": "@opsbot can you look into it?", "zh": "@opsbot 帮忙看一下这个"}[language])
        await expect(reply(page, "Connection refused")).to_be_visible(timeout=ANSWER_MS)
        await settled(page)
        await expect(reply(page, "Connection refused")).to_contain_text("db-backup")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_message_waits_in_sight_and_is_answered_when_the_turn_is_stopped(
    small_world: World, pages_of_it: Pages, language: Language
):
    words: dict[Language, tuple[str, str, str, str, str]] = {
        "en": ("tell me all", "and then?", "Waiting – 1 before this", "Stop", "Stopped by"),
        "zh": ("全部告诉我", "然后呢？", "排队中，前面还有 1 条", "停止", "已由"),
    }
    first, second, waiting, stop, stopped = words[language]
    held = HeldAt("never")
    model = ScriptedModel([says("So far. ", "never"), says("That was all.")], before_delta=held)
    async with small_world.bot(model):
        page = await pages_of_it("oscar")
        await ask(page, first)
        await expect(reply(page, "So far.")).to_be_visible(timeout=ANSWER_MS)
        await say(page, second)
        await expect(reply(page, waiting)).to_be_visible(timeout=ANSWER_MS)
        await page.locator("#thread").get_by_role("button", name=re.compile(f"^{stop}$")).first.click()
        await expect(reply(page, stopped)).to_contain_text("So far.", timeout=ANSWER_MS)
        await expect(reply(page, "That was all.")).to_be_visible(timeout=ANSWER_MS)
        await settled(page)
        await expect(reply(page, waiting)).to_have_count(0)
