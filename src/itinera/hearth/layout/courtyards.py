"""Courtyard houses: one storey in the shape of a U around a court, with a hall along two sides of it."""

from __future__ import annotations

import numpy as np

from itinera.hearth.layout.room_blocks import RoomShare, subdivide_block
from itinera.hearth.layout.room_grid import Rect, RoomSketch, RowFrame
from itinera.hearth.layout.slots import fill_hall
from itinera.hearth.layout.storeys import ENTRY, GROUND, UPPER, StoreySketch, draw_length, randint


def sketch_courtyard_house(rng: np.random.Generator) -> tuple[list[RoomSketch], Rect]:
    """The rooms of the house, and its court.

    The hall runs along x in front of the court and turns into a wing at its far end; the public rooms are a block on
    the near side of the court, from the front of the house to the back.
    """
    width, branch = randint(rng, 16, 20), randint(rng, 15, 18)
    front, court_long, court_deep = randint(rng, 48, 58), randint(rng, 60, 84), randint(rng, 52, 74)
    end = court_long + branch
    sketch = StoreySketch(rng, [(0, 0, end, width), (court_long, width, end, width + court_deep)], taken=list("ekdl"))
    in_front = RowFrame((0, 0), (1, 0), (0, -1))
    start = 0
    if rng.random() < 0.5:
        start = sketch.add_row(
            in_front, 0, front, fill_hall(rng, randint(rng, 34, 50), front, GROUND[:9], sketch.taken)
        )
    length = draw_length(rng, ENTRY, front)
    sketch.add("e", in_front.place((start, 0, start + length, front)))
    sketch.fill(in_front, start + length, end, front, GROUND)
    wing = RowFrame((end, 0), (0, 1), (1, 0))
    sketch.fill(wing, 0, width + court_deep, randint(rng, 46, 56), UPPER)
    _public_side(sketch, front, width, court_deep)
    return sketch.all_rooms(), (0, width, court_long, width + court_deep)


def _public_side(sketch: StoreySketch, front: int, width: int, court_deep: int) -> None:
    """Add living room, dining room and kitchen beside the court."""
    rng = sketch.rng
    shares: list[RoomShare] = [
        ("l", float(rng.uniform(40, 60))),
        ("d", float(rng.uniform(20, 30))),
        ("k", float(rng.uniform(18, 28))),
    ]
    low, high = -front, width + court_deep
    long = round(sum(area for _, area in shares) * 100 / (high - low))
    steps = [((0, 0, 1, width), {"l": 4.0, "d": 3.0}), ((0, width, 1, high), {"l": 3.0, "d": 2.0})]
    for kind, rect in subdivide_block(rng, (-long, low, 0, high), shares, steps):
        sketch.add(kind, rect)
