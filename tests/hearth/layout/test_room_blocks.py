"""Blocks of rooms cut from one rectangle."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.hearth.layout.room_blocks import shared_length, subdivide_block
from itinera.hearth.layout.room_grid import RoomSketch, rasterize_rooms


@pytest.mark.parametrize("seed", range(10))
def test_a_block_is_cut_up_without_rest_and_the_kitchen_is_next_to_the_dining_room(seed: int) -> None:
    shares = [("l", 50.0), ("d", 25.0), ("k", 25.0), ("f", 35.0)]
    rooms = subdivide_block(np.random.default_rng(seed), (-120, -50, 0, 65), shares, [((0, 0, 1, 15), {"l": 4.0})])
    storey = rasterize_rooms([RoomSketch(kind, (rect,)) for kind, rect in rooms])
    assert np.count_nonzero(storey.labels >= 0) == 120 * 115
    where = dict(rooms)
    assert sorted(where) == ["d", "f", "k", "l"]
    assert shared_length(where["d"], where["k"]) >= 16
    assert storey.area([kind for kind, _ in rooms].index("l")) == pytest.approx(50 * 138 / 135, rel=0.05)


def test_shared_walls() -> None:
    assert shared_length((0, 0, 10, 10), (10, 4, 20, 30)) == 6
    assert shared_length((0, 0, 10, 10), (2, 10, 5, 30)) == 3
    assert shared_length((0, 0, 10, 10), (11, 0, 20, 10)) == 0
    assert shared_length((0, 0, 10, 10), (10, 10, 20, 20)) == 0
