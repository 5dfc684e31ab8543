"""Pages as a person meets them: opened from disk in Debian's Chromium, driven by keys and clicks.

Where no browser is installed these tests are skipped, unless ITINERA_BROWSER names the one that must be there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

ASKED = os.environ.get("ITINERA_BROWSER")  # the browser that must be there; unless set, none needs to be
AXE = "axe_playwright_python"  # brings axe-core's script


def be_without(what: str, remedy: str) -> NoReturn:
    """Skip, saying what is missing; where ITINERA_BROWSER is set, fail."""
    told = f"needs a browser: {what} is not installed. Install it with: {remedy}"
    pytest.fail(f"{told} (ITINERA_BROWSER says that it must be here.)") if ASKED else pytest.skip(told)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, started once for the tests of a page."""
    found = shutil.which(ASKED or "chromium")
    if found is None:
        be_without(ASKED or "chromium", "apt-get install chromium")
    if find_spec("playwright") is None:
        be_without("playwright, which drives it,", "pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core's automatic checks."""
    source = find_spec(AXE)
    if source is None or source.origin is None:
        be_without("axe-core, which checks pages in it,", "pip install axe-playwright-python")
    return (Path(source.origin).parent / "axe.min.js").read_text(encoding="utf-8")
