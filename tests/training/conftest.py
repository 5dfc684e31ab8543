"""A house of Hearth to walk in, built once."""

from __future__ import annotations

import pytest

from drawn import episode
from itinera.builders.hearth import build_home, paths_in
from itinera.tasks import Instruction
from itinera.worlds import Pose
from training.pupils import TEXTS, School, school


@pytest.fixture(scope="session")
def house() -> School:
    """A house and a few paths through it, told in words that need not fit."""
    home = build_home(1, 0)
    name = home.house.id
    episodes = [
        episode(
            str(k), path, world_id=name, start=Pose(path[0], 0.7 * k), instruction=Instruction(TEXTS[k % len(TEXTS)])
        )
        for k, path in enumerate(paths_in(home.graph, 1, 0, 12))
    ]
    return school({name: home.world}, episodes)
