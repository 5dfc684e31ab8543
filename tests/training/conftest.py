"""A house of Hearth to walk in, built once."""

from __future__ import annotations

import pytest

from itinera.builders.hearth import build_annotated_house, sample_house_paths
from itinera.tasks import Instruction
from itinera.worlds import Pose
from text_worlds import episode
from training.small_models import TEXTS, TinyData, tiny_data


@pytest.fixture(scope="session")
def house() -> TinyData:
    """A house and a few paths through it, told in words that need not fit."""
    home = build_annotated_house(1, 0)
    name = home.house.id
    episodes = [
        episode(
            str(k), path, world_id=name, start=Pose(path[0], 0.7 * k), instruction=Instruction(TEXTS[k % len(TEXTS)])
        )
        for k, path in enumerate(sample_house_paths(home.graph, 1, 0, 12))
    ]
    return tiny_data({name: home.world}, episodes)
