"""The pictures of the page on replays: a replay in Chromium, on a wide screen and on a phone.

    itinera show READER RANDOM --tasks TASKS --worlds SEASON --tour 0 --out replay.html
    python docs/pictures/replays.py replay.html 1068_2 7

Needs Debian's chromium and Python's playwright. The numbers are the episode shown and the step it is shown at.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
SCREENS = {"replay-wide": (1280, 800, 1.25), "replay-phone": (390, 844, 2)}


def main(page: Path, episode: str, step: str) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (width, height, scale) in SCREENS.items():
            opened = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=scale)
            opened.goto(f"{page.resolve().as_uri()}#{episode}")
            for _ in range(int(step)):
                opened.keyboard.press("ArrowRight")
            opened.screenshot(path=HERE / f"{name}.png", full_page=width < 600)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
