"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadlines: the first example of a fresh checkout waits for kernels to compile.
settings.register_profile("itinera", deadline=None)
settings.load_profile("itinera")


@pytest.fixture(scope="session")
def data() -> Path:
    """The real data pack; tests that need it are marked `real` and skip where it is not."""
    place = os.environ.get("ITINERA_DATA")
    if not place:
        pytest.skip("needs real data: set ITINERA_DATA to the data pack")
    return Path(place)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have a screen of any width and colours; what is printed here must not depend on it."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
