"""The pictures of a replay and of a report in Chromium, on a wide screen and on a phone.

    make demo
    itinera show demo/predictions/tours/reader.jsonl demo/predictions/tours/random.jsonl \
        --tasks demo/hearth/r2r/R2R_val_unseen.json --worlds demo/hearth --tour 0 --out replay.html
    itinera report demo/scores/r2r/*.jsonl --out report.html
    python docs/pictures/pages.py replay.html report.html

Needs Debian's chromium and Python's playwright.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
WIDE, PHONE = (1280, 800), (390, 844)
EPISODE, STEP = "1068_2", 7
SECTION = "By path length"  # of the report on a phone


def main(replay: Path, report: Path) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, size, scale in (("replay-wide", WIDE, 1.25), ("replay-phone", PHONE, 2)):
            page = open_page(browser, f"{replay.resolve().as_uri()}#{EPISODE}", size, scale)
            for _ in range(STEP):
                page.keyboard.press("ArrowRight")
            page.screenshot(path=HERE / f"{name}.png", full_page=size == PHONE)
        for name, size in (("report-wide", WIDE), ("report-phone", PHONE)):
            page = open_page(browser, report.resolve().as_uri(), size, 1)
            if size == PHONE:
                page.get_by_role("heading", name=SECTION).evaluate("heading => heading.scrollIntoView()")
            page.screenshot(path=HERE / f"{name}.png")
        browser.close()


def open_page(browser: Any, address: str, size: tuple[int, int], scale: float) -> Any:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, device_scale_factor=scale)
    page.emulate_media(reduced_motion="reduce")
    page.goto(address)
    return page


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
