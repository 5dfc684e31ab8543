"""A file of fastest times says whose they are, once, and every bound that cannot be is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from itinera.errors import BadFile
from itinera.formats.fastest_times import read_times, write_times
from itinera.formats.native import read_header
from itinera.records import Provenance
from itinera.tasks.fastest_times import FastestTimes, ReferenceRobot

ROBOT = ReferenceRobot("unicycle", vmax=0.5, wmax=0.3, reverse=True, radius=0.1, goal_radius=0.2)
HEADER = {"itinera": "times", "robot": {"vmax": 0.25}}


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    times = FastestTimes(ROBOT, ("a", "b", "c"), np.array([1.5, 0, np.inf]), np.array([2.5, np.inf, np.inf]))
    write_times(tmp_path / "times.jsonl.gz", times, Provenance("1.0", (), 3, inputs={}, digests={}))
    found = read_times(tmp_path / "times.jsonl.gz")
    assert (found.robot, found.episode_ids, len(found)) == (ROBOT, ("a", "b", "c"), 3)
    np.testing.assert_array_equal(found.lower, times.lower)
    np.testing.assert_array_equal(found.upper, times.upper)
    assert found.rows == {"a": 0, "b": 1, "c": 2}
    stored = read_header(tmp_path / "times.jsonl.gz").provenance
    assert stored is not None
    assert stored.seed == 3


def test_the_robot_is_the_papers_unless_the_header_says_otherwise(tmp_path: Path) -> None:
    found = read_times(lines(tmp_path / "t", HEADER, {"episode_id": "a", "lower": 1, "upper": 1}))
    assert found.robot == ReferenceRobot()


def test_a_robot_that_turns_in_no_time_is_written_too(tmp_path: Path) -> None:
    slide = ReferenceRobot("holonomic", wmax=None)
    write_times(tmp_path / "t", FastestTimes(slide, (), np.empty(0), np.empty(0)))
    assert read_times(tmp_path / "t").robot == slide


WRONG: dict[str, tuple[list[Any], str]] = {
    "no robot": ([{"itinera": "times"}], "line 1, field robot: is missing"),
    "no speed": ([{"itinera": "times", "robot": {"vmax": 0}}], "field robot.vmax: is 0"),
    "no dynamics": ([{"itinera": "times", "robot": {"dynamics": ""}}], "field robot.dynamics: is empty"),
    "no radius": ([{"itinera": "times", "robot": {"radius": -1}}], "field robot.radius: is -1"),
    "other kind": ([{"itinera": "predictions"}], "this file contains predictions, not times"),
    "bounds crossed": (
        [HEADER, {"episode_id": "a", "lower": 3, "upper": 2}],
        r'line 2 \(episode "a"\): lower is 3 and upper',
    ),
    "negative": ([HEADER, {"episode_id": "a", "lower": -1, "upper": 2}], "lower is -1 and upper is 2"),
    "endless low": ([HEADER, {"episode_id": "a", "lower": "inf", "upper": 2}], "lower is inf and upper is 2"),
    "null": ([HEADER, {"episode_id": "a", "lower": 1, "upper": None}], "line 2, field upper"),
    "words": (
        [HEADER, {"episode_id": "a", "lower": 1, "upper": "soon"}],
        "line 2, field upper: Invalid enum value 'soon'",
    ),
    "twice": (
        [HEADER, *[{"episode_id": "a", "lower": 1, "upper": 2}] * 2],
        "line 3, field episode_id: a is already the episode of line 2",
    ),
}


@pytest.mark.parametrize(("records", "said"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, records: list[Any], said: str) -> None:
    with pytest.raises(BadFile, match=said):
        read_times(lines(tmp_path / "times", *records))
