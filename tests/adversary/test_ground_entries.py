"""Trajectories on the ground that no body can have made: refused by check, score and judge, counted by name.

A thin wall stands between start (1, 2) and goal (4, 2) of a room. The protocol is r2r-ce: steps of 0.25 m, at most 500.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import itinera
from itinera.errors import BadFile
from itinera.formats import native_predictions, native_tasks
from itinera.formats.scenes import write_scene
from itinera.records import Predictions, Trajectory
from itinera.tasks import Episode, Instruction, Split
from itinera.worlds import Pose
from tiny import GROUND, states, written
from worlds.rooms import room

pytest.importorskip("trimesh")

START, GOAL = np.array([1.0, 2.0, 0.0]), np.array([4.0, 2.0, 0.0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ground")
    write_scene(made / "scenes" / "room" / "room.glb", room(6, 4, boxes=[((2.4, 0.5, 0), (2.5, 3.5, 1.8))]))
    path = np.stack([START, GOAL])
    episode = Episode("1", "room", Pose(START), GOAL[None], path, Instruction("go"))
    native_tasks.write_split(made / "tasks.jsonl", Split("room", (episode,), protocol="r2r-ce"))
    rules = 'tasks = "tasks.jsonl"\nworlds = "scenes"\nprotocol = "r2r-ce"\n'
    written(made / "challenge.toml", rules)
    written(made / "positions.toml", rules + 'positions = "allow"\n')
    itinera.run("expert", made / "tasks.jsonl", made / "scenes", workers=0, out=made / "honest.jsonl")
    return made


def write(target: Path, points: Sequence[Any], times: Sequence[float] | None = None) -> Path:
    clock = None if times is None else np.array(times, dtype=np.float64)
    trajectory = Trajectory("1", np.array(points, dtype=np.float64), times=clock)
    native_predictions.write_predictions(target, Predictions.from_trajectories("entry", [trajectory]))
    return target


def straight(steps: int) -> np.ndarray:
    return np.linspace(START, GOAL, steps + 1)


IMPOSSIBLE = {
    "start and goal": ([START, GOAL], None, "1 with steps that are too long"),
    "steps of a metre": (straight(3), None, "1 with steps that are too long"),
    "through the wall in small steps": (straight(12), None, "1 with steps through walls"),
    "up and down": ([START, (1, 2, 3), START], None, "leaves world room"),
    "too many steps": ([(1, 2 + 0.001 * (k % 2), 0) for k in range(600)], None, "1 with too many steps"),
    "too fast": ([START, START - [0.5, 0, 0]], [0.0, 0.5], "1 with steps that are too long"),
    "back in time": ([START, START - [0.1, 0, 0]], [5.0, 1.0], "1 with steps that are too long"),
    "no time at all": ([START, START - [0.25, 0, 0]], [0.0, 0.0], "1 with steps that are too long"),
    "too long a time": ([START, START - [0.1, 0, 0]], [0.0, 501.5], "1 with too many steps"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_body_can_do_is_refused_and_counted_by_name(folder: Path, tmp_path: Path, name: str) -> None:
    points, times, count = IMPOSSIBLE[name]
    entry = write(tmp_path / "entry.jsonl", points, times)
    given = {"tasks": folder / "tasks.jsonl", "worlds": folder / "scenes"}
    with pytest.raises(BadFile, match=count):
        itinera.score(entry, **given)
    with pytest.raises(BadFile, match=count):
        itinera.judge(entry, folder / "positions.toml")
    with pytest.raises(BadFile, match='episode "1": '):
        itinera.check(entry, **given)
    if count != "leaves world room":
        assert len(itinera.score(entry, **given, implausible="keep")) == 1


def test_possible_steps_pass_everywhere(folder: Path, tmp_path: Path) -> None:
    # To the left of the wall and back, with the tolerance of released simulators.
    points = [START - [0.28 * k, 0, 0] for k in (0, 1, 2, 1, 0)]
    entry = write(tmp_path / "entry.jsonl", points)
    assert itinera.score(entry, folder / "tasks.jsonl", folder / "scenes").mean("SR") == 0.0
    assert itinera.judge(entry, folder / "positions.toml").badge == "scored"
    # A robot that logs ten times a second.
    log = [START - [0.02 * k, 0, 0] for k in range(30)]
    timed = write(tmp_path / "timed.jsonl", log, [0.1 * k for k in range(30)])
    assert itinera.score(timed, folder / "tasks.jsonl", folder / "scenes").mean("PL") == pytest.approx(0.58)


def test_an_honest_run_is_replayed_and_a_forged_one_scores_what_its_actions_give(folder: Path, tmp_path: Path) -> None:
    judgement = itinera.judge(folder / "honest.jsonl", folder)
    assert (judgement.badge, judgement.differences, judgement.scores.mean("SR")) == ("replayed", (), 1.0)
    header, line = (json.loads(text) for text in (folder / "honest.jsonl").read_text().splitlines())
    trajectory = line["trajectories"][0]
    # All actions become turns: the body stays at the start, more than 3 m from the goal around the wall.
    trajectory["actions"] = [2] * len(trajectory["actions"])
    forged = written(tmp_path / "forged.jsonl", json.dumps(header) + "\n" + json.dumps(line) + "\n")
    judgement = itinera.judge(forged, folder)
    assert judgement.scores.mean("PL") == 0.0
    assert judgement.scores.mean("SR") == 0.0
    (difference,) = judgement.differences
    assert difference.episode_id == "1"


def test_a_faster_body_is_not_the_entrys_to_choose(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "fast.jsonl"
    itinera.run("expert", folder / "tasks.jsonl", folder / "scenes", drive="unicycle-6", vmax=2.0, workers=0, out=out)
    with pytest.raises(BadFile, match=r"step_size 2.0 instead of 0.25.*\n.*--drive unicycle-6 --vmax 2\."):
        itinera.score(out, folder / "tasks.jsonl", folder / "scenes")
    named = itinera.score(out, folder / "tasks.jsonl", folder / "scenes", drive="unicycle-6", vmax=2.0)
    assert named.protocol.label.startswith("r2r-ce (unicycle-6, ")
    assert itinera.replay(out, folder / "tasks.jsonl", folder / "scenes", drive="unicycle-6", vmax=2.0).identical
    with pytest.raises(BadFile, match="the predictions carry r2r-ce"):
        itinera.judge(out, folder)
    fast = replace(itinera.read_challenge(folder), drive="unicycle-6", vmax=2.0)
    assert itinera.judge(out, fast).badge == "replayed"
    # Without the header that says so, the trajectory is still that of another body.
    text = out.read_text().splitlines()
    header = {"itinera": "predictions"}
    bare = written(tmp_path / "bare.jsonl", "\n".join([json.dumps(header), *text[1:]]) + "\n")
    with pytest.raises(BadFile, match="steps that are too long"):
        itinera.score(bare, folder / "tasks.jsonl", folder / "scenes")


def test_two_positions_of_a_vlnce_submission_are_refused(tmp_path: Path) -> None:
    tasks = written(tmp_path / "val_tiny.json", GROUND)
    walk = {"1": states([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]]), "2": states([[0.0, 0.0, 0.0]])}
    entry = written(tmp_path / "entry.json", walk)
    with pytest.raises(BadFile, match="1 trajectory is impossible under protocol r2r-ce: 1 with steps that are too"):
        itinera.score(entry, tasks)
    with pytest.raises(BadFile, match=r'episode "1": moves 5\.00 m across'):
        itinera.check(entry, tasks=tasks)
    dense = [[0.25 * k, 0.0, 0.0] for k in range(21)]
    honest = written(tmp_path / "honest.json", walk | {"1": states(dense)})
    assert itinera.score(honest, tasks)["SPL"].tolist() == [1.0, 0.0]


def test_a_position_csv_is_checked_too(tmp_path: Path) -> None:
    tasks = written(tmp_path / "val_tiny.json", GROUND)
    for header, end in (("episode_id,x,y,z", ""), ("episode_id,x,y,z,time", ",100")):  # a long time does not help
        begin = ",0" if end else ""
        rows = f"1,0,0,0{begin}\n1,5,0,0{end}\n2,0,0,0{begin}\n"
        entry = written(tmp_path / "entry.csv", f"{header}\n{rows}")
        with pytest.raises(BadFile, match="steps that are too long"):
            itinera.score(entry, tasks)
