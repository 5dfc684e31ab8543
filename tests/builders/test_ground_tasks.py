"""Tasks on the ground of a hand-made place: two rooms with a gap between them, and a closet that nobody can enter."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.builders.ground_tasks import (
    ALWAYS_ACCEPTED_RATIO,
    MAX_DISTANCE,
    MIN_DISTANCE,
    floor_positions,
    follow_references,
    project_episodes,
    sample_pointnav,
)
from itinera.hearth.geometry.solids import Solids
from itinera.seeding import generator
from itinera.tasks import Episode, Instruction
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import NavGraph, Pose
from itinera.worlds.surface import Surface


def rooms(width: float = 4.0) -> Surface:
    """Two rooms, each so wide and 5 m deep, with a wall between them that ends 1 m before the far side."""
    solids = Solids()
    solids.polygon([(0, 0, 0), (2 * width, 0, 0), (2 * width, 5, 0), (0, 5, 0)], "floor", 0, (0, 0, 0))
    solids.box((width - 0.1, 0, 0), (width + 0.1, 4, 2), "wall", 0, (0, 0, 0))
    return Surface.from_mesh(solids.mesh(), radius=0.1, height=1.5)


@pytest.fixture(scope="module")
def surface() -> Surface:
    return rooms()


GRAPH = NavGraph.from_edges(
    {"a": (2, 1, 1.5), "b": (2, 4.5, 1.5), "c": (6, 4.5, 1.5), "d": (6, 1, 1.5)}, [("a", "b"), ("b", "c"), ("c", "d")]
)
EPISODES = [
    Episode(f"7_{i}", "hut", Pose("a", 1.5), ("d",), tuple("abcd"), Instruction("Go."), "7", stated_distance=11.0)
    for i in range(2)
]


def test_viewpoints_come_down_to_the_floor(surface):
    assert floor_positions(GRAPH, surface) == pytest.approx(GRAPH.positions - (0, 0, 1.5), abs=1e-4)


def test_the_distance_is_measured_along_the_ground(surface):
    """Around the wall's end, which the robot passes at its radius: two legs of about 4.2 and 0.4 m."""
    first, second = project_episodes(EPISODES, ["14", "15"], GRAPH, surface)
    assert (first.id, second.id, first.path_id) == ("14", "15", "7")
    around = 2 * np.hypot(4 - 0.2 - 2, 4.1 - 1) + 0.4
    assert first.stated_distance == pytest.approx(around, rel=0.03)
    assert first.stated_distance < 11.0
    assert first.start.heading == 1.5


def test_an_expert_walks_the_path_once_for_all_its_episodes(surface):
    told = project_episodes(EPISODES, ["14", "15"], GRAPH, surface)
    walked = follow_references(told, surface, R2R_CE)
    assert walked["14"] is walked["15"]
    trail = walked["14"]
    assert trail.reached
    # Through every node, not straight for the goal.
    for place in told[0].reference:
        assert np.linalg.norm(trail.positions - place, axis=1).min() < 0.55


def test_points_are_drawn_as_habitats_are(surface):
    points = sample_pointnav(surface, 60, generator(1, "points"), world_id="hut", first_id=500)
    assert [e.id for e in points] == [str(500 + i) for i in range(60)]
    for episode in points:
        assert MIN_DISTANCE <= episode.stated_distance <= MAX_DISTANCE
        assert not episode.instruction.text
    winding = np.array([e.stated_distance / np.linalg.norm(e.goals[0] - e.start.place) for e in points])
    # At a ratio of 1 one in 125 is kept; just below 1.1, one in four.
    assert (winding >= ALWAYS_ACCEPTED_RATIO).mean() > 0.75
    headings = np.array([e.start.heading for e in points])
    assert headings.min() < 1 < 5 < headings.max()


def test_a_place_too_small_for_points_gives_none():
    assert sample_pointnav(rooms(0.3), 5, generator(1, "points"), world_id="hut", first_id=0) == ()
