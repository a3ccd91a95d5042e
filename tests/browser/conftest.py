"""One headless Chromium a session; a fresh workspace, a small bot and a page for each test."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Error, Page, async_playwright, expect

from chatops_bot.simulators.slack.server import Workspace
from chatops_bot.simulators.slack.settings import Settings

Json = dict[str, Any]
CHROMIUM_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
"""The first of these that there is. The shell is Chromium without what draws windows, at half the CPU."""
WAIT_MS = 15_000
ACK_SECONDS = 0.5
expect.set_options(timeout=WAIT_MS)


def browser_path() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Bot:
    """Posts through the Web API and answers each interaction with what `answer` holds (None: stays silent)."""

    def __init__(self, workspace: Workspace, session: aiohttp.ClientSession) -> None:
        self._workspace = workspace
        self._session = session
        self.interactions: asyncio.Queue[Json] = asyncio.Queue()
        self.answer: Json | None = {}

    async def call(self, method: str, token: str | None = None, **arguments: Any) -> Json:
        headers = {"Authorization": f"Bearer {token or self._workspace.identity.bot_token}"}
        async with self._session.post(
            self._workspace.api_url + method, json=arguments, headers=headers
        ) as answer:
            body: Json = await answer.json()
        assert body["ok"], body
        return body

    async def post(self, channel: str, text: str, **more: Any) -> str:
        return str((await self.call("chat.postMessage", channel=channel, text=text, **more))["ts"])

    async def listen(self) -> None:
        opened = await self.call("apps.connections.open", token=self._workspace.identity.app_token)
        async with self._session.ws_connect(opened["url"]) as socket:
            async for frame in socket:
                envelope = frame.json()
                interactive = envelope.get("type") == "interactive"
                if interactive:
                    self.interactions.put_nowait(envelope["payload"])
                if "envelope_id" in envelope and not (interactive and self.answer is None):
                    payload = self.answer if interactive and self.answer else {}
                    await socket.send_json({"envelope_id": envelope["envelope_id"], "payload": payload})

    async def next_interaction(self) -> Json:
        return await asyncio.wait_for(self.interactions.get(), WAIT_MS / 1000)


class Windows:
    """Windows of one browser, each with a context of its own, which tests take and give back emptied.

    A new one costs more than the rest of most tests: a process, its fonts, and every script compiled afresh.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: dict[str, list[Page]] = {}

    async def take(self, options: Json) -> Page:
        """One that nobody has, with these options of a context."""
        idle = self._idle.get(repr(options))
        if not idle:
            return await (await self._browser.new_context(**options)).new_page()
        page = idle.pop()
        await page.emulate_media(
            color_scheme=options.get("color_scheme", "light"),
            reduced_motion=options.get("reduced_motion", "no-preference"),
        )
        await page.set_viewport_size(options["viewport"])
        return page

    async def give_back(self, page: Page, options: Json) -> None:
        if page.is_closed() or len(page.context.pages) > 1:
            await page.context.close()
            return
        await page.unroute_all()
        await page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        await page.context.clear_cookies()
        await page.mouse.move(-1, -1)
        await page.goto("about:blank")
        self._idle.setdefault(repr(options), []).append(page)


class Pages:
    """Opens the page as a person, each time in a window of its own; `problems` is what consoles logged."""

    def __init__(self, chromium: Windows, url: str) -> None:
        self._chromium = chromium
        self._url = url
        self._opened: list[tuple[Page, Json]] = []
        self.problems: list[str] = []

    async def __call__(
        self, person: str, hash_: str = "", width: int = 1280, height: int = 720, **context_options: Any
    ) -> Page:
        options = {"viewport": {"width": width, "height": height}, "locale": "en-US", **context_options}
        page = await self._chromium.take(options)
        self._opened.append((page, options))
        page.set_default_timeout(WAIT_MS)
        page.on("console", self._logged)
        page.on("pageerror", self._failed)
        await page.goto(f"{self._url}/?person={person}{hash_}")
        await page.wait_for_selector(".me", state="attached")
        await page.wait_for_selector("html[data-live=on]", state="attached")
        return page

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def _failed(self, error: Error) -> None:
        self.problems.append(str(error))

    async def close(self) -> None:
        for page, options in self._opened:
            page.remove_listener("console", self._logged)
            page.remove_listener("pageerror", self._failed)
            await self._chromium.give_back(page, options)
        self._opened.clear()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Windows]:
    found = browser_path()
    if found is None:
        reason = "chromium is not installed (see tests/system_packages.sh)"
        if os.environ.get("CHATOPS_NO_SKIPS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS.split())
        yield Windows(browser)
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    async with Workspace.start(
        tmp_path, settings=Settings(ack_seconds=ACK_SECONDS, rate_limits="off")
    ) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def bot(workspace: Workspace) -> AsyncIterator[Bot]:
    async with aiohttp.ClientSession() as session:
        running = Bot(workspace, session)
        task = asyncio.create_task(running.listen())
        yield running
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(chromium: Windows, workspace: Workspace) -> AsyncIterator[Pages]:
    """At the end of a test, no page may have logged an error."""
    pages = Pages(chromium, workspace.url)
    yield pages
    await pages.close()
    assert pages.problems == []
