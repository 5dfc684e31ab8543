"""Room labels: three files for one fact, their faults, and the real ones against each other."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cottage
from itinera.errors import BadArgument, BadFile
from itinera.formats.matterport import read_worlds
from itinera.formats.rooms import read_house, read_regions, read_table, write_house, write_table
from itinera.worlds import Euclidean, NavGraph, Room, World
from itinera.worlds.labels import ROOM_NAMES

HEAD = "ASCII 1.1\nH  -  -  0 3 0 0 0 0 0 2 1  1  0 0 0 0 0 0 0 0 9 9 9  0 0 0 0 0\n"
HOUSE = HEAD + (
    "L  0  2  -  0 0 0  0 0 0  9 9 9  0 0 0 0 0\n"
    "R  0 0  0 0  k  1 1 1  0 0 0  2 2 2  2  0 0 0 0\n"
    "R  1 0  0 0  -  1 1 1  0 0 0  2 2 2  2  0 0 0 0\n"
    "P  0  0 1  k  0 0 0  1 1 1  0 0 0 0\n"  # a portal between the rooms
    "P  aaa  0 0  0  1 1 1  0 0 0 0 0\n"
    "P  bbb  1 1  0  1 1 1  0 0 0 0 0\n"
    "P  ccc  2 -1  0  1 1 1  0 0 0 0 0\n"
)
ROOMS = {"aaa": Room("k", "0"), "bbb": Room("-", "1")}


@pytest.mark.parametrize("name", ["x.house", "x.house.gz"])
def test_a_house_file_gives_each_panorama_its_regions_label(tmp_path: Path, name: str) -> None:
    text = HOUSE.encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert read_house(tmp_path / name) == ROOMS


def test_a_list_of_regions_gives_the_same_rooms(tmp_path: Path) -> None:
    (tmp_path / "panorama_to_region.txt").write_text("0 aaa 0 k\n1 bbb 1 -\n\n2 ccc -1 -\n3 ddd -1 h\n")
    # A label without a region is still a label.
    assert read_regions(tmp_path / "panorama_to_region.txt") == {**ROOMS, "ddd": Room("h")}


def test_a_table_knows_many_scans_and_passes_over_other_columns(tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text(
        "scan,viewpoint,included,room_code,room_label,region_id\nhouse,aaa,1,k,kitchen,0\nhut,bbb,0,h,hallway,\n"
    )
    assert read_table(tmp_path / "rooms.csv") == {"house": {"aaa": Room("k", "0")}, "hut": {"bbb": Room("h")}}


def test_a_table_may_lack_regions(tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text("viewpoint,room_code,scan\naaa,k,house\n")
    assert read_table(tmp_path / "rooms.csv") == {"house": {"aaa": Room("k")}}


@pytest.mark.parametrize("name", ["rooms.csv", "rooms.csv.gz"])
def test_tables_come_back_as_they_were_written(tmp_path: Path, name: str) -> None:
    rooms = {"house": ROOMS, "hut": {"a,b": Room("h"), '"': Room("Z", "12")}}
    write_table(tmp_path / name, rooms)
    assert read_table(tmp_path / name) == rooms


def test_a_written_table_names_the_rooms(tmp_path: Path) -> None:
    write_table(tmp_path / "rooms.csv", {"house": {"aaa": Room("k", "0")}})
    assert (tmp_path / "rooms.csv").read_text() == (
        "scan,viewpoint,room_code,room_label,region_id\nhouse,aaa,k,kitchen,0\n"
    )


def world(**rooms: Room) -> World:
    positions = {"a": (0, 0, 0), "b": (2, 0, 0), "c": (2, 2, 1), "d": (5, 5, 5)}
    return World("house", NavGraph.from_edges(positions, [("a", "b"), ("b", "c")]), rooms=rooms)


def test_houses_come_back_as_they_were_written(tmp_path: Path) -> None:
    rooms = {"a": Room("k", "0"), "b": Room("h", "7"), "c": Room("h", "7")}
    write_house(tmp_path / "x.house.gz", world(**rooms))
    assert read_house(tmp_path / "x.house.gz") == rooms


def test_a_written_region_is_the_box_around_its_viewpoints(tmp_path: Path) -> None:
    write_house(tmp_path / "x.house", world(b=Room("h", "7"), c=Room("h", "7")))
    (region,) = (line.split() for line in (tmp_path / "x.house").read_text().splitlines() if line.startswith("R"))
    center, low, high = ([float(x) for x in region[i : i + 3]] for i in (6, 9, 12))
    assert (center, low, high) == ([2.0, 1.0, 0.5], [2.0, 0.0, 0.0], [2.0, 2.0, 1.0])
    assert float(region[15]) == 1.0


def test_rooms_that_cannot_keep_their_number_are_numbered_after_the_others(tmp_path: Path) -> None:
    # b shares a's number but not its label; c and d have none of their own.
    write_house(tmp_path / "x.house", world(a=Room("k", "3"), b=Room("h", "3"), c=Room("h"), d=Room("l", "9" * 5000)))
    assert read_house(tmp_path / "x.house") == {
        "a": Room("k", "3"),
        "b": Room("h", "4"),
        "c": Room("h", "5"),
        "d": Room("l", "6"),
    }


def test_a_house_without_rooms_or_nodes_can_be_written(tmp_path: Path) -> None:
    write_house(tmp_path / "x.house", world())
    assert read_house(tmp_path / "x.house") == {}
    write_house(tmp_path / "y.house", World("empty", NavGraph((), np.empty((0, 3)), np.empty((0, 2), dtype=np.int64))))
    assert read_house(tmp_path / "y.house") == {}


def test_nodes_named_by_numbers_are_not_taken_for_portals(tmp_path: Path) -> None:
    graph = NavGraph.from_edges({"0": (0, 0, 0), "1": (1, 0, 0)}, [("0", "1")])
    rooms = {"0": Room("k", "0"), "1": Room("k", "0")}
    write_house(tmp_path / "x.house", World("house", graph, rooms=rooms))
    assert read_house(tmp_path / "x.house") == rooms


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (World("open", Euclidean()), "not a navigation graph"),
        (World("my house", world().space), "'my house' cannot be written"),
        (World("house", NavGraph.from_edges({"a b": (0, 0, 0)}, [])), "'a b' cannot be written"),
    ],
)
def test_what_a_house_file_cannot_hold_is_refused(tmp_path: Path, bad: World, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        write_house(tmp_path / "x.house", bad)


def records(file: Path) -> dict[str, list[list[str]]]:
    """The fields of every record by its letter."""
    found: dict[str, list[list[str]]] = {}
    for line in file.read_text().splitlines()[1:]:
        letter, *fields = line.split()
        found.setdefault(letter, []).append(fields)
    return found


def test_a_planned_house_tells_its_storeys_rooms_floors_and_things(tmp_path: Path) -> None:
    write_house(tmp_path / "x.house", cottage.world(), plan=cottage.PLAN, items=cottage.ITEMS)
    assert read_house(tmp_path / "x.house") == cottage.world().rooms
    told = records(tmp_path / "x.house")
    assert {letter: len(lines) for letter, lines in told.items()} == {
        "H": 1, "L": 2, "R": 3, "S": 3, "V": 14, "P": 4, "C": 3, "O": 3,
    }  # fmt: skip
    # name, label, then how many images, panoramas, vertices, surfaces, segments, objects, categories, regions, portals
    assert told["H"][0][:12] == ["cottage", "-", "0", "4", "14", "3", "0", "3", "3", "3", "0", "2"]
    assert [line[:2] for line in told["L"]] == [["0", "2"], ["1", "1"]]
    assert [(line[0], line[1], line[4]) for line in told["R"]] == [("0", "0", "k"), ("1", "0", "h"), ("2", "1", "b")]
    kitchen = [list(map(float, line[3:6])) for line in told["V"] if line[1] == "0"]
    assert kitchen == [[x, y, 0.0] for x, y in cottage.PLAN.rooms[0].outline.tolist()]


def test_the_boxes_of_things_are_turned_as_they_stand(tmp_path: Path) -> None:
    write_house(tmp_path / "x.house", cottage.world(), plan=cottage.PLAN, items=cottage.ITEMS)
    told = records(tmp_path / "x.house")
    names = [line[2] for line in told["C"]]
    assert names == ["door", "coffee#table", "bed"]  # by mpcat40's order
    _, table, bed = told["O"]
    assert names[int(table[2])] == "coffee#table"
    # The table looks north, so its width lies along x and its depth along y.
    assert list(map(float, table[3:15])) == [2, 1, 0.2, 1, 0, 0, 0, 1, 0, 0.5, 0.25, 0.2]
    assert bed[1] == "2"
    assert list(map(float, bed[6:12])) == pytest.approx([0.5, -np.sqrt(0.75), 0, np.sqrt(0.75), 0.5, 0], abs=1e-5)


HOUSE_FAULTS: dict[str, tuple[str, list[str]]] = {
    "an empty file": ("", ["does not begin with ASCII", "no H record"]),
    "another file": ("ply\n", ["line 1: does not begin with ASCII"]),
    "cut short": (HOUSE.rpartition("P")[0], ["promises 3 panoramas and 2 regions, but holds 2 and 2", "cut short"]),
    "a short record": (HOUSE + "R  2 0\n", ["line 10", "3 fields, fewer than 6"]),
    "a strange label": (HOUSE.replace("0 0  k", "0 0  q"), ["line 4", "'q' is not a room code"]),
    "a region twice": (HOUSE.replace("R  1", "R  0"), ["line 5", "region 0 is given twice"]),
    "a panorama twice": (HOUSE.replace("bbb", "aaa"), ["line 8", "viewpoint aaa is given twice"]),
    "an unknown region": (HOUSE.replace("bbb  1 1", "bbb  1 9"), ["line 8", "bbb lies in region 9"]),
    "several at once": (HOUSE.replace("bbb", "aaa").replace("0 0  k", "0 0  q"), ["line 4", "line 8"]),
}
REGION_FAULTS: dict[str, tuple[str, list[str]]] = {
    "three fields": ("0 aaa k\n", ["line 1", "has 3 fields", "index viewpoint region label"]),
    "a strange label": ("0 aaa 0 kitchen\n", ["line 1", "'kitchen' is not a room code"]),
    "a viewpoint twice": ("0 aaa 0 k\n1 aaa 0 k\n", ["line 2", "aaa is given twice"]),
}
TABLE_FAULTS: dict[str, tuple[str, list[str]]] = {
    "an empty file": ("", ["the header lacks scan, viewpoint, room_code"]),
    "another header": ("scan,node,room_code\n", ["line 1: the header lacks viewpoint"]),
    "a comma too many": ("scan,viewpoint,room_code\nx,a,k,0\n", ["line 2", "4 columns where the header has 3"]),
    "a strange code": ("scan,viewpoint,room_code\nx,a,kitchen\n", ["line 2", "'kitchen' is not a room code"]),
    "no scan": ("scan,viewpoint,room_code\n,a,k\n", ["line 2", "names no scan"]),
    "a viewpoint twice": ("scan,viewpoint,room_code\nx,a,k\nx,a,h\n", ["line 3", "a is given twice"]),
    "an open quote": ('scan,viewpoint,room_code\nx,"a,k\n', ["is not CSV"]),
    "a field without end": ("scan,viewpoint,room_code\nx," + "a" * 200_000 + ",k\n", ["is not CSV"]),
    "several at once": ("scan,viewpoint,room_code\nx,a,?\n,b,k\n", ["line 2", "line 3"]),
}
READERS = ((read_house, HOUSE_FAULTS), (read_regions, REGION_FAULTS), (read_table, TABLE_FAULTS))


@pytest.mark.parametrize(
    ("read", "content", "fragments"),
    [(read, *case) for read, cases in READERS for case in cases.values()],
    ids=[f"{read.__name__}: {name}" for read, cases in READERS for name in cases],
)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, read, content: str, fragments: list[str]) -> None:
    (tmp_path / "bad").write_text(content)
    with pytest.raises(BadFile) as caught:
        read(tmp_path / "bad")
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\xff\xfe\x00scan")
    for read in (read_regions, read_table):
        with pytest.raises(BadFile, match="not UTF-8"):
            read(tmp_path / "bad")


@pytest.mark.real
def test_the_real_table_has_its_counts_and_comes_back(tmp_path: Path, data: Path) -> None:
    rooms = read_table(data / "rooms" / "viewpoint_rooms.csv.gz")
    labels = [room.label for there in rooms.values() for room in there.values()]
    assert (len(rooms), len(labels)) == (90, 10_800)
    assert (labels.count("h"), labels.count("k"), labels.count("-")) == (1875, 601, 52)
    assert set(labels) <= set(ROOM_NAMES)
    write_table(tmp_path / "rooms.csv", rooms)
    assert read_table(tmp_path / "rooms.csv") == rooms


@pytest.mark.real
def test_real_house_files_and_lists_of_regions_agree_with_the_table(data: Path) -> None:
    table = read_table(data / "rooms" / "viewpoint_rooms.csv.gz")
    samples = data / "rooms" / "mp3d_samples"
    compared = 0
    for file in samples.rglob("*"):
        if file.is_dir():
            continue
        rooms = read_house(file) if ".house" in file.name else read_regions(file)
        for viewpoint, room in rooms.items():
            told = table[file.parent.name][viewpoint]
            assert told.label == room.label
            assert told.region_id in ("", room.region_id)
            compared += 1
    assert compared > 30
    scan = "GdvgFV5R1Z5"
    assert read_house(samples / scan / f"{scan}.house.gz") == read_regions(samples / scan / "panorama_to_region.txt")


@pytest.mark.real
def test_a_real_world_comes_back_from_a_house_file(tmp_path: Path, data: Path) -> None:
    scan = "17DRP5sb8fy"
    rooms = read_table(data / "rooms" / "viewpoint_rooms.csv.gz")[scan]
    furnished = replace(read_worlds(data / "connectivity.tar.xz")[scan], rooms=rooms)
    write_house(tmp_path / "x.house", furnished)
    again = read_house(tmp_path / "x.house")
    assert isinstance(furnished.space, NavGraph)
    assert {node: room.label for node, room in again.items()} == {
        node: rooms[node].label for node in furnished.space.nodes
    }
