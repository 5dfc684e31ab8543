"""A few episodes on the ground, opened once."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.ground.small_ground import SmallGround


@pytest.fixture(scope="session")
def ground(season: Path) -> SmallGround:
    return SmallGround(season)
