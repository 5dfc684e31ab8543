"""REVERIE: annotations of both versions, objects by viewpoint, faults, and the official files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from json_files import assert_same_records, records, written

from itinera.errors import BadArgument, BadFile
from itinera.formats.io import members
from itinera.formats.reverie import read_objects, read_split, write_objects, write_split
from itinera.worlds import VisibleObject

SECOND: dict[str, Any] = {
    "scan": "house",
    "id": "7_66",
    "path_id": 7,
    "objId": 66,
    "path": ["a", "b"],
    "heading": 0.5,
    "instructions": ["Wipe the table", "Clean the coffee table"],
}
FIRST: dict[str, Any] = SECOND | {"distance": 3.5, "ix": 208, "instructions_l": ["Walk to the table. "]}
TEST_SPLIT: dict[str, Any] = {
    "scan": "house",
    "id": "2021",
    "path": ["a"],
    "heading": 0.6,
    "instructions": ["Go to the kitchen"],
}


def test_each_instruction_is_an_episode_that_knows_its_object(tmp_path: Path) -> None:
    split = read_split(written(tmp_path / "REVERIE_tiny.json", [SECOND]))
    first, second = split.episodes
    assert (split.name, first.id, second.id, first.path_id) == ("REVERIE_tiny", "7_66_0", "7_66_1", "7")
    assert (first.goals, first.reference, first.notes["objId"]) == (("b",), ("a", "b"), 66)
    assert second.instruction.text == "Clean the coffee table"
    assert first.start.heading == pytest.approx(math.pi / 2 - 0.5)


def test_the_test_split_withholds_goal_and_object(tmp_path: Path) -> None:
    (episode,) = read_split(written(tmp_path / "x.json", [TEST_SPLIT])).episodes
    assert (episode.id, episode.goals_withheld, len(episode.reference)) == ("2021_0", True, 0)
    assert "objId" not in episode.notes


def test_an_object_at_the_start_is_not_withheld(tmp_path: Path) -> None:
    (episode, _) = read_split(written(tmp_path / "x.json", [SECOND | {"path": ["a"]}])).episodes
    assert (episode.goals, episode.reference) == (("a",), ("a",))


@pytest.mark.parametrize("content", [[FIRST], [SECOND], [TEST_SPLIT], [SECOND, FIRST | {"id": "7_67", "objId": 67}]])
def test_splits_come_back_as_they_were_written(tmp_path: Path, content: list[dict[str, Any]]) -> None:
    write_split(tmp_path / "after.json.gz", read_split(written(tmp_path / "before.json", content)))
    assert_same_records(records(tmp_path / "after.json.gz"), content)


SPLIT_FAULTS: dict[str, tuple[Any, list[str]]] = {
    "not a list": ({}, ["Expected `array`"]),
    "no id": ([{"scan": "house"}], ["record 0", "missing required field"]),
    "empty path": ([SECOND | {"path": []}], ["record 0, field path: is empty"]),
    "no instructions": ([SECOND | {"instructions": []}], ["record 0, field instructions: is empty"]),
    "the same id": ([SECOND, TEST_SPLIT, FIRST], ["record 2, field id: 7_66 is also the id of record 0"]),
    "an object that is a list": ([SECOND | {"objId": [1]}], ["record 0", "objId"]),
}


@pytest.mark.parametrize("name", SPLIT_FAULTS)
def test_a_bad_split_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    content, fragments = SPLIT_FAULTS[name]
    with pytest.raises(BadFile) as caught:
        read_split(written(tmp_path / "bad.json", content))
    for fragment in fragments:
        assert fragment in str(caught.value)


TABLE: dict[str, Any] = {"name": "coffee#table", "visible_pos": [3, 15], "bbox2d": [[1, 2, 30, 40], [5, 6, 70, 80]]}
HIDDEN: dict[str, Any] = {"name": "lamp", "visible_pos": [], "bbox2d": []}


def boxes(tmp_path: Path, **files: Any) -> Path:
    place = tmp_path / "BBox"
    place.mkdir()
    for name, content in files.items():
        written(place / f"{name}.json", content)
    return place


def test_objects_are_known_by_scan_and_viewpoint(tmp_path: Path) -> None:
    objects = read_objects(
        boxes(tmp_path, house_a={"a": {"66": TABLE, "7": HIDDEN}}, house_b={"b": {}}, hut_c={"c": {}})
    )
    assert sorted(objects) == ["house", "hut"]
    table, lamp = objects["house"]["a"]
    assert (table.id, table.name, table.views.tolist()) == ("66", "coffee table", [3, 15])
    assert table.boxes.tolist() == [[1, 2, 30, 40], [5, 6, 70, 80]]
    assert (lamp.name, lamp.views.shape, lamp.boxes.shape) == ("lamp", (0,), (0, 4))
    assert objects["house"]["b"] == ()


def test_a_scan_is_decoded_only_when_asked_for(tmp_path: Path) -> None:
    objects = read_objects(boxes(tmp_path, house_a={"a": {}}, broken_b="no JSON"))
    assert objects["house"]["a"] == ()
    with pytest.raises(BadFile, match=r"broken_b\.json"):
        objects["broken"]


def test_a_scans_name_may_hold_the_joint(tmp_path: Path) -> None:
    objects = read_objects(boxes(tmp_path, my_house_a={"a": {"66": TABLE}}))
    assert objects["my_house"]["a"][0].name == "coffee table"


@pytest.mark.parametrize("name", ["BBox_written", "BBox.zip", "BBox.tar.gz", "BBox.tar.xz"])
def test_objects_come_back_as_they_were_written(tmp_path: Path, name: str) -> None:
    files = {"house_a": {"a": {"66": TABLE, "7": HIDDEN}}, "house_b": {"b": {}}}
    write_objects(tmp_path / name, read_objects(boxes(tmp_path, **files)))
    after = {file.removesuffix(".json"): m.read() for file, m in members(tmp_path / name, ".json").items()}
    assert {file: json.loads(text) for file, text in after.items()} == files
    assert b"30.0" not in after["house_a"]


def test_fractions_of_pixels_are_kept(tmp_path: Path) -> None:
    seen = VisibleObject("1", "old lamp", np.array([2]), np.array([[0.5, 1.0, 2.0, 3.0]]))
    write_objects(tmp_path / "out", {"house": {"a": (seen,)}})
    assert read_objects(tmp_path / "out")["house"]["a"][0].boxes.tolist() == [[0.5, 1.0, 2.0, 3.0]]


@pytest.mark.parametrize(("scan", "viewpoint"), [("../house", "a"), ("house", "a_b"), ("house", "a/b"), ("", "a")])
def test_names_that_cannot_be_files_are_refused(tmp_path: Path, scan: str, viewpoint: str) -> None:
    with pytest.raises(BadArgument, match=r"cannot be (the name of a file|named)"):
        write_objects(tmp_path / "out", {scan: {viewpoint: ()}})
    assert list(tmp_path.iterdir()) == []


OBJECT_FAULTS: dict[str, tuple[Any, list[str]]] = {
    "not an object": ([], ["house_a.json", "Expected `object`"]),
    "another viewpoint": ({"b": {}}, ["house_a.json", "of b, not of a"]),
    "no viewpoint": ({}, ["house_a.json", "no viewpoint"]),
    "a box too few": ({"a": {"6": TABLE | {"bbox2d": [[1, 2, 3, 4]]}}}, ['object "6", field bbox2d', "1 boxes for 2"]),
    "a view too many": ({"a": {"6": TABLE | {"visible_pos": [3, 36]}}}, ["field visible_pos", "0 … 35"]),
    "three corners": ({"a": {"6": TABLE | {"bbox2d": [[1, 2, 3]]}}}, ["house_a.json", "bbox2d"]),
    "no name": ({"a": {"6": {"visible_pos": [], "bbox2d": []}}}, ["house_a.json", "name"]),
}


@pytest.mark.parametrize("name", OBJECT_FAULTS)
def test_a_bad_file_of_objects_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    content, fragments = OBJECT_FAULTS[name]
    objects = read_objects(boxes(tmp_path, house_a=content, house_z=["also wrong"]))
    with pytest.raises(BadFile) as caught:
        objects["house"]
    for fragment in (*fragments, "house_z.json"):
        assert fragment in str(caught.value)


def test_a_place_without_objects_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no such file or folder"):
        read_objects(tmp_path / "nowhere")
    with pytest.raises(BadFile, match="contains no file named"):
        read_objects(tmp_path)


OFFICIAL = {  # file: records, instructions
    "REVERIE_train": (4071, 10290),
    "REVERIE_val_seen": (501, 1384),
    "REVERIE_val_unseen": (1292, 3433),
    "REVERIE_test": (2244, 6144),
    "v1/REVERIE_val_seen": (515, 1423),
    "v1/REVERIE_val_unseen": (1328, 3521),
    "v1/REVERIE_test": (2304, 6292),
}


@pytest.mark.real
@pytest.mark.parametrize("name", OFFICIAL)
def test_official_splits_have_their_counts_and_come_back(tmp_path: Path, data: Path, name: str) -> None:
    source = data / "reverie" / f"{name}.json.gz"
    split = read_split(source)
    count, instructions = OFFICIAL[name]
    assert len({episode.notes["id"] for episode in split.episodes}) == count
    assert len(split.by_id) == instructions
    assert sum(episode.goals_withheld for episode in split.episodes) == (instructions if "test" in name else 0)
    write_split(tmp_path / "after.json", split)
    assert_same_records(records(tmp_path / "after.json"), records(source))


@pytest.mark.real
def test_official_objects_have_their_counts_and_come_back(tmp_path: Path, data: Path) -> None:
    objects = read_objects(data / "reverie" / "BBox.tar.xz")
    viewpoints = [seen for scan in objects.values() for seen in scan.values()]
    things = [thing for seen in viewpoints for thing in seen]
    assert (len(objects), len(viewpoints), len(things)) == (90, 10_567, 38_293)
    assert sum(not seen for seen in viewpoints) == 2_385
    assert sum(len(thing.views) == 0 for thing in things) == 10_233
    assert len({thing.name for thing in things}) == 1_325
    few = {scan: objects[scan] for scan in ("17DRP5sb8fy", "gZ6f7yhEvPG")}
    write_objects(tmp_path / "few.zip", few)
    before, after = (members(path, ".json") for path in (data / "reverie" / "BBox.tar.xz", tmp_path / "few.zip"))
    assert len(after) == sum(map(len, few.values()))
    for name, member in after.items():
        assert json.loads(member.read()) == json.loads(before[name].read())


@pytest.mark.real
@pytest.mark.parametrize(("name", "found"), [("val_unseen", 1292), ("val_seen", 498), ("train", 4044)])
def test_targets_are_among_the_objects_of_their_goal(data: Path, name: str, found: int) -> None:
    objects = read_objects(data / "reverie" / "BBox.tar.xz")
    targets = {e.notes["id"]: e for e in read_split(data / "reverie" / f"REVERIE_{name}.json.gz").episodes}
    seen = sum(
        str(e.notes["objId"]) in {thing.id for thing in objects[e.world_id][str(e.goals[0])]} for e in targets.values()
    )
    assert seen == found
