"""Worlds for tasks on the ground: surfaces where there are scenes or houses, straight lines where there are none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Command
from itinera.formats import native_predictions, pointnav
from itinera.formats.catalog import read_surfaces
from itinera.formats.scenes import write_scene
from itinera.records import Predictions, Trajectory
from itinera.tasks import PROTOCOLS, Episode, Instruction, Split
from itinera.worlds import Pose
from itinera.worlds.surface import Surface
from worlds.rooms import room

pytest.importorskip("trimesh")

ROOM = room(6, 4, boxes=[((2, 1, 0), (3, 3, 1.8))])
START, GOAL = np.array([1.0, 2.0, 0.0]), np.array([4.0, 2.0, 0.0])


@pytest.fixture
def points(tmp_path: Path) -> dict[str, Path]:
    """A point behind a box, twice: walked to round it, and not, the walk ending before the box."""
    surface = Surface.from_mesh(ROOM, radius=0.2, height=1.5)
    tasks = [Episode(name, "room", Pose(START), GOAL[None], (), Instruction("")) for name in ("1", "2")]
    walks = [
        Trajectory("1", np.asarray(surface.route(START, GOAL))),
        Trajectory("2", np.array([START, [1.75, 2.0, 0.0]])),
    ]
    pointnav.write_split(tmp_path / "points.json", Split("points", tuple(tasks), protocol="pointnav"))
    native_predictions.write_predictions(tmp_path / "walks.jsonl", Predictions.from_trajectories("walks", walks))
    write_scene(tmp_path / "scenes" / "room" / "room.glb", ROOM)
    return {name: tmp_path / name for name in ("points.json", "walks.jsonl", "scenes")}


def test_point_goals_are_scored_along_the_ground_where_scenes_are_given(
    points: dict[str, Path], itinera: Command
) -> None:
    asked = ("score", points["walks.jsonl"], "--tasks", points["points.json"], "--implausible", "keep", "--json")
    flat, known = itinera(*asked), itinera(*asked, "--worlds", points["scenes"])
    assert (flat.code, known.code) == (0, 0)
    assert "Distances are straight lines" in flat.err
    assert "Distances are straight lines" not in known.err
    assert "Suite pointnav" in known.err
    assert (known.json["suite"], known.json["protocol"]["name"]) == ("pointnav", "pointnav")
    means = {name: (flat.json["metrics"][name]["mean"], known.json["metrics"][name]["mean"]) for name in ("NE", "SPL")}
    # The first walk is a shortest way, and so perfect, which straight lines do not see.
    assert means["SPL"] == (pytest.approx(0.5 * 3 / 4.3, rel=0.05), pytest.approx(0.5, abs=1e-9))
    assert means["NE"][0] == pytest.approx(0.5 * 2.25)
    # Up, round the corner, across, round the next as far as the goal is seen, and straight down to it.
    left = 1.0 + 0.2 * np.pi / 2 + 1.0 + 0.2 * (np.pi * 3 / 4 - np.arccos(0.2 / np.sqrt(2))) + np.sqrt(2 - 0.04)
    assert means["NE"][1] == pytest.approx(0.5 * left, rel=0.02)


def test_suites_that_compare_paths_refuse_point_goals_by_name(points: dict[str, Path], itinera: Command) -> None:
    asked = ("score", points["walks.jsonl"], "--tasks", points["points.json"], "--implausible", "keep")
    outcome = itinera(*asked, "--suite", "paper")
    assert outcome.code == 1
    assert 'episode "1": has a goal but no reference path.' in outcome.err
    assert "choose the suite pointnav" in outcome.err
    other = itinera(*asked, "--protocol", "r2r-ce")
    assert (other.code, itinera(*asked, "--protocol", "r2r-ce", "--suite", "pointnav").code) == (1, 0)


def test_a_season_of_hearth_is_built_again_where_its_seed_is_public(tmp_path: Path) -> None:
    about = {"itinera": "season", "config": {"seed": 1}, "houses": {"train": ["hearth-1-000"], "test": []}}
    (tmp_path / "season.json").write_text(json.dumps(about))
    worlds = read_surfaces(tmp_path, PROTOCOLS["pointnav"])
    assert worlds is not None
    assert list(worlds) == ["hearth-1-000"]
    world = worlds["hearth-1-000"]
    assert world.id == "hearth-1-000"
    assert world.mesh is not None
    assert isinstance(world.space, Surface)


def test_what_is_no_ground_is_none(tmp_path: Path) -> None:
    assert read_surfaces(tmp_path, PROTOCOLS["r2r-ce"]) is None
    secret = {"config": {"seed": None}, "houses": {"test": ["hearth-abc-000"]}}
    (tmp_path / "season.json").write_text(json.dumps(secret))
    assert read_surfaces(tmp_path, PROTOCOLS["r2r-ce"]) is None
    assert read_surfaces(tmp_path, PROTOCOLS["r2r"]) is None
