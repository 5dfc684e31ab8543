"""The pictures of a walk-through page in Chromium, on a wide screen and on a phone.

    itinera build hearth --houses 3 --out hearth
    itinera view hearth --house 1 --out house.html
    python docs/pictures/walkthrough.py house.html

Needs Debian's chromium and Python's playwright.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
WIDE, PHONE = (1280, 800), (390, 844)
ROOM = "living room"
WAIT = 60_000  # milliseconds: without a graphics card, the processor draws
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main(house: Path) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        take(browser, house, "walkthrough-wide", WIDE, 1, [choose_episode])
        take(browser, house, "walkthrough-room", WIDE, 1, [enter_room])
        take(browser, house, "walkthrough-phone", PHONE, 2, [choose_episode, walk])
        browser.close()


def take(
    browser: Any, house: Path, name: str, size: tuple[int, int], scale: int, acts: Sequence[Callable[[Any], None]]
) -> None:
    """Open the page, do something there, and take a picture of the screen."""
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        device_scale_factor=scale,
        is_mobile=size == PHONE,
        has_touch=size == PHONE,
        reduced_motion="reduce",
    )
    page.set_default_timeout(WAIT)
    page.goto(house.resolve().as_uri())
    page.locator("#scene[data-drawn]").wait_for()
    for act in acts:
        act(page)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.screenshot(path=HERE / f"{name}.png", timeout=WAIT)
    page.close()


def choose_episode(page: Any) -> None:
    """Choose the longest path between two storeys, or else the longest, and go along it for a while."""
    chosen = page.evaluate(
        """() => {
            const rise = (one) => (new Set(one.path.map((k) => storeyAt(graph.z[k]))).size > 1 ? 1000 : 0);
            const aligned = (one) => (one.instruction.some(([, first]) => first >= 0) ? 100 : 0);
            const worth = episodes.map((one) => rise(one) + aligned(one) + one.path.length);
            return worth.indexOf(Math.max(...worth));
        }"""
    )
    page.locator("#episode").select_option(str(chosen))
    page.locator("#time").evaluate("input => { input.value = 1.4; input.dispatchEvent(new Event('input')); }")


def enter_room(page: Any) -> None:
    page.locator("#rooms").get_by_role("button", name=ROOM).first.click()


def walk(page: Any) -> None:
    page.keyboard.press("v")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
