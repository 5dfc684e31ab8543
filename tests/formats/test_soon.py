"""SOON as DUET reads and writes it: tasks with boxes, submissions that point at the object."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from json_files import records, written

from itinera.errors import BadFile
from itinera.formats import catalog
from itinera.formats.soon import read_predictions, read_split, write_predictions, write_split

BOX: dict[str, Any] = {
    "image_id": "c",
    "target": {
        "left_top": {"heading": 6.2, "elevation": 0.3},
        "right_top": {"heading": 6.4, "elevation": 0.3},
        "right_bottom": {"heading": 6.4, "elevation": 0.1},
        "left_bottom": {"heading": 6.2, "elevation": 0.1},
        "center": {"heading": 6.3, "elevation": 0.2},
    },
}
RECORD: dict[str, Any] = {
    "path_id": "12-1",
    "scan": "house",
    "path": ["a", "b"],
    "instructions": [{"full": "A round table in the hall.", "object": "A round table"}, {"full": "The table."}],
    "bboxes": [BOX],
}
WALK: dict[str, Any] = {
    "instr_id": "12-1_0",
    "trajectory": {"path": [["a"], ["b", "c"]], "obj_heading": [0.25], "obj_elevation": [0.5]},
}


def lines(path: Path, *content: dict[str, Any]) -> Path:
    return written(path, "".join(json.dumps(record) + "\n" for record in content))


def test_every_viewpoint_with_a_box_is_a_goal_and_so_is_the_end_of_the_path(tmp_path: Path) -> None:
    split = read_split(lines(tmp_path / "val.jsonl", RECORD))
    first, second = split.episodes
    assert (split.protocol, first.id, second.id, first.path_id) == ("soon", "12-1_0", "12-1_1", "12-1")
    assert (first.goals, first.reference) == (("c", "b"), ("a", "b"))
    assert first.instruction.text == "A round table in the hall."
    assert first.notes["boxes"]["c"][0] == pytest.approx([math.pi / 2 - 6.2, 0.3])


def test_splits_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_split(tmp_path / "after.jsonl", read_split(lines(tmp_path / "before.jsonl", RECORD)))
    (after,) = [json.loads(line) for line in (tmp_path / "after.jsonl").read_text().splitlines()]
    target = after["bboxes"][0].pop("target")
    assert after | {"bboxes": [BOX]} == RECORD
    for corner, direction in BOX["target"].items():
        assert target[corner] == pytest.approx(direction)


def test_a_test_split_withholds_its_boxes(tmp_path: Path) -> None:
    hidden = {name: value for name, value in RECORD.items() if name != "bboxes"} | {"path": ["a"]}
    split = read_split(lines(tmp_path / "test.jsonl", hidden))
    assert all(episode.goals_withheld for episode in split)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": []}, "is empty"),
        ({"instructions": [{"object": "table"}]}, 'lacks an instruction "full"'),
        ({"bboxes": [{"image_id": "c"}]}, "missing required field `target`"),
    ],
)
def test_a_bad_task_says_what_is_wrong(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadFile, match=said):
        read_split(lines(tmp_path / "x.jsonl", RECORD | change))


def test_trajectories_point_at_the_object(tmp_path: Path) -> None:
    path = written(tmp_path / "walks.json", [WALK])
    assert catalog.detect(path).name == "soon-submission"
    (walk,) = read_predictions(path)
    assert (walk.episode_id, walk.places) == ("12-1_0", ("a", "b", "c"))
    # A quarter of a turn clockwise from +y is +x; half of the range of elevations is the horizon.
    assert walk.object_direction == pytest.approx((0.0, 0.0))


@pytest.mark.parametrize("pointing", [{}, {"obj_heading": [None], "obj_elevation": [None]}, {"obj_heading": 0.5}])
def test_trajectories_may_point_nowhere_and_log_poses(tmp_path: Path, pointing: dict[str, Any]) -> None:
    content = [{"instr_id": "1_0", "trajectory": {"path": [["a", 0.1, 0.2], ["b", 0.3, 0.0]]} | pointing}]
    (walk,) = read_predictions(written(tmp_path / "walks.json", content))
    assert (walk.places, walk.object_direction) == (("a", "b"), None)


def test_submissions_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_predictions(tmp_path / "after.json", read_predictions(written(tmp_path / "before.json", [WALK])))
    assert catalog.detect(tmp_path / "after.json").name == "soon-submission"
    (after,) = records(tmp_path / "after.json")
    (written_one,) = after["trajectory"]  # the server reads a list
    assert written_one["path"] == [["a"], ["b"], ["c"]]
    assert written_one["obj_heading"] == pytest.approx([0.25])
    assert written_one["obj_elevation"] == pytest.approx([0.5])
    (again,) = read_predictions(tmp_path / "after.json")
    assert again.object_direction == pytest.approx((0.0, 0.0))


@pytest.mark.parametrize(
    ("trajectory", "said"),
    [([], "has 0 trajectories"), ([WALK["trajectory"]] * 2, "has 2 trajectories"), ({"path": []}, "is empty")],
)
def test_a_bad_submission_says_what_is_wrong(tmp_path: Path, trajectory: Any, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        read_predictions(written(tmp_path / "walks.json", [{"instr_id": "1_0", "trajectory": trajectory}]))


def test_other_fields_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "itinera")
    more = WALK | {"confidence": 0.5, "trajectory": WALK["trajectory"] | {"obj_id": 3}}
    read_predictions(written(tmp_path / "walks.json", [more]))
    assert "not read: confidence, obj_id." in caplog.text
