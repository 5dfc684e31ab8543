"""`itinera fastest-times` from scenes and tasks to a file that scores can be weighed by."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer

import tiny
from itinera.cli.main import app
from itinera.formats import pointnav
from itinera.formats.fastest_times import read_times
from itinera.formats.scenes import write_scene
from itinera.hearth.ground import ground_world
from itinera.runs import fastest_times
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose
from worlds.rooms import room, storeys

# From where to where in Habitat's frame, y up and z towards us; three ways share a goal.
HALL = [
    ([0.5, 0.0, -1.5], [3.5, 0.0, -1.5]),
    ([0.6, 0.0, -2.5], [3.5, 0.0, -1.5]),
    ([3.4, 0.0, -0.5], [3.5, 0.0, -1.5]),
    ([3.4, 0.0, -0.5], [0.5, 0.0, -0.5]),
]
HOUSE = [([1.0, 0.0, -3.0], [6.0, 0.0, -3.0]), ([1.0, 0.0, -3.0], [1.0, 2.7, -3.0])]


def tasks_in(folder: Path, **ways) -> Path:
    numbered = enumerate((scan, way) for scan, own in ways.items() for way in own)
    episodes = [tiny.ground_episode(k, scan, [*way]) for k, (scan, way) in numbered]
    return tiny.written(folder / "tasks.json", {"episodes": episodes})


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    pytest.importorskip("trimesh")
    write_scene(tmp_path / "scenes" / "hall.glb", room(4, 3, boxes=[((1.6, 1.0, 0.0), (2.2, 2.0, 0.8))]))
    write_scene(tmp_path / "scenes" / "house.glb", storeys())
    return tmp_path / "scenes"


@pytest.fixture
def given(tmp_path: Path, scenes: Path) -> list[object]:
    return ["fastest-times", tasks_in(tmp_path, hall=HALL, house=HOUSE), "--worlds", scenes, "--out"]


def rows(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines()[1:]


def test_every_episode_has_its_bounds_and_the_file_says_whose(itinera, given, tmp_path):
    out = tmp_path / "times.jsonl"
    done = itinera(*given, out, "--workers", 1, "--json", "--wmax", 30)
    assert done.code == 0, done.err
    assert done.json == {
        "file": str(out),
        "episodes": 6,
        "reused": 0,
        "bounded": 5,
        "over_stairs": 1,
        "no_drive": 0,
        "unreachable": 0,
        "median_gap": pytest.approx(0.05, abs=0.05),
    }
    assert "Lower bound only: 1 of 6 episodes, because no single floor contains the path" in done.err
    assert "Gibson's 3.6 million episodes would take" in done.err
    times = read_times(out)
    assert times.episode_ids == tuple("012345")
    assert times.robot.wmax == pytest.approx(0.5235988)
    assert (times.lower <= times.upper).all()
    assert times.upper[4] == pytest.approx(5.0 / 0.25, abs=6.0)
    assert not (tmp_path / "times.jsonl.partial").exists()


def test_what_is_known_is_not_found_again(itinera, given, scenes, tmp_path):
    out = tmp_path / "times.jsonl"
    assert itinera(*given, out, "--workers", 1).code == 0
    first = rows(out)
    tasks_in(tmp_path, hall=[*HALL, ([0.5, 0.0, -2.5], [3.5, 0.0, -0.5])], house=HOUSE)
    again = itinera(*given, out, "--workers", 1)
    assert again.code == 0
    assert "6 of 7 times were known already." in again.err
    bounds = [{name: json.loads(row)[name] for name in ("lower", "upper", "key")} for row in rows(out)]
    assert [json.loads(row) | {"episode_id": ""} for row in first] == [
        {"episode_id": "", **bound} for bound in bounds[:4] + bounds[5:]
    ]
    other = itinera(*given, out, "--dynamics", "point-turn")
    assert other.code == 2
    assert "has the times of another robot" in other.err
    anew = itinera(*given, out, "--dynamics", "point-turn", "--overwrite", "--workers", 1)
    assert anew.code == 0
    assert "known already" not in anew.err
    assert read_times(out).robot.dynamics == "point-turn"


def test_times_do_not_depend_on_the_number_of_workers(itinera, scenes, tmp_path):
    given = ["fastest-times", tasks_in(tmp_path, hall=HALL), "--worlds", scenes, "--out"]
    for workers in (1, 2):
        assert itinera(*given, tmp_path / f"{workers}.jsonl", "--workers", workers).code == 0
    assert rows(tmp_path / "1.jsonl") == rows(tmp_path / "2.jsonl")


def test_what_was_stopped_goes_on_and_ends_with_the_same_bytes(itinera, given, tmp_path, monkeypatch):
    out, partial = tmp_path / "times.jsonl", tmp_path / "times.jsonl.partial"
    command = [*given, out, "--workers", 1]
    assert itinera(*command).code == 0
    whole, planned, calls = out.read_bytes(), fastest_times.plan_batch, []
    out.unlink()

    def stopped(batch, robot):
        if calls:
            raise KeyboardInterrupt
        calls.append(batch)
        return planned(batch, robot)

    with monkeypatch.context() as patched:
        patched.setattr(fastest_times, "plan_batch", stopped)
        left = itinera(*command)
    assert (left.code, "Rerun the command to resume." in left.err, out.exists()) == (130, True, False)
    partial.write_bytes(partial.read_bytes() + b"0badc0de [broken o")
    again = itinera(*command)
    assert "3 of 6 times were known already." in again.err
    assert out.read_bytes() == whole
    assert not partial.exists()


@pytest.mark.slow
def test_what_was_killed_goes_on_and_ends_with_the_same_rows(itinera, itinera_process, given, tmp_path):
    alone, out, partial = (tmp_path / name for name in ("alone.jsonl", "times.jsonl", "times.jsonl.partial"))
    assert itinera(*given, alone, "--workers", 1).code == 0
    command = [*given, out, "--workers", 2]
    process = subprocess.Popen(
        [sys.executable, "-m", "itinera", *map(str, command)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (partial.exists() and partial.read_bytes().count(b"\n") > 1):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    again = itinera_process(*command)
    assert again.code == 0, again.err
    assert "times were known already" in again.err
    assert rows(out) == rows(alone)


def test_every_place_where_the_robot_cannot_be_is_reported_at_once(itinera, scenes, tmp_path):
    wrong = [([1.7, 0.0, -1.5], [9.5, 0.0, -1.5]), ([0.5, 0.0, -1.5], [3.95, 0.0, -1.5]), HALL[0]]
    tasks = tasks_in(tmp_path, hall=wrong, house=[([9.0, 0.0, -3.0], [6.0, 0.0, -3.0])])
    refused = itinera("fastest-times", tasks, "--worlds", scenes, "--out", tmp_path / "t.jsonl", "--workers", 1)
    assert refused.code == 1
    at = "a robot of radius 0.2 m cannot be at the"
    assert f'episode "0" in hall: {at} start; the nearest place is 0.3' in refused.err
    assert f'episode "0" in hall: {at} goal; the nearest place is far away.' in refused.err
    assert f'episode "1" in hall: {at} goal; the nearest place is 0.1' in refused.err
    assert f'episode "3" in house: {at} start' in refused.err
    assert 'episode "2"' not in refused.err
    assert refused.err.count("use a smaller radius") == 1
    assert not list(tmp_path.glob("t.jsonl*"))


REFUSED = {
    "--vmax 0": "vmax must be finite and above 0 m/s, not 0",
    "--wmax -10": "wmax must be above 0 rad/s",
    "--radius 0": "radius must be above 0 m",
    "--goal-radius -1": "goal_radius must be at least 0 m",
    "--dynamics unicyle": "Did you mean unicycle?",
    "--dynamics holonomic --reverse": "Only a unicycle can drive backwards",
    "--workers -1": "workers must be at least 0",
}


@pytest.mark.parametrize("options", REFUSED)
def test_a_robot_that_cannot_be_is_refused(itinera, given, tmp_path, options):
    refused = itinera(*given, tmp_path / "times.jsonl", *options.split())
    assert refused.code == 2
    assert REFUSED[options] in refused.err


def test_worlds_and_tasks_must_be_of_the_ground(itinera, files, given, scenes, tmp_path):
    out = ["--out", tmp_path / "times.jsonl", "--workers", 1]
    graphs = itinera("fastest-times", files.tasks, "--worlds", scenes, *out)
    assert (graphs.code, "has episodes on navigation graphs" in graphs.err) == (2, True)
    nowhere = itinera("fastest-times", given[1], "--worlds", files.worlds, *out)
    assert (nowhere.code, "contains no surfaces" in nowhere.err) == (2, True)
    (scenes / "house.glb").unlink()
    missing = itinera("fastest-times", given[1], "--worlds", scenes, *out)
    assert (missing.code, "World house is missing from the worlds" in missing.err) == (2, True)


def test_another_file_is_not_overwritten(itinera, given, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    refused = itinera(*given, tmp_path / "notes.txt", "--workers", 1)
    assert (refused.code, "is no file of fastest times" in refused.err) == (2, True)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_every_option_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = text.split("\n## fastest-times\n")[1].split("\n## ")[0]
    options = {name for option in typer.main.get_command(app).commands["fastest-times"].params for name in option.opts}
    told = set(re.findall(r"--[a-z][a-z-]*", section))
    assert {name for name in options if name.startswith("--")} - {"--json"} <= told


def test_a_drive_is_weighed_by_its_times(itinera, given, tmp_path):
    times, walks = tmp_path / "times.jsonl", tmp_path / "walks.jsonl"
    assert itinera(*given, times, "--workers", 1).code == 0
    common = ["--tasks", given[1], "--worlds", given[3], "--protocol", "pointnav"]
    driven = itinera("run", "--agent", "expert", "--drive", "unicycle-6", *common, "--out", walks, "--workers", 0)
    assert driven.code == 0, driven.err
    scored = itinera("score", walks, *common, "--suite", "pointnav", "--times", times, "--json")
    found = scored.json["metrics"]
    assert 0 < found["SCT_low"]["mean"] <= found["SCT_high"]["mean"] <= 1
    # The way over the stairs has no upper bound on its fastest time, so its SCT is not known.
    assert scored.json["undefined"]["SCT"] == 1


def test_houses_of_a_season_are_driven_too(itinera, tmp_path):
    season, house = tmp_path / "season", "hearth-1-001"
    season.mkdir()
    tiny.written(season / "season.json", {"config": {"seed": 1}, "houses": {"val_unseen": [house]}})
    surface = ground_world(1, 1, radius=0.2, height=1.5).space
    places = surface.sample(np.random.default_rng(3), 12)
    goal, *starts = places[np.abs(places[:, 2] - places[0, 2]) < 0.1][:3]
    episodes = [Episode(str(k), house, Pose(p, 1.0), goal[None], (), Instruction("")) for k, p in enumerate(starts)]
    pointnav.write_split(tmp_path / "tasks.json", Split("tasks", tuple(episodes), protocol="pointnav"))
    out = tmp_path / "times.jsonl"
    command = ["fastest-times", tmp_path / "tasks.json", "--worlds", season, "--workers", 1, "--out"]
    done = itinera(*command, out)
    assert done.code == 0, done.err
    times = read_times(out)
    shortest = surface.between(np.array(starts), goal[None])[:, 0]
    assert (times.lower <= times.upper).all()
    assert (times.upper > 0.97 * shortest / times.robot.vmax).all()
    wide = itinera(*command, tmp_path / "wide.jsonl", "--radius", 0.3)
    assert (wide.code, "does not fit through these houses" in wide.err) == (2, True)
