"""Each kind of message, looked at: a picture of each on a wide and a narrow window, and what holds for all of them."""

import pytest
from playwright.async_api import expect

from chatops_bot.simulators.slack.server import Workspace
from tests.browser.conftest import Bot, Pages
from tests.browser.kinds import KINDS, channel_of
from tests.browser.looks import TWO_LOOKS, looks_right

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
    for name, ts in stamps.items():
        row = page.locator(f'#channel .message[data-ts="{ts}"]')
        await expect(row).not_to_contain_text("which this page does not show")
        await looks_right(page, f"kind-{name}", row, TWO_LOOKS)
