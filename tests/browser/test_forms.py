"""Forms in the page, used as people use them: fill in, be told what is wrong where it is wrong, submit, approve."""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from chatops_bot.domain.language import Language
from chatops_bot.llm.scripted import ScriptedModel, calls
from tests.browser.conftest import Pages, Windows
from tests.browser.looks import ALL_LOOKS, TWO_LOOKS, Look, looks_right
from tests.browser.test_scenarios import ANSWER_MS, ask, become, reply, settled
from tests.scenarios.conftest import World, open_world

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

Json = dict[str, Any]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
LOOKS: dict[Language, Sequence[Look]] = {"en": ALL_LOOKS, "zh": TWO_LOOKS}
SCRIPT = "#!/bin/sh\ntar czf /backup/logs.tgz /var/log"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with open_world(tmp_path_factory.mktemp("world")) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(chromium: Windows, world: World) -> AsyncIterator[Pages]:
    """At the end of a test, no page may have logged an error."""
    pages = Pages(chromium, world.workspace.url)
    yield pages
    await pages.close()
    assert pages.problems == []


def field(within: Locator, label: str) -> Locator:
    """The control under a label, which may say besides that it is optional."""
    return within.get_by_label(re.compile(rf"^{re.escape(label)}( *\(optional\))?$"))


async def choose(within: Locator, label: str, option: str) -> None:
    """Choose one of a list."""
    await field(within, label).click()
    await within.page.get_by_role("option").filter(has_text=option).click()


async def approve(page: Page, pending: str, button: str, done: str) -> None:
    await become(page, "Ana Duarte")
    await reply(page, pending).get_by_role("button", name=button).click()
    await page.locator("dialog.confirm").get_by_role("button", name=button).click()
    await expect(reply(page, done)).to_be_visible(timeout=ANSWER_MS)


CREATING: dict[Language, Json] = {
    "en": {
        "name": "archive-logs",
        "ask": "create a task that archives logs every night",
        "open": "Create a task: please fill in",
        "fill": "Fill in",
        "fields": ("Name", "Type", "What it runs"),
        "shell": "shell: run a script",
        "own": "Schedule, if not in the list",
        "wrong": "99",
        "submit": "Submit",
        "filled": "Create a task: filled in",
        "pending": "Approval needed: Create task archive-logs",
        "approve": "Approve",
        "done": "Done: Create task archive-logs",
    },
    "zh": {
        "name": "guidang-logs",
        "ask": "创建一个每晚归档日志的任务",
        "open": "创建任务：请补充信息",
        "fill": "填写",
        "fields": ("名称", "类型", "执行内容"),
        "shell": "shell：运行脚本",
        "own": "调度（列表里没有时填写）",
        "wrong": "不是有效的五段 cron 表达式",
        "submit": "提交",
        "filled": "创建任务：已填写",
        "pending": "待批准：创建任务 guidang-logs",
        "approve": "批准",
        "done": "已执行：创建任务 guidang-logs",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_large_form_is_filled_in_in_a_dialog_and_becomes_a_task(
    world: World, open_page: Pages, language: Language
) -> None:
    words = CREATING[language]
    async with world.bot():
        page = await open_page("oscar")
        await ask(page, words["ask"])
        form = reply(page, words["open"])
        await expect(form).to_be_visible(timeout=ANSWER_MS)
        await settled(page)
        await looks_right(page, f"form-open-{language}", form, LOOKS[language])
        await form.get_by_role("button", name=words["fill"]).click()
        dialog = page.locator("dialog.view[open]")
        await expect(dialog).to_be_visible()
        await looks_right(page, f"form-dialog-{language}", form, LOOKS[language])
        name, kind, payload = words["fields"]
        await field(dialog, name).fill(words["name"])
        await choose(dialog, kind, words["shell"])
        await field(dialog, payload).fill(SCRIPT)
        await field(dialog, words["own"]).fill("99 2 * * *")
        await dialog.get_by_role("button", name=words["submit"]).click()
        error = dialog.locator(".field-error", has_text=words["wrong"])
        await expect(error).to_be_visible(timeout=ANSWER_MS)
        await expect(field(dialog, name)).to_have_value(words["name"])
        await expect(field(dialog, payload)).to_have_value(SCRIPT)
        await looks_right(page, f"form-dialog-wrong-{language}", form, LOOKS[language])

        await field(dialog, words["own"]).fill("")
        await dialog.get_by_role("button", name=words["submit"]).click()
        await expect(dialog).to_have_count(0)
        await expect(reply(page, words["pending"])).to_contain_text("02:00", timeout=ANSWER_MS)
        filled = reply(page, words["filled"])
        await expect(filled).to_contain_text("tar czf", timeout=ANSWER_MS)
        await expect(filled.locator(".button, input, select")).to_have_count(0)
        await settled(page)
        await looks_right(page, f"form-filled-{language}", filled, LOOKS[language])
        await approve(page, words["pending"], words["approve"], words["done"])
    task = await world.task(words["name"])
    assert (task["CronExpr"], task["Payload"]) == ("0 18 * * *", SCRIPT)


CHOOSING: dict[Language, Json] = {
    "en": {
        "ask": "run one of the tasks for me",
        "open": "Run a task now: please fill in",
        "field": "Task",
        "submit": "Submit",
        "wrong": "Please fill this in.",
        "task": "log-archive (#3)",
        "filled": "Run a task now: filled in",
        "pending": "Approval needed: Run task log-archive",
        "approve": "Approve",
        "done": "Done: Run task log-archive",
        "closed": "only 林浩然 can fill it in",
    },
    "zh": {
        "ask": "帮我跑一个任务",
        "open": "立即运行任务：请补充信息",
        "field": "任务",
        "submit": "提交",
        "wrong": "请填写此项。",
        "task": "nightly-report (#1)",
        "filled": "立即运行任务：已填写",
        "pending": "待批准：立即运行任务 nightly-report",
        "approve": "批准",
        "done": "已执行：立即运行任务 nightly-report",
        "closed": "只有 林浩然 可以填写",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_small_form_is_filled_in_in_its_message(
    world: World, open_page: Pages, language: Language
) -> None:
    words = CHOOSING[language]
    task_id = int(words["task"].partition("#")[2].rstrip(")"))
    model = ScriptedModel([calls(("trigger_task", {})), calls(("trigger_task", {"task_id": task_id}))])
    async with world.bot(model):
        page = await open_page("oscar")
        await ask(page, words["ask"])
        form = reply(page, words["open"])
        await expect(form).to_be_visible(timeout=ANSWER_MS)
        await settled(page)
        await looks_right(page, f"form-small-{language}", form, LOOKS[language])
        await form.get_by_role("button", name=words["submit"]).click()
        await expect(form).to_contain_text(words["wrong"], timeout=ANSWER_MS)
        await looks_right(page, f"form-small-wrong-{language}", form, LOOKS[language])

        await become(page, "Ana Duarte")
        await choose(reply(page, words["open"]), words["field"], words["task"])
        await reply(page, words["open"]).get_by_role("button", name=words["submit"]).click()
        told = page.locator("#thread .message.ephemeral", has_text=words["closed"])
        await expect(told).to_be_visible(timeout=ANSWER_MS)

        await become(page, "林浩然")
        await choose(form, words["field"], words["task"])
        await form.get_by_role("button", name=words["submit"]).click()
        await expect(reply(page, words["filled"])).to_contain_text(words["task"], timeout=ANSWER_MS)
        await expect(reply(page, words["pending"])).to_be_visible(timeout=ANSWER_MS)
        await looks_right(
            page, f"form-small-filled-{language}", reply(page, words["filled"]), LOOKS[language]
        )
        await approve(page, words["pending"], words["approve"], words["done"])
