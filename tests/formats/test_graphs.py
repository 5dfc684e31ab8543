"""Files of navigation graphs: frames, lengths, faults, and IVLN-CE's graphs on the navmesh."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from json_files import written

from itinera.errors import BadArgument, BadFile
from itinera.formats import catalog, matterport
from itinera.formats.graphs import Frame, read_worlds, write_worlds
from itinera.formats.vlnce import read_split
from itinera.worlds import Euclidean, NavGraph, World

# In the Habitat frame: b stands 3 m to the right of a, c 4 m ahead of b (-z) and 1 m above it.
HOUSE: dict[str, Any] = {
    "nodes": {"a": [0, 0.5, 0], "b": [3, 0.5, 0], "c": [3, 1.5, -4], "alone": [9, 9, 9]},
    "edges": [["a", "b", 3.0], ["c", "b"]],
}


def graph_of(worlds: Mapping[str, World], name: str) -> NavGraph:
    graph = worlds[name].space
    assert isinstance(graph, NavGraph)
    return graph


def test_a_file_that_does_not_say_is_in_habitats_frame(tmp_path: Path) -> None:
    graph = graph_of(read_worlds(written(tmp_path / "graphs.json", {"house": HOUSE})), "house")
    assert graph.nodes == ("a", "b", "c", "alone")
    assert graph.positions.tolist() == [[0, 0, 0.5], [3, 0, 0.5], [3, 4, 1.5], [9, -9, 9]]
    assert graph.neighbors("b") == ("a", "c")
    assert graph.between(["a"], ["c", "alone"]).tolist() == [[pytest.approx(3 + 17**0.5), np.inf]]


def test_our_own_frame_is_taken_as_it_is(tmp_path: Path) -> None:
    graph = graph_of(read_worlds(written(tmp_path / "graphs.json", {"house": {"frame": "z-up", **HOUSE}})), "house")
    assert graph.positions.tolist() == list(HOUSE["nodes"].values())


@pytest.mark.parametrize("frame", ["z-up", "habitat"])
@pytest.mark.parametrize("name", ["graphs.json", "graphs.json.gz"])
def test_worlds_come_back_as_they_were_written(tmp_path: Path, frame: Frame, name: str) -> None:
    worlds = read_worlds(written(tmp_path / "first.json", {"house": HOUSE, "hut": HOUSE}))
    write_worlds(tmp_path / name, worlds, frame=frame)
    assert_same_worlds(read_worlds(tmp_path / name), worlds)


def assert_same_worlds(some: Mapping[str, World], others: Mapping[str, World]) -> None:
    assert list(some) == list(others)
    for name in some:
        a, b = graph_of(some, name), graph_of(others, name)
        assert a.nodes == b.nodes
        np.testing.assert_array_equal(a.positions, b.positions)
        np.testing.assert_array_equal(a.edges, b.edges)


def test_what_is_written_says_its_frame_and_lengths(tmp_path: Path) -> None:
    write_worlds(tmp_path / "g.json", {"hut": World("hut", NavGraph.from_edges({"a": (0, 0, 0), "b": (0, 2, 1)}, []))})
    written_graph = json.loads((tmp_path / "g.json").read_text())["hut"]
    assert written_graph == {"frame": "z-up", "nodes": {"a": [0.0, 0.0, 0.0], "b": [0.0, 2.0, 1.0]}, "edges": []}
    graph = NavGraph.from_edges({"a": (0, 0, 0), "b": (3, 4, 0)}, [("a", "b")])
    write_worlds(tmp_path / "g.json", {"hut": World("hut", graph)}, frame="habitat")
    written_graph = json.loads((tmp_path / "g.json").read_text())["hut"]
    assert written_graph["nodes"]["b"] == [3.0, 0.0, -4.0]
    assert written_graph["edges"] == [["a", "b", 5.0]]


def test_only_graphs_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="World open is not a navigation graph"):
        write_worlds(tmp_path / "out.json", {"open": World("open", Euclidean())})
    assert not (tmp_path / "out.json").exists()


def test_lengths_may_differ_by_rounding_only(tmp_path: Path) -> None:
    house = HOUSE | {"edges": [["a", "b", 3.0009]]}
    assert len(graph_of(read_worlds(written(tmp_path / "g.json", {"house": house})), "house").edges) == 1


FAULTS: dict[str, tuple[Any, str]] = {
    "a list": ([], "Expected `object`"),
    "no nodes": ({"nodes": {}, "edges": []}, 'record "house", field nodes: has no nodes'),
    "no edges": ({"nodes": {"a": [0, 0, 0]}}, "missing required field `edges`"),
    "a short position": (HOUSE | {"nodes": {"a": [0, 0]}}, 'record "house"'),
    "an unknown frame": (HOUSE | {"frame": "sideways"}, "field frame"),
    "an unknown field": (HOUSE | {"nods": {}}, "unknown field `nods`"),
    "a strange end": (HOUSE | {"edges": [["a", "z"]]}, "field edges[0]: z is not a node"),
    "a loop": (HOUSE | {"edges": [["a", "a"]]}, "field edges[0]: joins a with itself"),
    "an edge twice": (HOUSE | {"edges": [["a", "b"], ["b", "a"]]}, "field edges[1]: joins b and a again"),
    "a way around": (HOUSE | {"edges": [["a", "b", 4.5]]}, "states a length of 4.5 m, but its ends are 3 m apart"),
    "four entries": (HOUSE | {"edges": [["a", "b", 3.0, 1]]}, "Expected `array` of at most length 3"),
}


@pytest.mark.parametrize(("content", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, content: Any, said: str) -> None:
    file = written(tmp_path / "graphs.json", content if isinstance(content, list) else {"house": content})
    with pytest.raises(BadFile) as caught:
        read_worlds(file)
    assert said in str(caught.value)


def test_faults_of_all_graphs_are_told_together_and_repeated_names_refused(tmp_path: Path) -> None:
    bad = HOUSE | {"edges": [["a", "z"], ["y", "b"]]}
    with pytest.raises(BadFile) as caught:
        read_worlds(written(tmp_path / "graphs.json", {"house": bad, "hut": bad}))
    assert len(caught.value.faults) == 4
    twice = written(tmp_path / "twice.json", '{"hut": {"nodes": {"a": [0, 0, 0], "a": [1, 0, 0]}, "edges": []}}')
    with pytest.raises(BadFile, match='record "a": is given twice'):
        read_worlds(twice)


def test_the_catalogue_reads_worlds_of_either_kind(tmp_path: Path) -> None:
    file = written(tmp_path / "graphs.json", {"house": HOUSE})
    worlds = catalog.read_worlds(file)
    matterport.write_worlds(tmp_path / "connectivity.zip", worlds)
    again = catalog.read_worlds(tmp_path / "connectivity.zip")
    assert graph_of(again, "house").nodes == graph_of(worlds, "house").nodes
    edges_first = {"house": {"edges": HOUSE["edges"], "nodes": HOUSE["nodes"]}}
    assert catalog.detect(written(tmp_path / "other.json", edges_first)).name == "graphs"


NAVMESH = "vlnce/ivlnce_connectivity_graphs.json.gz"


@pytest.fixture(scope="module")
def navmesh(data: Path) -> Mapping[str, World]:
    return catalog.read_worlds(data / NAVMESH)


@pytest.mark.real
def test_the_navmesh_graphs_are_parts_of_matterports(data: Path, navmesh: Mapping[str, World], tmp_path: Path) -> None:
    poses = matterport.read_worlds(data / "connectivity.tar.xz")
    nodes = edges = 0
    for scan in navmesh:
        graph, whole = graph_of(navmesh, scan), graph_of(poses, scan)
        nodes, edges = nodes + len(graph.nodes), edges + len(graph.edges)
        at = whole.locate(graph.nodes)
        assert whole.adjacency[at[graph.edges[:, 0]], at[graph.edges[:, 1]]].all()
        # On the floor below the camera, moved by half a metre at most.
        above = whole.positions[at] - graph.positions
        assert np.linalg.norm(above[:, :2], axis=1).max() < 0.51
        assert above[:, 2].min() > 0.09
        assert above[:, 2].max() < 1.82
    assert (len(navmesh), nodes, edges) == (90, 10_336, 20_889)
    write_worlds(tmp_path / "again.json.gz", navmesh, frame="habitat")
    assert_same_worlds(read_worlds(tmp_path / "again.json.gz"), navmesh)


@pytest.mark.real
def test_vlnce_references_run_along_the_navmesh_graphs(data: Path, navmesh: Mapping[str, World]) -> None:
    split = read_split(data / "vlnce/R2R_VLNCE_v1-3_preprocessed/val_unseen.json.gz")
    found = total = 0
    for episode in split.episodes:
        graph = graph_of(navmesh, episode.world_id)
        gaps = np.linalg.norm(np.asarray(episode.reference)[:, None] - graph.positions[None], axis=2).min(axis=1)
        found, total = found + int((gaps < 1e-5).sum()), total + len(gaps)
    assert found / total > 0.99


def test_a_graph_of_absurd_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itinera.formats.graphs.MAX_NODES", 3)
    with pytest.raises(BadFile, match=r"has 4 nodes\.\n  Divide a graph above 3 nodes"):
        read_worlds(written(tmp_path / "graphs.json", {"house": HOUSE}))
