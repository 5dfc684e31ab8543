"""Robots' logs are read whatever their columns are called, and refused with the line where they cannot be right."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats import catalog, robot_logs
from itinera.formats.robot_logs import read_csv, read_folder, read_tum, write_csv, write_folder, write_tum
from itinera.records import Ending, Predictions, Trajectory
from tiny import written

QUARTER = "0 0 0.7071067811865476 0.7071067811865476"


def only(predictions: Predictions) -> Trajectory:
    (walk,) = predictions.trajectories
    return walk


@pytest.mark.parametrize(
    "header", ["time,x,y,heading", "t,x_m,y_m,yaw", "Timestamp, X, Y, theta", "seconds,pos_x,pos_y,heading_rad"]
)
def test_columns_go_by_the_names_robots_give_them(tmp_path: Path, header: str) -> None:
    walk = only(read_csv(written(tmp_path / "run 7.csv", f"{header}\n5,1,2,0.5\n6.5,1.5,2,1\n")))
    assert (walk.episode_id, walk.ending) == ("run 7", Ending.STOPPED)
    np.testing.assert_array_equal(walk.places, [[1, 2, 0], [1.5, 2, 0]])
    assert walk.times is not None
    assert walk.times.tolist() == [5, 6.5]
    assert walk.headings is not None
    assert walk.headings.tolist() == [0.5, 1]


def test_degrees_are_turned_and_other_columns_passed_over(tmp_path: Path) -> None:
    walk = only(read_csv(written(tmp_path / "log", "battery,yaw_deg,z,y,x,time\nfull,90,3,2,1,0\n\nlow,-90,3,2,1,0\n")))
    assert walk.headings is not None
    np.testing.assert_allclose(walk.headings, [math.pi / 2, -math.pi / 2])
    np.testing.assert_array_equal(walk.places, [[1, 2, 3]] * 2)
    assert only(read_csv(written(tmp_path / "log", "time,x,y\n0,0,0\n"))).headings is None


def test_a_tum_trajectory_tells_yaw_of_its_rotation(tmp_path: Path) -> None:
    text = f"# made by a robot\n100.5 1 2 0.1 {QUARTER}\n\n101 1 3 0.1 0 0 0 -1\n"
    walk = only(read_tum(written(tmp_path / "run.tum.gz", text)))
    assert walk.episode_id == "run"
    assert walk.headings is not None
    np.testing.assert_allclose(walk.headings, [math.pi / 2, 0], atol=1e-12)
    np.testing.assert_array_equal(walk.places, [[1, 2, 0.1], [1, 3, 0.1]])


def test_a_tilted_robot_still_has_a_heading(tmp_path: Path) -> None:
    """Turned by 40 degrees, then pitched by 20: z first, so the product of both quaternions."""
    yaw, pitch = math.radians(40) / 2, math.radians(20) / 2
    x, y = -math.sin(yaw) * math.sin(pitch), math.cos(yaw) * math.sin(pitch)
    z, w = math.sin(yaw) * math.cos(pitch), math.cos(yaw) * math.cos(pitch)
    walk = only(read_tum(written(tmp_path / "log", f"0 0 0 0 {x} {y} {z} {w}\n")))
    assert walk.headings is not None
    assert walk.headings[0] == pytest.approx(math.radians(40))


CSV_FAULTS = {
    "": "line 1: has no column for time",
    "time,x\n0,0\n": "line 1: has no column for y",
    "time,t,x,y\n0,0,0,0\n": "line 1: has 2 columns for time",
    "time,x,y,yaw,yaw_deg\n0,0,0,0,0\n": "has headings in radians and in degrees",
    "time,x,y\n": "contains no positions",
    "time,x,y\n0,0\n": "line 2: has 2 cells only",
    "time,x,y\n0,here,0\n": 'line 2, field x: "here" is not a finite number',
    "time,x,y\n0,0,\n": 'line 2, field y: "" is not a finite number',
    "time,x,y\n0,inf,0\n": 'line 2, field x: "inf" is not a finite number',
    "time,x,y\n1,0,0\n0,0,0\n": "line 3, field time: is earlier than the line before",
    "time,x,y\n1700000000000,0,0\n": r"line 2, field time: 1.7e\+12 is not a time in seconds",
    'time,x,y\n0,"0,0\n': "line 2: unexpected end of data",
}
TUM_FAULTS = {
    "": "contains no positions",
    "# nothing\n": "contains no positions",
    "0 0 0 0 0 0 1\n": "line 1: has 7 numbers",
    "0 0 0 0 0 0 0 1\n0 0 zero 0 0 0 0 1": 'line 2, field y: "zero" is not a finite number',
    "0 0 0 0 0 0 0 0\n": "line 1: the rotation is no unit quaternion",
    "1 0 0 0 0 0 0 1\n0 0 0 0 0 0 0 1\n": "line 2, field time: is earlier",
}


@pytest.mark.parametrize(("text", "said"), CSV_FAULTS.items(), ids=range(len(CSV_FAULTS)))
def test_a_csv_log_that_cannot_be_right_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        read_csv(written(tmp_path / "log.csv", text))


@pytest.mark.parametrize(("text", "said"), TUM_FAULTS.items(), ids=range(len(TUM_FAULTS)))
def test_a_tum_trajectory_that_cannot_be_right_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        read_tum(written(tmp_path / "log.tum", text))


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    for read in (read_csv, read_tum):
        with pytest.raises(BadFile, match="is not UTF-8 text"):
            read(written(tmp_path / "log", b"time,x,y\n\xff,0,0\n"))


def test_a_folder_of_logs_is_a_logbook_of_all(tmp_path: Path) -> None:
    written(tmp_path / "b.csv", "time,x,y\n0,0,0\n1,1,0\n")
    written(tmp_path / "a.tum", "0 0 0 0 0 0 0 1\n")
    written(tmp_path / "notes.txt", "a good day")
    found = catalog.read_predictions(tmp_path)
    assert [walk.episode_id for walk in found.trajectories] == ["a", "b"]
    written(tmp_path / "c.csv", "time,x,y\n0,0,zero\n")
    with pytest.raises(BadFile, match=r'c\.csv, line 2, field y: "zero" is not a finite number'):
        read_folder(tmp_path)
    (tmp_path / "none").mkdir()
    with pytest.raises(BadFile, match="contains no logs"):
        read_folder(tmp_path / "none")


WALK = Trajectory("7", np.array([[0.0, 1, 2], [1, 1, 2]]), headings=np.array([0.0, -1]), times=np.array([3.0, 4]))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    predictions = Predictions.from_trajectories("x", (WALK,))
    write_csv(tmp_path / "7.csv", predictions)
    write_tum(tmp_path / "7.tum", predictions)
    write_folder(tmp_path / "logs.zip", predictions)
    for found in (read_csv(tmp_path / "7.csv"), read_tum(tmp_path / "7.tum"), read_folder(tmp_path / "logs.zip")):
        walk = only(found)
        assert walk.episode_id == "7"
        np.testing.assert_array_equal(walk.places, WALK.places)
        np.testing.assert_array_equal(walk.times, WALK.times)
        np.testing.assert_allclose(walk.headings, WALK.headings, atol=1e-8)


def test_only_one_walk_can_be_given_a_name_or_a_file(tmp_path: Path) -> None:
    two = Predictions.from_trajectories("x", (WALK, WALK))
    assert only(robot_logs.rename_episode(Predictions.from_trajectories("x", (WALK,)), "8")).episode_id == "8"
    with pytest.raises(BadArgument, match="x contains 2 trajectories: episode"):
        robot_logs.rename_episode(two, "8")
    with pytest.raises(BadArgument, match="A robot log has one trajectory, not 2"):
        write_csv(tmp_path / "log", two)


def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    outside = Trajectory("../7", WALK.places, times=WALK.times)
    with pytest.raises(BadArgument, match="cannot be the name of a file"):
        write_folder(tmp_path / "logs", Predictions.from_trajectories("x", (outside,)))
