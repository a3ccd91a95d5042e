"""The whole product in the page, used as people use it: ask, watch, approve, ask again, through a restart of the bot."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from chatops_bot.domain.errors import ModelError
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.llm.offline import OfflineModel
from chatops_bot.llm.scripted import ScriptedModel, calls, fails, says
from tests.browser.conftest import Pages, Windows
from tests.browser.looks import ALL_LOOKS, TWO_LOOKS, Look, looks_right
from tests.scenarios.conftest import WEBHOOK_TOKEN, World, open_world
from tests.scenarios.test_ask import failed_runs

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

Json = dict[str, Any]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
LOOKS: dict[Language, Sequence[Look]] = {"en": ALL_LOOKS, "zh": TWO_LOOKS}
ANSWER_MS = 10_000
ADVERSE = "psql: <!channel> " + "/very/long/path" * 12


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with open_world(tmp_path_factory.mktemp("world")) as opened:
        await failed_runs(opened)
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(chromium: Windows, world: World) -> AsyncIterator[Pages]:
    """At the end of a test, no page may have logged an error."""
    pages = Pages(chromium, world.workspace.url)
    yield pages
    await pages.close()
    assert pages.problems == []


async def ask(page: Page, text: str) -> None:
    """Ask in the channel and open the thread of the question."""
    await page.locator("#channel textarea.composer-field").fill(f"@opsbot {text}")
    await page.keyboard.press("Enter")
    asked = page.locator("#channel .message", has_text=text.partition("`")[0].strip()).last
    await asked.hover()
    await asked.get_by_role("button", name="Reply in thread").click()
    await expect(reply(page)).to_be_visible(timeout=ANSWER_MS)


async def say(page: Page, text: str) -> None:
    await page.locator("#thread textarea.composer-field").fill(text)
    await page.keyboard.press("Enter")


async def become(page: Page, name: str) -> None:
    await page.locator("button.me").click()
    await page.get_by_role("menuitemradio", name=re.compile(name)).click()
    await expect(page.locator("button.me")).to_contain_text(name)


def reply(page: Page, text: str = "") -> Locator:
    """The bot's last message in the open thread that holds `text`. Only the bot's messages have blocks."""
    return page.locator("#thread .message:has(.block)", has_text=text).last


async def settled(page: Page) -> None:
    stop = page.locator("#thread").get_by_role("button", name=re.compile("^(Stop|停止)$"))
    await expect(stop).to_have_count(0, timeout=ANSWER_MS)


GROWTH = """() => {
  window.seen = [];
  new MutationObserver(() => {
    const length = [...document.querySelectorAll("#thread .block.markdown")].at(-1)?.textContent.length ?? 0;
    if (length !== window.seen.at(-1)) window.seen.push(length);
  }).observe(document.querySelector("#thread"), { childList: true, subtree: true, characterData: true });
}"""

ASKING: dict[Language, Json] = {
    "en": {
        "question": "What failed recently?",
        "line": re.compile(r"^querying runs → .*found, (?:\d+ ms|[\d.]+ s)"),
        "text": "In the last 24 hours",
        "note": "No language model is connected",
        "followup": re.compile("^Why did run"),
        "asked": "林浩然 asked: Why did run",
    },
    "zh": {
        "question": "最近有哪些任务失败了？",
        "line": re.compile(r"^查询运行记录 → 找到.*秒"),
        "text": "最近 24 小时内",
        "note": "未连接语言模型",
        "followup": re.compile("为什么"),
        "asked": "林浩然 问：",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_question_is_answered_in_its_thread_and_a_followup_asks_the_next(
    world: World, open_page: Pages, language: Language
) -> None:
    words = ASKING[language]
    async with world.bot(OfflineModel(pace=0.05)):
        page = await open_page("oscar")
        await page.evaluate(GROWTH)
        await ask(page, words["question"])
        await settled(page)
        answer = reply(page, words["text"])
        await expect(answer.locator(".context").first).to_have_text(words["line"])
        await expect(answer.locator(".markdown")).to_contain_text("Connection refused")
        await expect(answer.locator(".context", has_text=words["note"])).to_be_visible()
        lengths = await page.evaluate("() => window.seen")
        assert len(lengths) >= 3
        assert lengths[-1] == max(lengths)
        await looks_right(page, f"answer-{language}", answer, LOOKS[language])

        await answer.get_by_role("button", name=words["followup"]).first.click()
        await expect(reply(page, words["asked"])).to_be_visible(timeout=ANSWER_MS)
        await expect(reply(page, "pg_dump: error")).to_be_visible(timeout=ANSWER_MS)
        await settled(page)


DECIDING: dict[Language, Json] = {
    "en": {
        "task": "nightly-report",
        "ask": "pause nightly-report",
        "pending": "Approval needed: Pause task nightly-report",
        "change": "Status\u2002enabled → disabled",
        "approve": "Approve",
        "refused": "Role viewer may not approve this change",
        "done": "Done: Pause task nightly-report",
        "outcome": "is paused",
        "by": "Approved by\u2002Ana Duarte (approver, ",
        "undo": "Undo",
        "on": "Continue",
        "did": "@opsbot did it work?",
        "worked": "nightly-report (#1) is disabled",
    },
    "zh": {
        "task": "log-archive",
        "ask": "暂停 log-archive",
        "pending": "待批准：暂停任务 log-archive",
        "change": "状态\u2002启用 → 停用",
        "approve": "批准",
        "refused": "不能批准此变更",
        "done": "已执行：暂停任务 log-archive",
        "outcome": "已暂停",
        "by": "批准人\u2002Ana Duarte（approver，",
        "undo": "撤销",
        "on": "继续处理",
        "did": "@opsbot 生效了吗？",
        "worked": "log-archive (#3)：",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_viewer_is_refused_an_approver_approves_and_the_effect_can_be_asked_about(
    world: World, open_page: Pages, language: Language
) -> None:
    words = DECIDING[language]
    async with world.bot():
        page = await open_page("oscar")
        await ask(page, words["ask"])
        pending = reply(page, words["pending"])
        await expect(pending).to_contain_text(words["change"], timeout=ANSWER_MS)
        await settled(page)
        await looks_right(page, f"card-pending-{language}", pending, LOOKS[language])

        await become(page, "Vera Lindqvist")
        await reply(page, words["pending"]).get_by_role("button", name=words["approve"]).click()
        refusal = page.locator("#thread .message.ephemeral", has_text=words["refused"])
        await expect(refusal).to_be_visible(timeout=ANSWER_MS)
        await looks_right(page, f"card-refused-{language}", refusal, LOOKS[language])
        assert (await world.task(words["task"]))["Status"] == "enabled"

        await become(page, "Ana Duarte")
        await expect(page.locator(".message.ephemeral")).to_have_count(0)
        await reply(page, words["pending"]).get_by_role("button", name=words["approve"]).click()
        done = reply(page, words["done"])
        await expect(done).to_contain_text(words["outcome"], timeout=ANSWER_MS)
        await expect(done).to_contain_text(words["by"])
        await expect(done.locator(".button")).to_have_text([words["undo"], words["on"]])
        assert (await world.task(words["task"]))["Status"] == "disabled"
        await looks_right(page, f"card-done-{language}", done, LOOKS[language])

        await say(page, words["did"])
        told = reply(page, words["worked"])
        await expect(told).to_contain_text("disabled" if language == "en" else "停用", timeout=ANSWER_MS)
        await settled(page)
        await looks_right(page, f"did-it-work-{language}", told, LOOKS[language])


RISKY: dict[Language, Json] = {
    "en": {
        "ask": "create a shell task named disk-check that runs every day at 3am running `df -h`",
        "pending": "Approval needed: Create task disk-check",
        "payload": "What will be executed\u2002df -h",
        "approve": "Approve",
        "back": "Go back",
        "title": "Confirm a high-risk change",
        "done": "Done: Create task disk-check",
        "reject": "Reject",
        "ask_again": "trigger cert-check",
        "pending_again": "Approval needed: Run task cert-check",
        "rejected": "Rejected: Run task cert-check",
    },
    "zh": {
        "ask": "创建 shell 任务 tmp-check，每天凌晨3点执行 `df -h`",
        "pending": "待批准：创建任务 tmp-check",
        "payload": "将执行的内容\u2002df -h",
        "approve": "批准",
        "back": "返回",
        "title": "确认高风险变更",
        "done": "已执行：创建任务 tmp-check",
        "reject": "拒绝",
        "ask_again": "触发 cert-check",
        "pending_again": "待批准：立即运行任务 cert-check",
        "rejected": "已拒绝：立即运行任务 cert-check",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_high_risk_change_is_confirmed_and_a_rejected_one_is_not_run(
    world: World, open_page: Pages, language: Language
) -> None:
    words = RISKY[language]
    async with world.bot():
        page = await open_page("oscar")
        await ask(page, words["ask"])
        await expect(reply(page, words["pending"])).to_contain_text(words["payload"], timeout=ANSWER_MS)
        await settled(page)
        await become(page, "Ana Duarte")
        pending = reply(page, words["pending"])
        await looks_right(page, f"card-risky-{language}", pending, LOOKS[language])
        dialog = page.locator("dialog.confirm")
        await pending.get_by_role("button", name=words["approve"]).click()
        await expect(dialog).to_contain_text(words["title"])
        await looks_right(page, f"confirm-{language}", pending, LOOKS[language])
        await dialog.get_by_role("button", name=words["back"]).click()
        await expect(dialog).to_have_count(0)
        await expect(pending.get_by_role("button", name=words["approve"])).to_be_enabled()
        await pending.get_by_role("button", name=words["approve"]).click()
        await dialog.get_by_role("button", name=words["approve"]).click()
        await expect(reply(page, words["done"])).to_be_visible(timeout=ANSWER_MS)

        await become(page, "林浩然")
        await ask(page, words["ask_again"])
        await expect(reply(page, words["pending_again"])).to_be_visible(timeout=ANSWER_MS)
        await settled(page)
        await become(page, "Ana Duarte")
        await looks_right(
            page, f"card-trigger-{language}", reply(page, words["pending_again"]), LOOKS[language]
        )
        await reply(page, words["pending_again"]).get_by_role("button", name=words["reject"]).click()
        rejected = reply(page, words["rejected"])
        await expect(rejected).to_be_visible(timeout=ANSWER_MS)
        await expect(rejected.locator(".button")).to_have_count(1)
        await looks_right(page, f"card-rejected-{language}", rejected, LOOKS[language])


RESTARTED: dict[Language, Json] = {
    "en": {
        "task": "cache-warmup",
        "ask": "pause cache-warmup",
        "pending": "Approval needed: Pause task cache-warmup",
        "approve": "Approve",
        "done": "Done: Pause task cache-warmup",
    },
    "zh": {
        "task": "db-backup",
        "ask": "暂停 db-backup",
        "pending": "待批准：暂停任务 db-backup",
        "approve": "批准",
        "done": "已执行：暂停任务 db-backup",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_card_outlives_a_restart_of_the_bot(
    world: World, open_page: Pages, language: Language
) -> None:
    words = RESTARTED[language]
    page = await open_page("oscar")
    async with world.bot():
        await ask(page, words["ask"])
        await expect(reply(page, words["pending"])).to_be_visible(timeout=ANSWER_MS)
        await settled(page)
    await become(page, "Ana Duarte")
    approve = reply(page, words["pending"]).get_by_role("button", name=words["approve"])
    await approve.click()
    await expect(reply(page, words["pending"]).locator(".click-error")).to_contain_text("not responding")
    assert (await world.task(words["task"]))["Status"] == "enabled"
    async with world.bot():
        await approve.click()
        await expect(reply(page, words["done"])).to_be_visible(timeout=ANSWER_MS)
    assert (await world.task(words["task"]))["Status"] == "disabled"


STOPPING: dict[Language, Json] = {
    "en": {"stop": "Stop", "line": "querying runs…", "said": "Let me look.", "stopped": "Stopped by 林浩然"},
    "zh": {
        "stop": "停止",
        "line": "正在查询运行记录…",
        "said": "我先查一下。",
        "stopped": "已由 林浩然 停止",
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_running_answer_shows_what_it_does_and_can_be_stopped(
    world: World, open_page: Pages, language: Language
) -> None:
    words = STOPPING[language]
    held = asyncio.Event()

    async def hold(_: object) -> None:
        if len(model.requests) > 1:
            await held.wait()

    model = ScriptedModel(
        [calls(("query_instances", {"status": "failed"}), text=words["said"]), says("never said")],
        before_delta=hold,
    )
    async with world.bot(model):
        page = await open_page("oscar")
        await ask(page, "looking around" if language == "en" else "看一下")
        running = reply(page, words["said"])
        await expect(running.locator(".context")).to_contain_text("→", timeout=ANSWER_MS)
        await looks_right(page, f"running-{language}", running, LOOKS[language])
        await running.get_by_role("button", name=words["stop"]).click()
        await expect(running).to_contain_text(words["stopped"], timeout=ANSWER_MS)
        await expect(running.locator(".button")).to_have_count(0)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_failed_answer_says_why(world: World, open_page: Pages, language: Language) -> None:
    reason = Phrase(
        "模型服务暂时不可用，请稍后重试。", "The model service is not available; try again shortly."
    )
    async with world.bot(ScriptedModel([fails(ModelError(reason))])):
        page = await open_page("oscar")
        await ask(page, "looking around" if language == "en" else "看一下")
        failed = reply(page, reason.said_in(language))
        await expect(failed).to_contain_text("✕", timeout=ANSWER_MS)
        await looks_right(page, f"failed-{language}", failed, LOOKS[language])


async def test_an_alert_can_be_asked_about(world: World, open_page: Pages) -> None:
    alert = {
        "task_id": 2, "task_name": "db-backup", "instance_id": 1, "schedule_instance_id": "task-2-of-a-test", "retry_count": 1,
        "max_retry": 1, "error_code": "execute_failed", "error_message": ADVERSE, "timestamp": "2026-11-29T02:03:04.567890Z",
    }  # fmt: skip
    async with world.bot() as bot:
        headers = {"Authorization": f"Bearer {WEBHOOK_TOKEN}"}
        async with world.session.post(f"{bot.web_url}/hooks/scheduler", json=alert, headers=headers) as taken:
            assert taken.status == 200
        page = await open_page("vera", f"#/{world.incidents}")
        shown = page.locator("#channel .message", has_text="task-2-of-a-test")
        await expect(shown).to_contain_text("2026-11-29 02:03:04 UTC")
        await expect(shown).to_contain_text("<!channel>")
        await expect(shown.locator(".button")).to_have_count(1)
        await looks_right(page, "alert", shown)
        await shown.locator(".button").click()
        await shown.locator(".reply-link").click()
        await expect(reply(page, "Connection refused")).to_be_visible(timeout=ANSWER_MS)
        await settled(page)
