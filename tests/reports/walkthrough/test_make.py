"""Walk-throughs from a house, its graph and episodes."""

from __future__ import annotations

import numpy as np
import pytest

import cottage
from itinera.reports.walkthrough.make import make_walkthrough
from itinera.tasks import Alignment, Episode, Instruction
from itinera.worlds import Pose

GRAPH = cottage.world().space


def episode(**changes) -> Episode:
    words = Alignment(("Go", "up"), np.array([0, 1]), np.array([1, 3]))
    given = {"id": "1_0", "world_id": "cottage", "start": Pose("a", 0.5), "goals": ("d",), "reference": tuple("abcd")}
    given |= {"instruction": Instruction("Go up."), "alignment": words}
    return Episode(**(given | changes))


@pytest.fixture(scope="module")
def house():
    return cottage.house()


def test_storeys_are_cut_above_doors_and_below_ceilings(house):
    low, high = make_walkthrough(house, GRAPH).storeys
    assert (low.name, low.floor, low.cut) == ("ground floor", 0.0, 2.2)
    assert (high.name, high.floor, high.cut) == ("storey 2", 2.8, 5.0)


def test_rooms_have_names_and_a_viewpoint_to_look_from(house):
    kitchen, hall, bedroom = make_walkthrough(house, GRAPH).rooms
    assert [room.name for room in (kitchen, hall, bedroom)] == ["kitchen", "hallway", "bedroom"]
    assert [room.storey for room in (kitchen, hall, bedroom)] == [0, 0, 1]
    assert GRAPH.nodes[kitchen.viewpoint] == "a"
    assert GRAPH.nodes[bedroom.viewpoint] == "d"
    x, y, _ = GRAPH.positions[kitchen.viewpoint]
    # The middle of the kitchen is at (2, 2).
    assert kitchen.heading == pytest.approx(np.arctan2(2 - y, 2 - x), abs=1e-4)


def test_viewpoints_are_on_the_ground(house):
    graph = make_walkthrough(house, GRAPH).graph
    assert graph.ids == list(GRAPH.nodes)
    assert graph.z == pytest.approx((GRAPH.positions[:, 2] - 1.5).tolist(), abs=1e-3)
    assert len(graph.edges) == 2 * len(GRAPH.edges)


def test_episodes_have_their_path_and_aligned_words(house):
    (shown,) = make_walkthrough(house, GRAPH, {"R2R val": [episode(), episode(world_id="elsewhere")]}).episodes
    assert [GRAPH.nodes[k] for k in shown.path] == list("abcd")
    assert (shown.group, shown.heading, GRAPH.nodes[shown.start]) == ("R2R val", 0.5, "a")
    assert [(span.text, span.first, span.last) for span in shown.instruction] == [
        ("Go", 0, 1), (" ", -1, -1), ("up", 1, 3), (".", -1, -1),
    ]  # fmt: skip


def test_a_withheld_path_is_empty(house):
    sealed = episode(goals=(), reference=(), alignment=None)
    (shown,) = make_walkthrough(house, GRAPH, {"R2R test": [sealed]}).episodes
    assert shown.path == []
    assert GRAPH.nodes[shown.start] == "a"
