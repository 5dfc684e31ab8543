"""`itinera fastest` from the terminal: a map in, an interval, a drive and a picture out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

pytest.importorskip("yaml")
pytest.importorskip("PIL")


@pytest.fixture
def room(tmp_path):
    """A room of 6 x 4 m with a wall that leaves a way round, as a ROS map whose low corner is (-1, -2)."""
    cells = np.full((40, 60), 254, dtype=np.uint8)
    cells[:, [0, -1]] = cells[[0, -1]] = 0
    cells[12:, 30] = 0  # the picture's top, y above 0.8 m, is left open
    (tmp_path / "room.pgm").write_bytes(b"P5 60 40 255\n" + cells.tobytes())
    legend = "image: room.pgm\nresolution: 0.1\norigin: [-1.0, -2.0, 0.0]\nnegate: 0\n"
    (tmp_path / "room.yaml").write_text(legend + "occupied_thresh: 0.65\nfree_thresh: 0.196\n")
    return tmp_path / "room.yaml"


def test_the_answer_is_in_the_maps_own_frame(itinera, room):
    found = json.loads(itinera("fastest", str(room), "--start", "0,-1,90", "--goal", "4,-1", "--json").out)
    assert found.keys() == {
        "dynamics", "time_s", "length_m", "point_turn_time_s", "shortest_length_m", "path",
    }  # fmt: skip
    low, high = found["time_s"]["lower"], found["time_s"]["upper"]
    assert 4 / 0.25 < low <= high < found["point_turn_time_s"]
    assert found["shortest_length_m"] <= found["length_m"] + 1e-6
    path = np.array(found["path"])
    assert path[0].tolist() == pytest.approx([0, -1, math.pi / 2, 0])
    assert path[-1, :2].tolist() == pytest.approx([4, -1])
    assert path[-1, 3] == pytest.approx(high)
    assert path[:, 1].max() > 0.8  # over the wall's end, not through it


def test_words_and_a_picture_for_people(itinera, room, tmp_path):
    done = itinera("fastest", str(room), "--start", "0,-1,90", "--goal", "4,-1", "--figure", str(tmp_path / "f.png"))
    assert "m driven (unicycle, 0.25 m/s, 10 °/s, radius 0.2 m)" in done.out
    assert "The shortest path is" in done.out
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_a_robot_that_arrives_at_once_takes_no_time(itinera, room):
    asked = ("--start", "0,-1,90", "--goal", "0.1,-1", "--goal-radius", "0.2", "--json")
    found = json.loads(itinera("fastest", str(room), *asked).out)
    assert found["time_s"] == {"lower": 0.0, "upper": 0.0}


def test_a_floor_plan_needs_its_scale(itinera, tmp_path):
    from PIL import Image

    Image.fromarray(np.full((40, 40), 255, dtype=np.uint8)).save(tmp_path / "plan.png")
    asked = ("fastest", str(tmp_path / "plan.png"), "--start", "1,1,0", "--goal", "3,3", "--dynamics", "holonomic")
    refused = itinera(*asked)
    assert refused.code == 2
    assert "--metres-per-pixel" in refused.err
    found = json.loads(itinera(*asked, "--metres-per-pixel", "0.1", "--json").out)
    assert found["length_m"] == pytest.approx(math.sqrt(8), abs=1e-6)
    assert found["point_turn_time_s"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--start", "0,-1", "--goal", "4,-1"], "--start must be x,y,degrees"),
        (["--start", "0,-1,0", "--goal", "4,east"], "--goal must be x,y"),
        (["--start", "-1,-2,0", "--goal", "4,-1"], "cannot be at the start, (-1, -2)"),
        (["--start", "0,-1,0", "--goal", "2.05,-1"], "cannot be at the goal, (2.05, -1)"),
        (["--start", "0,-1,0", "--goal", "4,-1", "--vmax", "0"], "vmax must be finite and above 0"),
        (["--start", "0,-1,0", "--goal", "4,-1", "--wmax", "-3"], "wmax must be above 0"),
        (["--start", "0,-1,0", "--goal", "4,-1", "--radius", "-1"], "radius must be a finite number of metres"),
        (["--start", "0,-1,0", "--goal", "4,-1", "--dynamics", "tank"], "dynamics must be one of unicycle"),
        (["--start", "0,-1,0", "--goal", "4,-1", "--unknown", "maybe"], 'unknown must be "blocked" or "free"'),
        (["--start", "0,-1,0", "--goal", "4,-1", "--metres-per-pixel", "1"], "has its own resolution"),
    ],
)
def test_bad_queries_are_refused(itinera, room, options, words):
    refused = itinera("fastest", str(room), *options)
    assert refused.code == 2
    assert words in refused.err


def test_both_ends_that_are_not_free_are_reported_together_and_drawn(itinera, room, tmp_path):
    pytest.importorskip("matplotlib")
    ends = ("--start", "-3,0,0", "--goal", "2.05,-1")
    refused = itinera("fastest", str(room), *ends, "--figure", str(tmp_path / "ends.png"))
    assert refused.code == 2
    assert "cannot be at the start, (-3, 0): it is outside the map, by 2.00 m." in refused.err
    assert "cannot be at the goal, (2.05, -1): it is inside an obstacle." in refused.err
    assert refused.err.count("The nearest free point is (") == 2
    assert "The map covers x from -1.00 to 5.00 m and y from -2.00 to 2.00 m" in refused.err
    assert "ends.png shows the map with the start and the goal." in refused.err
    assert (tmp_path / "ends.png").read_bytes().startswith(b"\x89PNG")
    badly_written = itinera("fastest", str(room), "--start", "1,2", "--goal", "north")
    assert "--start must be x,y,degrees" in badly_written.err
    assert "--goal must be x,y" in badly_written.err


def test_an_unknown_area_is_told_from_an_obstacle(itinera, room):
    cells = np.full((40, 60), 254, dtype=np.uint8)
    cells[:, 30:] = 205  # between the thresholds
    room.with_name("room.pgm").write_bytes(b"P5 60 40 255\n" + cells.tobytes())
    refused = itinera("fastest", str(room), "--start", "0,-1,0", "--goal", "4,-1")
    assert "it is in an unknown area, which counts as an obstacle." in refused.err
    assert itinera("fastest", str(room), "--start", "0,-1,0", "--goal", "4,-1", "--unknown", "free").code == 0


def test_an_unreachable_goal_takes_forever(itinera, room, tmp_path):
    walled = np.full((40, 60), 254, dtype=np.uint8)
    walled[:, 30] = 0
    room.with_name("room.pgm").write_bytes(b"P5 60 40 255\n" + walled.tobytes())
    asked = ("fastest", str(room), "--start", "0,-1,90", "--goal", "4,-1")
    done = itinera(*asked, "--figure", str(tmp_path / "f.svg"))
    assert done.code == 0
    assert "inf: the goal is unreachable" in done.out
    assert "cannot reach the goal, (4, -1): it is in a region of" in done.out
    assert "Obstacles separate the two for a robot of any size." in done.out
    assert "goal: unreachable" in (tmp_path / "f.svg").read_text()
    found = json.loads(itinera(*asked, "--json").out)
    assert found["time_s"] == {"lower": "inf", "upper": "inf"}
    assert found["reason"].startswith("A robot of radius 0.2 m cannot reach the goal")
