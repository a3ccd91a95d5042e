"""What must hold however a message looks, and pictures of it: wide and narrow, light and dark.

Pictures are for people to look at and are not compared, since fonts differ between machines: with SHOTS=1 in the environment
they go to `tests/browser/shots`.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Locator, Page, ViewportSize

SHOTS = Path(__file__).parent / "shots"
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
Look = tuple[ViewportSize, Literal["light", "dark"]]
ALL_LOOKS: tuple[Look, ...] = ((WIDE, "light"), (WIDE, "dark"), (NARROW, "light"), (NARROW, "dark"))
TWO_LOOKS = (ALL_LOOKS[0], ALL_LOOKS[3])
BUTTON_PX = 32
CONTRAST = 4.5
"""WCAG 2.2, criterion 1.4.3, level AA, for text of this size."""

_FAINT = """least => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const light = text => {
    const [r, g, b] = channels(text).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = node => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if ((channels(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const ratio = node => {
    const [high, low] = [light(getComputedStyle(node).color), light(paper(node))].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const hasText = node => [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
  const shown = [...document.querySelectorAll(".message *")].filter(node => hasText(node) && node.offsetParent);
  return shown.map(node => [node.textContent, ratio(node)]).filter(([, contrast]) => contrast < least);
}"""


async def looks_right(page: Page, name: str, top: Locator, looks: Sequence[Look] = ALL_LOOKS) -> None:
    """Check widths, buttons and contrast in each of `looks`, scrolled to where `top` begins, and take its picture if wanted."""
    await all_look_right(page, {name: top}, looks)


async def all_look_right(page: Page, tops: Mapping[str, Locator], looks: Sequence[Look]) -> None:
    """The same of a page that shows several things, each with its name. What is checked is checked of all of it at once."""
    wants_pictures = bool(os.environ.get("SHOTS"))
    for size, scheme in looks:
        await page.set_viewport_size(size)
        await page.emulate_media(color_scheme=scheme)
        for name, top in tops.items():
            await top.first.evaluate("node => node.scrollIntoView({ block: 'start' })")
            if wants_pictures:
                path = SHOTS / f"{name}-{size['width']}-{scheme}.png"
                await page.screenshot(path=path, animations="disabled")
        await _is_readable(page, size["width"])
    await page.set_viewport_size(WIDE)
    await page.emulate_media(color_scheme="light")


async def _is_readable(page: Page, width: int) -> None:
    # Colours that still fade into the other scheme are no colours yet.
    await page.evaluate(
        "() => document.getAnimations().filter(each => each instanceof CSSTransition).forEach(each => each.finish())"
    )
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= width
    sideways: list[Any] = await page.evaluate(
        "() => [...document.querySelectorAll('.scroller')].map(pane => pane.scrollWidth - pane.clientWidth)"
    )
    assert all(excess <= 0 for excess in sideways), f"a pane scrolls sideways: {sideways}"
    heights: list[float] = await page.evaluate(
        "() => [...document.querySelectorAll('.button')].map(each => each.getBoundingClientRect().height).filter(Boolean)"
    )
    assert all(height >= BUTTON_PX for height in heights), f"buttons are too low: {heights}"
    faint = await page.evaluate(_FAINT, CONTRAST)
    assert not faint, f"hard to read: {faint}"
