"""Retake the two pictures of the README: `python -m tests.browser.readme_pictures`, from the root of a checkout.

They show a demo of its own, in which 林浩然 asks in the thread of an alert to pause a task, and Ana Duarte approves.
"""

import asyncio
import re
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright, expect

from tests.app.conftest import ANY_PORTS, DemoProcess
from tests.browser.conftest import CHROMIUM_FLAGS, browser_path
from tests.tracked import ROOT

IMAGES = ROOT / "docs" / "images"
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
WAIT_MS = 30_000


async def opened(browser: Browser, demo: DemoProcess, person: str, thread: str = "", **looks: object) -> Page:
    """The page of a person: #incidents, or a thread of it."""
    context = await browser.new_context(locale="en-US", **looks)  # type: ignore[arg-type]  # playwright's own keywords
    page = await context.new_page()
    page.set_default_timeout(WAIT_MS)
    await page.goto(f"{demo.ready['workspace']}/?person={person}#/{demo.incidents}{thread}")
    await page.wait_for_selector("html[data-live=on]", state="attached")
    return page


async def take(browser: Browser, demo: DemoProcess) -> None:
    alert = await asyncio.to_thread(demo.alert)
    thread = f"/{alert['ts']}"
    wide = await opened(browser, demo, "oscar", thread, viewport=WIDE, color_scheme="light")
    await wide.get_by_role("button", name="Got it").click()
    await wide.locator("#thread textarea.composer-field").fill("@opsbot pause db-backup")
    await wide.keyboard.press("Enter")
    await expect(wide.locator("#thread").get_by_role("button", name="Approve")).to_be_visible(timeout=WAIT_MS)

    phone = await opened(
        browser, demo, "ana", thread,
        viewport=PHONE, device_scale_factor=2, color_scheme="dark", is_mobile=True, has_touch=True,
    )  # fmt: skip
    approve = phone.get_by_role("button", name="Approve")
    card = phone.locator("#thread .message", has=approve)
    await card.evaluate("it => it.scrollIntoView({block: 'start'})")
    await phone.screenshot(path=IMAGES / "phone.png", animations="disabled")
    await approve.click()

    done = wide.locator("#thread .message", has_text=re.compile("Done: Pause task"))
    await expect(done).to_be_visible(timeout=WAIT_MS)
    await done.evaluate("it => it.scrollIntoView({block: 'start'})")
    await wide.screenshot(path=IMAGES / "approve.png", animations="disabled")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        demo = DemoProcess(Path(folder) / "demo", *ANY_PORTS)
        try:
            await asyncio.to_thread(demo.wait_ready)
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=browser_path(), args=CHROMIUM_FLAGS.split()
                )
                await take(browser, demo)
                await browser.close()
        finally:
            demo.kill_group()


if __name__ == "__main__":
    asyncio.run(main())
