"""Logged positions as CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.position_csv import read_predictions, write_predictions
from itinera.records import Ending, Phase, Predictions, Trajectory


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_lines_of_an_episode_are_a_walk_in_our_own_terms(tmp_path: Path) -> None:
    log = "time,episode_id,z,y,x,heading\n0,a,0.5,2,1,0.25\n1.5,a,0.5,3,1,0.5\n7,b,0,0,0,0\n"
    first, second = read_predictions(written(tmp_path / "log.csv", log)).trajectories
    assert (first.episode_id, second.episode_id) == ("a", "b")
    assert np.asarray(first.places).tolist() == [[1.0, 2.0, 0.5], [1.0, 3.0, 0.5]]
    assert first.times is not None
    assert first.times.tolist() == [0.0, 1.5]
    assert first.headings is not None
    assert first.headings.tolist() == [0.25, 0.5]
    assert first.ending is Ending.STOPPED


def test_without_height_everything_is_level_and_blank_lines_say_nothing(tmp_path: Path) -> None:
    (walk,) = read_predictions(
        written(tmp_path / "log.csv", "\ufeffepisode_id, x, y\r\na,1,2\r\n\r\na,3,4\r\n")
    ).trajectories
    assert np.asarray(walk.places).tolist() == [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]
    assert walk.times is None
    assert walk.headings is None


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
def test_a_log_comes_back_as_it_was(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(3)
    full = Trajectory('odd, "name"\n', rng.normal(size=(5, 3)), headings=rng.normal(size=5), times=np.arange(5.0) / 3)
    bare = Trajectory("bare", rng.normal(size=(2, 3)))
    write_predictions(tmp_path / name, Predictions.from_trajectories("x", (full, bare)))
    for before, after in zip((full, bare), read_predictions(tmp_path / name).trajectories, strict=True):
        assert after.episode_id == before.episode_id
        np.testing.assert_array_equal(after.places, before.places)
        for a, b in ((before.headings, after.headings), (before.times, after.times)):
            assert (a is None) == (b is None)
            if a is not None and b is not None:
                np.testing.assert_array_equal(a, b)


def test_columns_nobody_needs_and_steps_led_are_left_out(tmp_path: Path) -> None:
    walk = Trajectory("a", np.arange(6.0).reshape(2, 3), phases=(Phase.ACTING, Phase.GUIDED_TO_GOAL))
    write_predictions(tmp_path / "log.csv", Predictions.from_trajectories("x", (walk,)))
    assert (tmp_path / "log.csv").read_text() == "episode_id,x,y,z\na,0.0,1.0,2.0\n"


def test_walks_over_nodes_have_no_positions(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match='trajectory of episode "a" contains nodes'):
        write_predictions(tmp_path / "log.csv", Predictions.from_trajectories("x", (Trajectory("a", ("n",)),)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: has no column episode_id"),
        ("episode_id,x\n", "line 1: has no column y"),
        ("episode_id,x,y,headng\n", 'line 1: has the unknown column "headng"'),
        ("episode_id,x,y,x\n", "line 1: has the column x twice"),
        ("episode_id,x,y\na,1\n", "line 2: has 2 cells for 3 columns"),
        ("episode_id,x,y\na,1,far\n", 'line 2, field y: "far" is not a finite number'),
        ("episode_id,x,y\na,nan,1\n", 'line 2, field x: "nan" is not a finite number'),
        ("episode_id,x,y\na,1,1e999\n", 'line 2, field y: "1e999" is not a finite number'),
        ("episode_id,x,y\na,,1\n", 'line 2, field x: "" is not a finite number'),
        ("episode_id,x,y\n,1,1\n", "line 2, field episode_id: is empty"),
        ("episode_id,x,y\na,1,1\nb,1,1\na,2,2\n", 'line 4: episode "a" comes again after line 2'),
        ("episode_id,x,y,time\na,1,1,2\na,1,1,3\na,1,1,1\n", "line 4, field time: is earlier than the line before"),
        ("episode_id,x,y,z\na,1,1,2\na,1,1,\n", 'line 2 (episode "a"), field z: is empty in some lines only'),
        ('episode_id,x,y\n"a,1,1\n', "line 2: unexpected end of data"),
        (f"episode_id,x,y\n{'a' * 200_000},1,1\n", "line 2: field larger than field limit"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadFile) as error:
        read_predictions(written(tmp_path / "log.csv", text))
    assert said in str(error.value)


def test_all_bad_lines_are_named_together(tmp_path: Path) -> None:
    with pytest.raises(BadFile) as error:
        read_predictions(written(tmp_path / "log.csv", "episode_id,x,y\na,1\na,b,1\na,1,1\nb,1,1\na,1,1\n"))
    assert [fault.where for fault in error.value.faults] == ["line 2", "line 3", "line 6"]


def test_a_line_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(b"episode_id,x,y\na,1,1\n\xff,1,1\n")
    with pytest.raises(BadFile, match="line 3: is not UTF-8 text"):
        read_predictions(tmp_path / "log.csv")
