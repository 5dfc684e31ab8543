"""Connectivity files: folders and archives, hand-made faults, and the real graphs."""

from __future__ import annotations

import gzip
import io
import json
import math
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.decoding import decode
from itinera.formats.frames import heading_to_r2r
from itinera.formats.io import members
from itinera.formats.matterport import PANORAMA_OFFSET, Connectivity, read_worlds, write_worlds
from itinera.worlds import Euclidean, NavGraph, World


def panorama(
    name: str, place: tuple[float, float, float], joined: list[bool], *, included: bool = True
) -> dict[str, Any]:
    x, y, z = place
    # A camera turned a quarter to the left about the vertical, so that the offset's axes can be told apart.
    pose = [0, -1, 0, x, 1, 0, 0, y, 0, 0, 1, z, 0, 0, 0, 1]
    return {
        "image_id": name,
        "pose": pose,
        "included": included,
        "visible": joined,
        "unobstructed": joined,
        "height": 1.5,
    }


# a - b - c in a row, d excluded though b sees it, e alone.
HOUSE = [
    panorama("a", (0, 0, 1), [False, True, False, False, False]),
    panorama("b", (3, 0, 1), [True, False, True, True, False]),
    panorama("c", (3, 4, 1), [False, True, False, False, False]),
    panorama("d", (9, 9, 1), [False, True, False, False, False], included=False),
    panorama("e", (5, 5, 1), [False, False, False, False, False]),
]


def folder(tmp_path: Path, **scans: Any) -> Path:
    place = tmp_path / "connectivity"
    place.mkdir()
    for scan, panoramas in scans.items():
        (place / f"{scan}_connectivity.json").write_text(json.dumps(panoramas))
    return place


def graph_of(worlds: Connectivity, scan: str) -> NavGraph:
    graph = worlds[scan].space
    assert isinstance(graph, NavGraph)
    return graph


def test_edges_join_included_panoramas_and_isolated_ones_stay(tmp_path: Path) -> None:
    graph = graph_of(read_worlds(folder(tmp_path, house=HOUSE)), "house")
    assert graph.nodes == ("a", "b", "c", "e")
    assert [(graph.nodes[i], graph.nodes[j]) for i, j in graph.edges] == [("a", "b"), ("b", "c")]
    np.testing.assert_array_equal(graph.positions[1], [3, 0, 1])
    assert graph.between(["a"], ["c", "e"]).tolist() == [[7.0, math.inf]]


def test_an_edge_that_only_one_end_lists_is_none(tmp_path: Path) -> None:
    house = [panorama("a", (0, 0, 0), [False, True]), panorama("b", (1, 0, 0), [False, False])]
    assert graph_of(read_worlds(folder(tmp_path, house=house)), "house").neighbors("a") == ()


def test_panorama_positions_add_the_offset_in_the_cameras_frame(tmp_path: Path) -> None:
    graph = graph_of(read_worlds(folder(tmp_path, house=HOUSE), positions="panorama"), "house")
    x, y, z = PANORAMA_OFFSET
    # The camera's x axis is the world's y, its y axis the world's -x.
    np.testing.assert_allclose(graph.positions[0], [-y, x, 1 + z], atol=1e-12)


def _zipped(place: Path, content: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(place.with_suffix(".zip"), "w") as archive:
        for name, data in content.items():
            archive.writestr(f"connectivity/{name}", data)
    return place.with_suffix(".zip")


def _tarred(kind: str) -> Callable[[Path, dict[str, bytes]], Path]:
    def make(place: Path, content: dict[str, bytes]) -> Path:
        path = place.with_suffix(f".tar.{kind}")
        with tarfile.open(path, f"w:{kind}") as archive:  # type: ignore[call-overload]
            for name, data in content.items():
                entry = tarfile.TarInfo(f"connectivity/{name}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
        return path

    return make


PACKERS = {"zip": _zipped, "tar.gz": _tarred("gz"), "tar.xz": _tarred("xz")}


@pytest.mark.parametrize("kind", PACKERS)
def test_archives_hold_the_same_worlds_as_their_folder(tmp_path: Path, kind: str) -> None:
    place = folder(tmp_path, house=HOUSE, hut=[panorama("h", (1, 2, 3), [False])])
    content = {file.name: file.read_bytes() for file in place.iterdir()}
    assert_same_worlds(read_worlds(PACKERS[kind](tmp_path / "packed", content)), read_worlds(place))


def assert_same_worlds(some: Connectivity, others: Connectivity) -> None:
    assert sorted(some) == sorted(others)
    for scan in some:
        a, b = graph_of(some, scan), graph_of(others, scan)
        assert a.nodes == b.nodes
        np.testing.assert_array_equal(a.positions, b.positions)
        np.testing.assert_array_equal(a.edges, b.edges)


@pytest.mark.parametrize("name", ["written", "written.zip", "written.tar", "written.tar.gz", "written.tar.xz"])
def test_worlds_come_back_as_they_were_written(tmp_path: Path, name: str) -> None:
    worlds = read_worlds(folder(tmp_path, house=HOUSE))
    write_worlds(tmp_path / name, worlds)
    assert_same_worlds(read_worlds(tmp_path / name), worlds)


def test_only_graphs_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="not a navigation graph"):
        write_worlds(tmp_path / "out", {"open": World("open", Euclidean())})


def changed(**fields: Any) -> list[dict[str, Any]]:
    return [HOUSE[0] | fields, *HOUSE[1:]]


FAULTS: dict[str, tuple[Any, list[str]]] = {
    "a list is not an object": ({"a": 1}, ["house_connectivity.json", "Expected `array`"]),
    "no pose": ([{"image_id": "a", "included": True, "unobstructed": [False]}], ["record 0", "`pose`"]),
    "a short pose": (changed(pose=[1.0] * 15), ["record 0, field pose", "16 finite numbers"]),
    "a row too short": (changed(unobstructed=[True]), ["field unobstructed", "1 entries for 5 panoramas"]),
    "the same id": (changed(image_id="b"), ["record 1, field image_id", "b is given twice"]),
    "two faults": (
        [HOUSE[0] | {"pose": []}, *HOUSE[1:4], HOUSE[4] | {"unobstructed": []}],
        ["record 0, field pose", "record 4, field unobstructed"],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_connectivity_file_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    content, fragments = FAULTS[name]
    worlds = read_worlds(folder(tmp_path, house=content))
    with pytest.raises(BadFile) as caught:
        worlds["house"]
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_place_without_connectivity_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no such file or folder"):
        read_worlds(tmp_path / "nowhere")
    with pytest.raises(BadFile, match="contains no file that ends in"):
        read_worlds(tmp_path)
    (tmp_path / "torn.tar.xz").write_bytes(b"\xfd7zXZ\x00 and then nothing")
    with pytest.raises(BadFile, match=r"torn\.tar\.xz"):
        read_worlds(tmp_path / "torn.tar.xz")


@pytest.fixture(scope="module")
def graphs(data: Path) -> dict[str, NavGraph]:
    worlds = read_worlds(data / "connectivity.tar.xz")
    return {scan: graph_of(worlds, scan) for scan in worlds}


@pytest.mark.real
def test_the_real_graphs_have_all_their_nodes(graphs: dict[str, NavGraph]) -> None:
    assert len(graphs) == 90
    assert sum(len(graph.nodes) for graph in graphs.values()) == 10_567
    assert sum(len(graph.edges) for graph in graphs.values()) == 21_468
    alone = {scan: int((graph.adjacency.sum(axis=1) == 0).sum()) for scan, graph in graphs.items()}
    assert {scan: count for scan, count in alone.items() if count} == {
        "B6ByNegPMKs": 3,
        "JF19kD82Mey": 1,
        "PuKPg4mmafe": 1,
        "q9vSo1VnCiC": 1,
        "r1Q1Z4BcV1o": 1,
        "SN83YJsR3w2": 1,
    }


@pytest.mark.real
def test_neighbours_stand_where_the_simulator_says(graphs: dict[str, NavGraph], data: Path) -> None:
    kind = dict[str, dict[str, dict[str, float]]]
    checked = 0
    for name, member in members(data / "navigable.tar.xz", "_navigable.json").items():
        graph = graphs[name.removesuffix("_navigable.json")]
        simulator = decode(member.read(), kind, name)
        assert set(simulator) == set(graph.nodes)
        for node, neighbors in simulator.items():
            assert set(neighbors) == set(graph.neighbors(node))
            for other, seen in neighbors.items():
                turned = heading_to_r2r(graph.heading(node, other)) - seen["heading"]
                assert abs(math.remainder(turned, math.tau)) < 1e-3
                assert graph.elevation(node, other) == pytest.approx(seen["elevation"], abs=1e-3)
                assert graph.along([node, other])[0] == pytest.approx(seen["distance"], abs=1e-3)
                checked += 1
    assert checked == 42_936


@pytest.mark.real
@pytest.mark.parametrize("kind", ["folder", "zip", "tar.gz"])
def test_the_real_graphs_are_the_same_however_packed(
    tmp_path: Path, data: Path, graphs: dict[str, NavGraph], kind: str
) -> None:
    few = ("gZ6f7yhEvPG", "B6ByNegPMKs", "17DRP5sb8fy")
    packed = members(data / "connectivity.tar.xz", "_connectivity.json")
    content = {name: packed[name].read() for name in (f"{scan}_connectivity.json" for scan in few)}
    if kind == "folder":
        for name, text in content.items():
            (tmp_path / name).write_bytes(text)
    worlds = read_worlds(tmp_path if kind == "folder" else PACKERS[kind](tmp_path / "packed", content))
    assert sorted(worlds) == sorted(few)
    for scan in few:
        graph = graph_of(worlds, scan)
        assert graph.nodes == graphs[scan].nodes
        np.testing.assert_array_equal(graph.positions, graphs[scan].positions)
        np.testing.assert_array_equal(graph.edges, graphs[scan].edges)


@pytest.mark.real
def test_real_panorama_positions_agree_with_a_house_file(data: Path) -> None:
    scan = "GdvgFV5R1Z5"
    graph = graph_of(read_worlds(data / "connectivity.tar.xz", positions="panorama"), scan)
    text = gzip.decompress((data / "rooms" / "mp3d_samples" / scan / f"{scan}.house.gz").read_bytes()).decode()
    told = {f[1]: np.array(f[5:8], dtype=float) for f in (line.split() for line in text.splitlines()) if f[0] == "P"}
    assert set(graph.nodes) <= set(told)
    for node in graph.nodes:
        np.testing.assert_allclose(graph.positions[graph.index[node]], told[node], atol=2e-3)


@pytest.mark.parametrize("target", ["folder", "all.zip", "all.tar.gz"])
@pytest.mark.parametrize("world_id", ["../../x", "/x", "a\0b", "a" * 300, ".x", "a\nb"])
def test_worlds_whose_ids_are_no_file_names_are_refused(tmp_path: Path, target: str, world_id: str) -> None:
    graph = NavGraph(("a",), np.zeros((1, 3)), np.zeros((0, 2), dtype=np.int64))
    with pytest.raises(BadArgument, match="cannot be the name of a file"):
        write_worlds(tmp_path / "out" / target, {world_id: World(world_id, graph)})
    assert list(tmp_path.iterdir()) == []
