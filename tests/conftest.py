"""Fixtures of all tests."""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# No deadlines: in a fresh checkout the first example includes compiling kernels. The same examples in every run: a test
# that passes once passes again. `make search` sets ITINERA_HYPOTHESIS=random and tries other examples, from its seed
# alone: no database of earlier failures, which other computers do not have.
settings.register_profile("itinera", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, derandomize=False, database=None, print_blob=True)
PROFILE = os.environ.get("ITINERA_HYPOTHESIS", "itinera")
settings.load_profile(PROFILE)


def pytest_report_header(config: pytest.Config) -> str:
    if PROFILE == "itinera":
        return "property tests: the same examples in every run"
    seed = config.getoption("hypothesis_seed")
    return f"property tests: random examples, seed {seed}. To repeat them: make search SEED={seed}"


@pytest.fixture(scope="session")
def data() -> Path:
    """The real data pack; tests that need it are marked `real` and are skipped where it is missing."""
    place = os.environ.get("ITINERA_DATA")
    if not place:
        pytest.skip("needs real data: set ITINERA_DATA to the data pack")
    return Path(place)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make printed tables independent of the terminal in which the tests run."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def quiet_logger(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin without the handler of a command that another test, or a fixture, ran in this process."""
    logger = logging.getLogger("itinera")
    monkeypatch.setattr(logger, "handlers", [])
    level = logger.level
    logger.setLevel(logging.NOTSET)
    yield
    logger.setLevel(level)


@pytest.fixture(scope="session")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Hearth season of one house (val_unseen), built once for all test processes. Copy it before you change it."""
    import itinera

    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / "season" / "hearth"
    folder.parent.mkdir(exist_ok=True)
    with open(folder.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        itinera.build_hearth(folder, houses=3, splits=["val_unseen"])  # leaves a finished season as it is
    return folder
