"""Walks over a navigable surface, for the laws that hold in every space."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from itinera.worlds.surface import Surface
from text_worlds import Scene
from worlds.rooms import ROBOT, room, storeys

# Coarse cells, for there are many distances to measure.
HALL = Surface.from_mesh(room(6, 4, boxes=[((2, 0, 0), (2.2, 3, 2.5)), ((4, 1, 0), (4.2, 4, 2.5))]), **ROBOT, cell=0.2)
HOUSE = Surface.from_mesh(storeys(), **ROBOT, cell=0.2)
PLACES = {surface: [tuple(p) for p in surface.sample(np.random.default_rng(1), 8)] for surface in (HALL, HOUSE)}


@st.composite
def ground_scenes(draw: st.DrawFn) -> Scene:
    space = draw(st.sampled_from([HALL, HOUSE]))
    places = st.sampled_from(PLACES[space])
    references = draw(st.lists(st.lists(places, min_size=1, max_size=4), min_size=1, max_size=3))
    walks = [[reference[0], *draw(st.lists(places, max_size=4))] for reference in references]
    return Scene(space, tuple(map(tuple, walks)), tuple(map(tuple, references)))
