"""One headless Chromium a session; a fresh workspace, a small bot and a page for each test."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright, expect

from chatops_bot.simulators.slack.server import Workspace
from chatops_bot.simulators.slack.settings import Settings

Json = dict[str, Any]
CHROMIUM_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
WAIT_MS = 15_000
ACK_SECONDS = 0.5
expect.set_options(timeout=WAIT_MS)


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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        reason = "chromium is not installed (see tests/system_packages.sh)"
        if os.environ.get("CHATOPS_NO_SKIPS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS.split())
        yield browser
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


class Pages:
    """Opens the page as a person, each time in a browser context of its own; `problems` is what consoles logged."""

    def __init__(self, chromium: Browser, url: str) -> None:
        self._chromium = chromium
        self._url = url
        self._contexts = AsyncExitStack()
        self.problems: list[str] = []

    async def __call__(
        self, person: str, hash_: str = "", width: int = 1280, height: int = 720, **context_options: Any
    ) -> Page:
        context = await self._chromium.new_context(
            viewport={"width": width, "height": height}, **{"locale": "en-US", **context_options}
        )
        self._contexts.push_async_callback(context.close)
        page = await context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("console", self._logged)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        await page.goto(f"{self._url}/?person={person}{hash_}")
        await page.wait_for_selector(".me", state="attached")
        await page.wait_for_selector("html[data-live=on]", state="attached")
        return page

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    async def close(self) -> None:
        await self._contexts.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(chromium: Browser, workspace: Workspace) -> AsyncIterator[Pages]:
    """At the end of a test, no page may have logged an error."""
    pages = Pages(chromium, workspace.url)
    yield pages
    await pages.close()
    assert pages.problems == []
