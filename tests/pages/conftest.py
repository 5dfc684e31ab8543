"""Pages opened from disk in Debian's Chromium, controlled by keys and clicks.

Without a browser these tests are skipped, unless ITINERA_BROWSER names the one that must be installed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

REQUIRED = os.environ.get("ITINERA_BROWSER")  # the browser that must be installed; unset: none needs to be
# What a page must not run, should anybody insert it.
INJECTED = (
    "<script>document.title = 'ran'</script><img src=x onerror=\"document.title = 'ran'\">"
    "<style>h1 { color: red }</style>"
)
# Without a graphics card, WebGL is drawn by the processor.
ARGUMENTS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
AXE = "axe_playwright_python"  # contains the script of axe-core


def skip_without(what: str, remedy: str) -> NoReturn:
    """Skip with what is missing; fail if ITINERA_BROWSER is set."""
    reason = f"needs a browser: {what} is not installed. Install it with: {remedy}"
    pytest.fail(f"{reason} (ITINERA_BROWSER requires it.)") if REQUIRED else pytest.skip(reason)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, started once for the tests of a page."""
    found = shutil.which(REQUIRED or "chromium")
    if found is None:
        skip_without(REQUIRED or "chromium", "apt-get install chromium")
    if find_spec("playwright") is None:
        skip_without("playwright, which drives it,", "pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core's automatic checks."""
    source = find_spec(AXE)
    if source is None or source.origin is None:
        skip_without("axe-core, which checks pages in it,", "pip install axe-playwright-python")
    return (Path(source.origin).parent / "axe.min.js").read_text(encoding="utf-8")
