"""Pages as a person meets them: opened from disk in Debian's Chromium, driven by keys and clicks.

Where no browser is installed these tests are skipped, unless ITINERA_BROWSER names the one that must be there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

AXE = "axe_playwright_python"  # brings axe-core's script


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, started once for the tests of a page."""
    asked = os.environ.get("ITINERA_BROWSER")
    found = shutil.which(asked or "chromium")
    if found is None or find_spec("playwright") is None:
        told = f"needs a browser: {'playwright' if found else asked or 'chromium'} is not installed"
        pytest.fail(told) if asked else pytest.skip(told)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core's automatic checks."""
    source = find_spec(AXE)
    if source is not None and source.origin is not None:
        return (Path(source.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    told = "needs axe-core: axe-playwright-python is not installed"
    return pytest.fail(told) if "ITINERA_BROWSER" in os.environ else pytest.skip(told)
