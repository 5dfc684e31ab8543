"""Navigation graphs of houses have no fault one can name."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

from itinera.hearth._kernels import clear_lines
from itinera.hearth.build import build_house
from itinera.hearth.layout.plan import OUTSIDE
from itinera.hearth.room_lookup import locate_rooms
from itinera.hearth.viewpoint_edges import MAX_EDGE
from itinera.hearth.viewpoints import EYE_HEIGHT, place_viewpoints
from itinera.seeding import generator
from itinera.worlds.surface import Surface

RADIUS, HEIGHT, CLIMB = 0.20, 1.5, 0.25  # of the robot that is to follow the edges


@functools.lru_cache(maxsize=4)
def placed(index):
    house = build_house(1, index)
    surface = Surface.from_mesh(house.mesh, radius=RADIUS, height=HEIGHT)
    return house, surface, place_viewpoints(house, surface, generator(1, "house", str(index), "viewpoints"))


def faults(house, surface, graph):
    """What is wrong with a house's graph, in words."""
    eyes, edges = graph.positions, graph.edges
    stands = eyes - (0, 0, EYE_HEIGHT)
    rooms = locate_rooms(house.plan, stands)
    if not np.isfinite(graph.distances).all():
        yield "one cannot go from each viewpoint to each"
    yield from (f"room {room.index} has no viewpoint" for room in house.plan.rooms if room.index not in rooms)
    for a, b in edges[~surface.walkable(stands[edges[:, 0]], stands[edges[:, 1]])]:
        yield f"edge {a} to {b} leads through a wall or a thing"
    for a, b in edges[~graph.visible[edges[:, 0], edges[:, 1]]]:
        yield f"edge {a} to {b} leads out of sight"
    yield from (f"edge {a} to {b} is too long" for a, b in edges[graph.distances[tuple(edges.T)] > MAX_EDGE + 1e-6])
    free = np.empty(len(eyes), dtype=bool)
    clear_lines(stands + np.array([0, 0, CLIMB]), eyes, house.mesh.corners.astype(float), free)
    yield from (f"viewpoint {k} stands in a thing" for k in np.flatnonzero(~free))
    for passage in house.plan.passages:
        if OUTSIDE not in passage.rooms and not crossed(passage, stands[edges]):
            yield f"no edge leads through passage {passage.index}"


def crossed(passage, ends):
    """Whether some edge, (m, 2, 3), leads through the hole."""
    sides = (ends[:, :, :2] - passage.center) @ passage.normal
    aside = (ends[:, :, :2] - passage.center) @ [-passage.normal[1], passage.normal[0]]
    over = sides[:, 0] * sides[:, 1] < 0
    share = sides[over, 0] / (sides[over, 0] - sides[over, 1])
    across = aside[over, 0] + share * (aside[over, 1] - aside[over, 0])
    level = np.abs(ends[over][:, :, 2].mean(axis=1) - passage.floor) < 0.5
    return bool(((np.abs(across) < passage.width / 2) & level).any())


@pytest.mark.parametrize("index", range(20))
def test_a_graph_has_no_fault(index):
    assert list(faults(*placed(index))) == []


@pytest.mark.slow
@pytest.mark.parametrize("index", range(20, 200))
def test_no_graph_of_many_has_a_fault(index):
    assert list(faults(*placed(index))) == []


def test_a_graph_comes_out_the_same_again():
    house, surface, graph = placed(0)
    again = place_viewpoints(house, surface, generator(1, "house", "0", "viewpoints"))
    assert again.nodes == graph.nodes
    assert again.positions.tobytes() == graph.positions.tobytes()
    assert again.edges.tobytes() == graph.edges.tobytes()


def test_viewpoints_are_named_like_matterports():
    nodes = placed(0)[2].nodes
    assert len(set(nodes)) == len(nodes)
    assert all(re.fullmatch("[0-9a-f]{32}", node) for node in nodes)
