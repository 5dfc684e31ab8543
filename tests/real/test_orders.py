"""Tours of IR2R: one order of paths for each scene of a split."""

from __future__ import annotations

from pathlib import Path

import pytest

from itinera.formats import matterport, r2r
from itinera.planners.tsp import Ordering, solve_order
from itinera.worlds import NavGraph

pytestmark = pytest.mark.real


def orders(data: Path, split: str) -> list[Ordering]:
    """The proven order of every scene with two paths or more, from the end of one to the start of the next."""
    worlds = matterport.read_worlds(data / "connectivity.tar.xz")
    scenes: dict[str, dict[str, tuple[str, ...]]] = {}
    for episode in r2r.read_split(data / "r2r" / f"R2R_{split}.json.gz").episodes:
        scenes.setdefault(episode.world_id, {})[episode.path_id or episode.id] = tuple(episode.reference)
    found = []
    for scene, by_id in scenes.items():
        graph, paths = worlds[scene].space, list(by_id.values())
        assert isinstance(graph, NavGraph)
        if len(paths) > 1:
            found.append(solve_order(graph.between([p[-1] for p in paths], [p[0] for p in paths])))
    return found


@pytest.mark.parametrize(("split", "scenes", "cost"), [("val_seen", 53, 2231.765), ("val_unseen", 11, 1823.137)])
def test_validation_tours_are_proven_optimal(data: Path, split: str, scenes: int, cost: float) -> None:
    found = orders(data, split)
    assert len(found) == scenes
    assert all(order.proven for order in found)
    assert sum(order.cost for order in found) == pytest.approx(cost, abs=0.01)


@pytest.mark.slow
def test_training_tours_are_proven_optimal(data: Path) -> None:
    found = orders(data, "train")
    assert len(found) == 61
    assert all(order.proven for order in found)
    assert sum(order.cost for order in found) == pytest.approx(13358.903, abs=0.01)
