"""How much SPL takes from an oracle that passes every waypoint: by hand, its laws, and VLN-CE's own numbers."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.analysis.admissibility import (
    Admissibility,
    logged_trajectories,
    measure_admissibility,
    oracle_trajectories,
)
from itinera.errors import BadFile, NoRoute
from itinera.formats import matterport, r2r, vlnce
from itinera.tasks import Split
from itinera.tasks.protocol import R2R
from itinera.worlds import Euclidean, NavGraph, World
from text_worlds import episode, graph, graphs, quick, walks_in

OPEN = {"house": World("house", Euclidean()), "hut": World("hut", Euclidean())}
# 3 m east and 4 m north; the way around the furniture between start and goal is stated as 6 m.
CORNER = np.array([[0.0, 0, 0], [3, 0, 0], [3, 4, 0]])


def studied(split: Split, worlds: Mapping[str, World], radius: float = 0.0) -> Admissibility:
    return measure_admissibility(oracle_trajectories(split, worlds, radius=radius), split, worlds)


def test_a_detour_by_the_waypoint_is_held_against_the_oracle() -> None:
    split = Split("drawn", (episode("1", CORNER, stated_distance=6.0), episode("2", CORNER)))
    found = studied(split, OPEN)
    assert found.lengths.tolist() == [7.0, 7.0]
    assert found.shortest.tolist() == [6.0, 5.0]  # stated, and the straight line where nothing is
    assert found.spl.tolist() == [pytest.approx(6 / 7), pytest.approx(5 / 7)]
    assert found.detour_ratio == pytest.approx(14 / 11)


def test_passing_near_shortens_the_way_but_spl_never_exceeds_1() -> None:
    split = Split("drawn", (episode("1", CORNER, stated_distance=6.0),))
    near = studied(split, OPEN, radius=0.3)
    assert 6 < near.lengths[0] < 7
    assert near.spl[0] == pytest.approx(6 / near.lengths[0])
    assert studied(split, OPEN, radius=2.5).spl.tolist() == [1.0]  # 2.5 m walked, shorter than any real way


def test_an_oracle_too_far_from_the_goal_fails() -> None:
    split = Split("drawn", (episode("1", CORNER),))
    walks = oracle_trajectories(split, OPEN, radius=2.0)
    assert measure_admissibility(walks, split, OPEN, protocol=R2R).spl[0] > 0
    assert measure_admissibility(walks, split, OPEN, protocol=replace(R2R, success_radius=1.0)).spl[0] == 0


# A ring 2 m from node to node: the reference leads round it, the short cut from a to f is one edge.
RING = graph("""
    b-c-d
    |   |
    a-f-e
""")


def test_on_a_graph_the_shortest_way_is_measured_not_stated() -> None:
    worlds = {"house": World("house", RING)}
    split = Split("drawn", (episode("1", tuple("abcdef"), stated_distance=10.0),))
    found = studied(split, worlds)
    assert (found.lengths.tolist(), found.shortest.tolist(), found.spl.tolist()) == ([10.0], [2.0], [0.2])
    # Each waypoint is near enough from the node before it, so the oracle stops at e, 2 m from the goal.
    near = studied(split, worlds, radius=2.0)
    assert (near.lengths.tolist(), near.spl.tolist()) == ([8.0], [0.25])


def test_logged_traces_are_another_reading() -> None:
    split = Split("drawn", (episode("1", CORNER, stated_distance=6.0),))
    cut = np.array([[0.0, 0, 0], [2.5, 0.5, 0], [3, 3.5, 0]])
    found = measure_admissibility(logged_trajectories(split, {"1": cut}), split, OPEN)
    assert found.lengths[0] == pytest.approx(np.hypot(2.5, 0.5) + np.hypot(0.5, 3))
    assert found.spl[0] == 1.0  # shorter than 6 m


def test_means_are_over_episodes_or_over_paths() -> None:
    straight = CORNER[[0, 2]]
    often = [episode(name, CORNER, path_id="a") for name in "123"]
    split = Split("drawn", (*often, episode("4", straight, path_id="b")))
    found = studied(split, OPEN)
    assert found.mean.mean == pytest.approx((3 * 5 / 7 + 1) / 4)
    assert found.mean_over_paths.mean == pytest.approx((5 / 7 + 1) / 2)


def test_episodes_are_answered_in_their_order_across_worlds() -> None:
    worlds = OPEN | {"house": World("house", RING)}
    split = Split(
        "drawn",
        (episode("1", CORNER, world_id="hut"), episode("2", tuple("abc")), episode("3", CORNER[:2], world_id="hut")),
    )
    walks = list(oracle_trajectories(split, worlds).trajectories)
    assert [trajectory.episode_id for trajectory in walks] == ["1", "2", "3"]
    assert walks[1].places == ("a", "b", "c")
    np.testing.assert_array_equal(walks[2].places, CORNER[:2])


def test_what_cannot_be_studied_is_refused() -> None:
    hidden = Split("test", (episode("1", CORNER), replace(episode("2", CORNER), reference=np.empty((0, 3)))))
    with pytest.raises(BadFile, match='test: episode "2": has no reference'):
        oracle_trajectories(hidden, OPEN)
    with pytest.raises(BadFile, match="world house is missing"):
        oracle_trajectories(hidden, {})
    with pytest.raises(BadFile, match='traces: episode "2": has no trace'):
        logged_trajectories(hidden, {"1": CORNER})
    with pytest.raises(NoRoute, match="from a past d"):
        oracle_trajectories(Split("drawn", (episode("1", ("a", "d")),)), {"house": World("house", graph("a-b c-d"))})


@given(data=st.data())
@quick
def test_shortest_references_cost_nothing_and_others_what_they_are_longer(data: st.DataObject) -> None:
    space: NavGraph = data.draw(graphs(connected=True))
    worlds = {"house": World("house", space)}
    wanted = data.draw(walks_in(space))
    shortest = space.route(wanted[0], wanted[-1])
    split = Split("drawn", (episode("1", wanted), episode("2", shortest)))
    found = studied(split, worlds)
    assert found.spl[1] == pytest.approx(1.0)
    gone, needed = space.along(wanted).sum(), space.along(shortest).sum()
    expected = needed / gone if gone else 1.0
    assert found.spl[0] == pytest.approx(expected)
    assert (studied(split, worlds, radius=2.0).spl >= found.spl - 1e-9).all()


def test_the_recipe_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("ITINERA_DATA", raising=False)
    runpy.run_path(str(Path(__file__).parents[2] / "recipes" / "admissible_spl.py"))["main"]()
    assert capsys.readouterr().out == "Needs the data pack: set ITINERA_DATA to its folder.\n"


OFFICIAL = "vlnce/R2R_VLNCE_v1-3_preprocessed"


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "exact", "near", "traced"),
    [("train", 0.9328, 0.9591, None), ("val_seen", 0.9335, 0.9591, 0.9754), ("val_unseen", 0.9195, 0.9465, 0.9635)],
)
def test_spl_in_continuous_environments_takes_a_few_hundredths(
    data: Path, name: str, exact: float, near: float, traced: float | None
) -> None:
    split = vlnce.read_split(data / OFFICIAL / f"{name}.json.gz")
    worlds = {world_id: World(world_id, Euclidean()) for world_id in split.world_ids}
    assert studied(split, worlds).mean.mean == pytest.approx(exact, abs=2e-4)
    assert studied(split, worlds, radius=0.1).mean.mean == pytest.approx(near, abs=2e-4)
    if traced is not None:
        dense = vlnce.read_dense(data / OFFICIAL / f"{name}_gt.json.gz")
        walks = logged_trajectories(split, {episode_id: way.positions for episode_id, way in dense.items()})
        assert measure_admissibility(walks, split, worlds).mean.mean == pytest.approx(traced, abs=2e-4)


@pytest.mark.real
def test_spl_is_fair_on_r2r_and_not_on_r4r(data: Path) -> None:
    worlds = matterport.read_worlds(data / "connectivity.tar.xz")
    # mean SPL, and the share of episodes whose reference is not the shortest path
    expected = {
        "r2r/R2R_val_seen": (1.0, 0.0),
        "r2r/R2R_val_unseen": (0.9984, 24 / 2349),
        "r4r/R4R_val_seen": (0.5442, 0.922),
    }
    for name, (mean, longer) in expected.items():
        found = studied(r2r.read_split(data / f"{name}.json.gz"), worlds)
        assert found.mean.mean == pytest.approx(mean, abs=1e-4)
        assert (found.spl < 1 - 1e-9).mean() == pytest.approx(longer, abs=1e-3)
