"""Walks from the ground brought onto graphs and back: by hand, against a slow twin, and on the real traces."""

from __future__ import annotations

import runpy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from itinera.errors import BadArgument, BadFile
from itinera.formats import catalog, matterport, r2r, vlnce
from itinera.metrics import score
from itinera.records import Ending, Phase, Predictions, Rollout, Trajectory
from itinera.records.snapping import positions_along, snap, snap_predictions, snap_rows
from itinera.tasks import Split
from itinera.worlds import Array, Euclidean, NavGraph, Ragged, World
from text_worlds import episode, graph, graphs, thorough, walks_in

# 4 m from node to node, so that the middle of an edge is 2 m from its ends.
CROSS = graph("""
    a---b---c
        |
        |
        |
        d
""")


def walk(*points: Sequence[float], **fields: object) -> Trajectory:
    """A walk over these points; those of two numbers are on the ground."""
    places = np.array([(*point, 0.0)[:3] for point in points], dtype=float)
    return Trajectory("1", places, **fields)  # type: ignore[arg-type]


def twin(points: Array, nodes: NavGraph, start: str, lift: float) -> list[str]:
    """The paper's words, line by line: one node per position."""

    def apart(node: str, x: float, y: float, z: float) -> float:
        # Squared, as a root may round a hair's breadth away and make a tie of it.
        a, b, c = nodes.positions[nodes.index[node]]
        return float((a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2)

    current = start
    snapped = [current]
    for x, y, z in points[1:]:
        navigable = [current, *nodes.neighbors(current)]
        current = min(navigable, key=partial(apart, x=x, y=y, z=z + lift))
        snapped.append(current)
    return snapped


def test_each_position_leads_to_the_nearest_of_the_node_and_its_neighbours() -> None:
    # Towards c, past b by more than half of the edge, then back and down to d.
    points = walk((0, 0), (1, 0), (3, 0), (5, 0), (6.5, 0), (4, -1), (4, -3.5))
    assert snap(points, CROSS, start="a").places == ("a", "b", "c", "b", "d")
    assert snap(points, CROSS, start="a", keep=True).places == ("a", "a", "b", "b", "c", "b", "d")


def test_a_jump_of_positions_still_takes_one_edge_at_a_time() -> None:
    assert snap(walk((0, 0), (8, 0)), CROSS, start="a").places == ("a", "b")
    assert snap(walk((0, 0), (8, 0), (8, 0)), CROSS, start="a").places == ("a", "b", "c")


def test_who_stands_in_the_middle_stays() -> None:
    assert snap(walk((0, 0), (2, 0)), CROSS, start="a").places == ("a",)
    assert snap(walk((4, 0), (2, 0)), CROSS, start="b").places == ("b",)


def test_the_first_position_is_the_start_node_wherever_it_lies() -> None:
    assert snap(walk((8, 0), (8, 0)), CROSS, start="a").places == ("a", "b")


def test_without_a_start_the_nearest_node_is_one() -> None:
    assert snap(walk((7, 0), (5, 0)), CROSS).places == ("c", "b")


# Two storeys 2.8 m apart, cameras 1.4 m above the floors, the stairs from b to u; u stands over b, v over a.
STOREYS = NavGraph.from_edges(
    {"a": (0, 0, 1.4), "b": (3, 0, 1.4), "u": (3, 0.5, 4.2), "v": (0, 0.5, 4.2)},
    [("a", "b"), ("b", "u"), ("u", "v")],
)
UPSTAIRS = walk((0, 0.5, 2.8), (3, 0.4, 2.8), (3, 0.2, 2.8))
DOWNSTAIRS = walk((0, 0.5, 0.0), (3, 0.4, 0.0), (3, 0.2, 0.0))


@pytest.mark.parametrize("height", [None, 1.4])
def test_storeys_are_kept_apart(height: float | None) -> None:
    assert snap(UPSTAIRS, STOREYS, height=height).places == ("v", "u")
    assert snap(DOWNSTAIRS, STOREYS, height=height).places == ("a", "b")
    upward = positions_along("abuv", STOREYS) - (0.0, 0.0, 1.4)
    assert snap(Trajectory("1", upward), STOREYS, height=height).places == tuple("abuv")


def test_plain_three_dimensions_are_height_0() -> None:
    # From the upper floor the camera below is as near as the one above: the storey is not told apart.
    assert snap(UPSTAIRS, STOREYS, start="u", height=0.0).places == ("u", "b")
    assert snap(UPSTAIRS, STOREYS, start="u").places == ("u",)


def test_nodes_on_the_floor_need_no_height() -> None:
    lower = NavGraph(STOREYS.nodes, STOREYS.positions - (0, 0, 1.4), STOREYS.edges)
    assert snap(UPSTAIRS, lower).places == ("v", "u")
    assert snap(DOWNSTAIRS, lower).places == ("a", "b")


def test_headings_and_times_are_those_of_entering_a_node() -> None:
    there = walk(
        (0, 0), (1, 0), (3, 0), (4, 0),
        headings=np.array([0.1, 0.2, 0.3, 0.4]), times=np.array([0.0, 1.0, 2.0, 3.0]),
        actions=np.array([1, 1, 1]), ending=Ending.OUT_OF_STEPS, notes={"stop": True},
    )  # fmt: skip
    snapped = snap(there, CROSS, start="a")
    assert snapped.headings is not None
    assert snapped.times is not None
    assert (snapped.headings.tolist(), snapped.times.tolist()) == ([0.1, 0.3], [0.0, 2.0])
    assert snapped.actions is None
    assert snapped.ending is Ending.OUT_OF_STEPS
    assert not snapped.notes


def test_a_node_is_named_again_when_the_phase_changes() -> None:
    phases = (Phase.ACTING, Phase.ACTING, Phase.GUIDED_TO_GOAL, Phase.GUIDED_TO_GOAL)
    snapped = snap(walk((0, 0), (1, 0), (1, 0), (3, 0), phases=phases), CROSS, start="a")
    assert snapped.places == ("a", "a", "b")
    assert snapped.phases == (Phase.ACTING, Phase.GUIDED_TO_GOAL, Phase.GUIDED_TO_GOAL)
    assert snapped.acting_places == ("a",)


def test_a_logbook_is_snapped_walk_by_walk_in_its_own_worlds() -> None:
    hut = graph("p---q")
    worlds = {"house": World("house", CROSS), "hut": World("hut", hut)}
    here, there = walk((0, 0), (4, 0)), replace(walk((0, 0), (4, 0)), episode_id="2")
    again = replace(walk((8, 0), (4, 0)), episode_id="3")
    homes = {"1": "house", "2": "hut", "3": "house"}
    split = Split("asked", tuple(episode(n, [[0.0] * 3], world_id=home) for n, home in homes.items()))
    predictions = Predictions("walks.json", (Rollout("tour", (here, again)), Rollout("2", (there,))))
    snapped = snap_predictions(predictions, split, worlds, starts={"1": "b"})
    assert [(w.tour_id, [t.places for t in w.trajectories]) for w in snapped.rollouts] == [
        ("tour", [("b",), ("c", "b")]),  # the first begins where it is told, the second at the nearest
        ("2", [("p", "q")]),
    ]
    assert [t.episode_id for t in snapped.trajectories] == ["1", "3", "2"]


def test_what_cannot_be_snapped_is_refused() -> None:
    fine = walk((0, 0), (4, 0))
    split = Split("asked", (episode("1", [[0.0] * 3]),))
    with pytest.raises(BadArgument, match="Not a node of this graph: z"):
        snap(fine, CROSS, start="z")
    with pytest.raises(BadArgument, match='The trajectory of episode "1" is already on a graph'):
        snap(Trajectory("1", ("a", "b")), CROSS)
    with pytest.raises(BadArgument, match="has no positions"):
        snap(Trajectory("1", np.empty((0, 3))), CROSS)
    with pytest.raises(BadArgument, match="finite"):
        snap(walk((0, np.nan)), CROSS)
    with pytest.raises(BadArgument, match="no nodes"):
        snap(fine, NavGraph((), np.empty((0, 3)), np.empty((0, 2), dtype=np.int64)))
    with pytest.raises(BadArgument, match="Trajectory 1 has no positions"):
        snap_rows(Ragged.from_counts(np.zeros((1, 3)), np.array([1, 0])), CROSS)
    with pytest.raises(BadArgument, match="World house is not among the worlds given"):
        snap_predictions(Predictions.from_trajectories("x", (fine,)), split, {})
    with pytest.raises(BadArgument, match="World house is not a navigation graph"):
        snap_predictions(Predictions.from_trajectories("x", (fine,)), split, {"house": World("house", Euclidean())})
    with pytest.raises(BadFile, match='episode "1": is not in other'):
        snap_predictions(Predictions.from_trajectories("x", (fine,)), Split("other", ()), {})


def test_positions_along_a_path_hold_every_node_and_equal_parts_between() -> None:
    there = positions_along("abd", CROSS, step=1.5)
    third = 4 / 3
    expected = [(0, 0), (third, 0), (2 * third, 0), (4, 0), (4, -third), (4, -2 * third), (4, -4)]
    np.testing.assert_allclose(there, [(x, y, 0) for x, y in expected], atol=1e-12)
    assert len(positions_along("ab", CROSS)) == 17  # 4 m in steps of 0.25 m
    assert len(positions_along("ab", CROSS, step=np.inf)) == 2


def test_standing_still_is_one_more_position() -> None:
    assert positions_along("aa", CROSS).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert positions_along("a", CROSS).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("path", "step", "said"),
    [("", 0.25, "no nodes"), ("ac", 0.25, "No edge joins a and c"), ("az", 0.25, "Not a node"), ("ab", 0.0, "step")],
)
def test_paths_that_lead_nowhere_are_refused(path: str, step: float, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        positions_along(path, CROSS, step=step)


@given(data=st.data())
@thorough
def test_steps_along_a_path_are_short_and_as_long_as_the_path_together(data: st.DataObject) -> None:
    space = data.draw(graphs())
    path = data.draw(walks_in(space))
    step = data.draw(st.floats(0.1, 5.0))
    gone = np.linalg.norm(np.diff(positions_along(path, space, step=step), axis=0), axis=1)
    assert (gone <= step + 1e-6).all()
    assert gone.sum() == pytest.approx(space.along(path).sum())


spots = st.tuples(*[st.floats(-1, 9)] * 3)


@given(data=st.data())
@thorough
def test_many_walks_at_once_are_snapped_as_the_slow_twin_snaps_each(data: st.DataObject) -> None:
    space = data.draw(graphs())
    walked = [np.array(points) for points in data.draw(st.lists(st.lists(spots, min_size=1), min_size=1, max_size=4))]
    starts = [data.draw(st.sampled_from(space.nodes)) for _ in walked]
    height = data.draw(st.none() | st.floats(0, 2))
    found = Ragged.from_rows(walked)
    nodes = snap_rows(found, space, starts=space.locate(starts), height=height)
    slow = []
    for points, start in zip(walked, starts, strict=True):
        level = space.positions[space.index[start], 2] - points[0, 2]
        slow.append(twin(points, space, start, level if height is None else height))
    assert [space.nodes[i] for i in nodes] == [node for row in slow for node in row]


@given(data=st.data())
@thorough
def test_snapped_walks_follow_edges_and_drop_nothing_but_repeats(data: st.DataObject) -> None:
    space = data.draw(graphs())
    points = np.array(data.draw(st.lists(spots, min_size=1, max_size=12)))
    every = snap(Trajectory("1", points), space, keep=True).places
    once = snap(Trajectory("1", points), space).places
    assert len(every) == len(points)
    assert list(once) == [node for node, _ in groupby(every)]
    assert all(b in space.neighbors(str(a)) for a, b in pairwise(once))


def clear(path: Sequence[str], space: NavGraph) -> bool:
    """Whether no node but its own ends is ever as near on an edge of the path: else the nearest may be a third one."""
    for a, b in pairwise(path):
        ends = [space.index[a], space.index[b]]
        others = [i for i in range(len(space.nodes)) if i not in ends]
        gaps = np.linalg.norm(positions_along((a, b), space)[:, None] - space.positions[None], axis=2)
        if (gaps[:, others].min(axis=1, initial=np.inf) <= gaps[:, ends].min(axis=1)).any():
            return False
    return True


@given(data=st.data(), height=st.sampled_from([0.0, 1.5]))
@thorough
def test_positions_along_a_path_are_snapped_back_to_it(data: st.DataObject, height: float) -> None:
    space = data.draw(graphs(connected=True))
    path = [node for node, _ in groupby(data.draw(walks_in(space)))]
    assume(clear(path, space))
    points = positions_along(path, space) - (0.0, 0.0, height)
    for given_height in (None, height):
        there = snap(Trajectory("1", points), space, start=path[0], height=given_height)
        assert there.places == tuple(path)


RECIPE = runpy.run_path(str(Path(__file__).parents[2] / "recipes" / "continuous_to_graph.py"))


def test_the_recipe_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("ITINERA_DATA", raising=False)
    RECIPE["main"](Path("nowhere"))
    assert capsys.readouterr().out == "Needs the data pack: set ITINERA_DATA to its folder.\n"


def test_the_recipe_draws_conversions_of_different_houses(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra figures")
    conversions = [
        RECIPE["Conversion"](
            episode(f"{house}{i}", tuple("abd"), world_id=house),
            CROSS,
            positions_along("abd", CROSS),
            tuple("abd"),
            i / 9,
        )
        for house in ("house", "hut")
        for i in range(9)
    ]
    picked = RECIPE["select"](conversions, 2)
    assert [(c.episode.world_id, c.ndtw) for c in picked] == [("house", 8 / 9), ("hut", 0.0)]
    files = RECIPE["draw"](picked, tmp_path / "pictures")
    assert [file.name for file in files] == ["00_house_house8.png", "01_hut_hut0.png", "conversions.png"]
    assert all(file.stat().st_size > 10_000 for file in files)


OFFICIAL = "vlnce/R2R_VLNCE_v1-3_preprocessed"


@pytest.fixture(scope="module")
def cameras(data: Path) -> Mapping[str, World]:
    return matterport.read_worlds(data / "connectivity.tar.xz")


@pytest.mark.real
@pytest.mark.parametrize(("name", "ndtw", "success"), [("val_seen", 0.8662, 0.9769), ("val_unseen", 0.8869, 0.9755)])
def test_the_expert_traces_follow_the_references_on_the_graph(
    data: Path, cameras: Mapping[str, World], name: str, ndtw: float, success: float
) -> None:
    split = vlnce.read_split(data / OFFICIAL / f"{name}.json.gz")
    dense = vlnce.read_dense(data / OFFICIAL / f"{name}_gt.json.gz")
    paths = {e.path_id: e for e in r2r.read_split(data / "r2r" / f"R2R_{name}.json.gz").episodes}
    asked = replace(split, episodes=tuple(replace(paths[e.path_id], id=e.id) for e in split.episodes), protocol="r2r")
    traces = Predictions.from_trajectories(
        "traces", tuple(Trajectory(e.id, dense[e.id].positions) for e in split.episodes)
    )
    starts = {e.id: str(e.start.place) for e in asked.episodes}
    table = score(snap_predictions(traces, split, cameras, starts=starts), asked, cameras)
    assert table.values["nDTW"].mean() == pytest.approx(ndtw, abs=1e-3)
    assert table.values["SR"].mean() == pytest.approx(success, abs=1e-3)
    # Without being told, nearly all find their start node; some nodes stand over the same spot.
    found = [t.places[0] == starts[t.episode_id] for t in snap_predictions(traces, split, cameras).trajectories]
    assert np.mean(found) > 0.98


@pytest.mark.real
def test_reference_positions_on_the_navmesh_are_snapped_to_their_own_nodes(data: Path) -> None:
    floors = catalog.read_worlds(data / "vlnce/ivlnce_connectivity_graphs.json.gz")
    paths = {e.path_id: e for e in r2r.read_split(data / "r2r" / "R2R_val_unseen.json.gz").episodes}
    same = []
    for task in vlnce.read_split(data / OFFICIAL / "val_unseen.json.gz").episodes:
        space = floors[task.world_id].space
        assert isinstance(space, NavGraph)
        reference = tuple(map(str, paths[task.path_id].reference))
        if set(reference) <= set(space.nodes):
            same.append(snap(Trajectory(task.id, np.asarray(task.reference)), space).places == reference)
    assert len(same) > 1800
    assert np.mean(same) == 1.0
