"""A phone: one pane at a time, targets for thumbs, dialogs as sheets, nothing wider than the screen. And both themes."""

import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from chatops_bot.simulators.slack.server import Workspace
from tests.browser.conftest import Bot, Pages
from tests.browser.kinds import FORM, KINDS, Json, actions, button, channel_of, mrkdwn, plain

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

WIDTH, HEIGHT = 390, 780
LEAST_PX = 40
CONTRAST = 4.5
"""WCAG 2.2, criterion 1.4.3, level AA."""

TARGETS = """least => [...document.querySelectorAll('button, a.channel-link, .picker, .text-input, [role=option], summary')]
  .filter(node => node.checkVisibility({ opacityProperty: true }) && !node.closest('[inert]'))
  .map(node => [node, node.getBoundingClientRect()])
  .filter(([, box]) => box.width && box.height && (box.height < least - 0.5 || box.width < least - 0.5))
  .map(([node, box]) => `${node.outerHTML.slice(0, 120)} ${box.width}x${box.height}`)"""


async def phone(open_page: Pages, person: str, hash_: str = "", **more: Any) -> Page:
    return await open_page(person, hash_, width=WIDTH, height=HEIGHT, has_touch=True, is_mobile=True, **more)


async def risen(page: Page) -> None:
    await page.wait_for_function(
        "() => document.querySelector('dialog[open]') && !document.getAnimations().length"
    )


async def fits(page: Page) -> None:
    """Nothing goes sideways, and everything to tap is large enough."""
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= WIDTH
    wide = "() => [...document.querySelectorAll('.scroller, .dialog-body')].filter(e => e.scrollWidth > e.clientWidth).length"
    assert await page.evaluate(wide) == 0
    assert await page.evaluate(TARGETS, LEAST_PX) == []


async def test_every_view_fits_a_phone_and_a_thumb(workspace: Workspace, bot: Bot, open_page: Pages) -> None:
    channel = channel_of(workspace)
    stamps = {
        name: await bot.post(channel, body.get("text") or name, **_rest(body)) for name, body in KINDS.items()
    }
    await bot.post(channel, "a reply", thread_ts=stamps["form"])
    page = await phone(open_page, "vera")
    await fits(page)
    await page.get_by_role("button", name=re.compile("Switch person")).tap()
    await expect(page.get_by_role("menu")).to_be_visible()
    await fits(page)
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="incidents").tap()
    await expect(page.get_by_role("combobox", name="Message #incidents")).to_be_in_viewport(ratio=1)
    await fits(page)
    label = page.locator(".code-frame", has=page.locator(".code-language")).first
    name, copy = [await label.locator(part).bounding_box() for part in (".code-language", ".copy-code")]
    code = await label.locator("code").bounding_box()
    assert name is not None
    assert copy is not None
    assert code is not None
    assert name["x"] + name["width"] <= copy["x"]
    assert name["y"] + name["height"] <= code["y"]
    regions = page.get_by_role("combobox", name="Regions")
    await regions.tap()
    await expect(page.get_by_role("option", name="eu-west-1")).to_be_in_viewport(ratio=1)
    await fits(page)
    await page.get_by_role("option", name="us-east-1").tap()
    await expect(page.get_by_role("button", name="Remove us-east-1")).to_be_visible()
    await page.get_by_role("button", name="1 reply").tap()
    await expect(page.get_by_role("combobox", name="Reply…")).to_be_in_viewport(ratio=1)
    await fits(page)
    await page.get_by_role("button", name="Back to channel").tap()
    await expect(page.get_by_role("combobox", name="Message #incidents")).to_be_visible()


def _rest(body: Json) -> Json:
    return {key: value for key, value in body.items() if key != "text"}


async def test_a_modal_is_a_sheet_of_full_height_and_a_question_stands_at_the_bottom(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    confirm = {
        "title": plain("Sure?"),
        "text": mrkdwn("It changes."),
        "confirm": plain("Yes"),
        "deny": plain("No"),
    }
    both = actions(button("open", "Fill in"), button("del", "Delete it", style="danger", confirm=confirm))
    await bot.post(channel, "x", blocks=[both])
    page = await phone(open_page, "vera", f"#/{channel}")
    await page.get_by_role("button", name="Delete it").tap()
    await risen(page)
    question = await page.get_by_role("alertdialog", name="Sure?").bounding_box()
    assert question is not None
    assert (question["width"], round(question["y"] + question["height"])) == (WIDTH, HEIGHT)
    await fits(page)
    await page.get_by_role("button", name="No", exact=True).tap()

    await page.get_by_role("button", name="Fill in").tap()
    trigger = (await bot.next_interaction())["trigger_id"]
    view = {"type": "modal", "title": plain("New task"), "submit": plain("Save"), "blocks": FORM[:-1]}
    await bot.call("views.open", trigger_id=trigger, view=view)
    dialog = page.get_by_role("dialog", name="New task")
    await expect(dialog.get_by_role("button", name="Save")).to_be_in_viewport(ratio=1)
    await risen(page)
    sheet = await dialog.bounding_box()
    assert sheet == {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT}
    await fits(page)


PAIRS = {
    "--paper": ("--ink", "--ink-strong", "--ink-quiet", "--link", "--bad", "--accent"),
    "--paper-raised": ("--ink", "--ink-quiet", "--link", "--bad"),
    "--paper-sunk": ("--ink", "--ink-quiet", "--code-ink"),
    "--hover": ("--ink", "--ink-quiet", "--code-ink", "--link"),
    "--ephemeral-paper": ("--ink", "--ink-quiet"),
    "--mention-paper": ("--mention-ink",),
    "--me-paper": ("--me-ink",),
    "--bar": ("--bar-ink", "--bar-ink-strong"),
    "--bar-raised": ("--bar-ink", "--bar-ink-strong"),
}
WHITE_ON = ("--good", "--good-hover", "--bad-solid", "--bad-hover", "--badge", "--bar-active")

CONTRASTS = """([pairs, whiteOn]) => {
  const probe = document.body.appendChild(document.createElement('i'));
  const rgb = colour => { probe.style.color = colour; return getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number); };
  const light = colour => {
    const [r, g, b] = rgb(colour).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const found = Object.entries(pairs).flatMap(([paper, inks]) => inks.map(ink => [`${ink} on ${paper}`, ratio(`var(${ink})`, `var(${paper})`)]));
  const solid = whiteOn.map(paper => [`white on ${paper}`, ratio('#fff', `var(${paper})`)]);
  probe.remove();
  return [...found, ...solid];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_colours_of_both_themes_have_enough_contrast(open_page: Pages, scheme: Any) -> None:
    page = await open_page("oscar", color_scheme=scheme)
    found = await page.evaluate(CONTRASTS, [PAIRS, WHITE_ON])
    assert [pair for pair in found if pair[1] < CONTRAST] == []


async def test_a_chosen_theme_stands_before_the_first_paint_and_colours_the_browser(open_page: Pages) -> None:
    page = await open_page("oscar", color_scheme="light")
    bars = "() => [...document.querySelectorAll('meta[name=theme-color]')].map(meta => meta.content)"
    assert await page.evaluate(bars) == ["#ffffff", "#1a1d21"]
    await page.get_by_role("button", name=re.compile("Switch person")).click()
    await page.get_by_role("menuitemradio", name="Dark").click()
    assert await page.evaluate(bars) == ["#1a1d21", "#1a1d21"]
    # Without the modules, which come after the first paint, the theme must stand already.
    await page.route("**/app.js", lambda route: route.abort())
    await page.goto(page.url)
    assert await page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    assert (
        await page.evaluate("() => getComputedStyle(document.querySelector('#channel')).backgroundColor")
        == "rgb(26, 29, 33)"
    )
    open_page.problems.clear()  # the browser logs the aborted request


async def test_nothing_moves_for_those_who_ask_for_that(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    root = await bot.post(channel, "root")
    page = await open_page("oscar", f"#/{channel}/{root}", reduced_motion="reduce")
    await bot.call("assistant.threads.setStatus", channel_id=channel, thread_ts=root, status="is thinking…")
    dots = page.locator("#thread .dots i").first
    await expect(dots).to_be_visible()
    assert await dots.evaluate("node => getComputedStyle(node).animationIterationCount") == "1"
