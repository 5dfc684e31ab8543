"""`itinera run` with eyes and wheels: what an agent is shown and how it is driven, which decide which run it is."""

from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import tiny
from itinera.formats.features import write_features
from itinera.formats.native_predictions import read_predictions
from itinera.formats.reverie import write_objects
from itinera.formats.rooms import write_table
from itinera.formats.scene_descriptions import write_descriptions
from itinera.formats.scenes import write_scene
from itinera.hearth.language.scene_description import DescribedCandidate, SceneDescription
from itinera.worlds import Room, VisibleObject
from worlds.rooms import room

CLIENT = Path(__file__).parents[2] / "examples" / "client.py"
NODES = {scan: drawing[::2] for scan, drawing in tiny.SCANS.items()}


@pytest.fixture
def witness(itinera, files, tmp_path):
    """What an agent was shown in the first episode of a run with these options."""

    def run(*options, given=None):
        out = tmp_path / "seen.jsonl"
        command = ["run", "--agent", "scripted_agents:Witness", *(given or files.options), "--out", out, "--workers", 0]
        done = itinera(*command, "--overwrite", *options)
        assert done.code == 0, done.err
        return next(iter(read_predictions(out).trajectories)).notes["failed"].removeprefix("RuntimeError: ")

    return run


def seen_object(name, views=(3, 4)):
    return VisibleObject(name[0], name, np.array(views), np.array([[0.0, 0.0, 320.0, 240.0]] * len(views)))


@pytest.fixture
def annotated(files):
    """Options for objects and rooms of the tiny scans: a sofa everywhere, a lamp in the house, all in kitchens."""
    objects = {scan: (seen_object("sofa"), *([seen_object("lamp")] if scan == "house" else [])) for scan in NODES}
    write_objects(files.folder / "boxes", {s: dict.fromkeys(nodes, objects[s]) for s, nodes in NODES.items()})
    write_table(files.folder / "rooms.csv", {s: {node: Room("k") for node in nodes} for s, nodes in NODES.items()})
    return ["--objects", files.folder / "boxes", "--rooms", files.folder / "rooms.csv"]


def test_without_options_nothing_is_seen(witness):
    assert witness() == "nothing"


def test_annotations_are_shown(witness, annotated):
    # Two names and 31 kinds of rooms twice. From a: each thing in two views at half the width, 36 views in a kitchen,
    # one towards another.
    assert witness("--views", "annotations", *annotated) == "views (36, 64) 39"
    assert witness("--views", "annotations", *annotated[:2]) == "views (36, 64) 2"
    assert witness("--views", "annotations", *annotated[2:]) == "views (36, 62) 37"


def test_features_are_shown(witness, files):
    rows = [(scan, node, np.full((36, 3), 2.0, np.float32)) for scan, nodes in NODES.items() for node in nodes]
    for name in ("features.tsv", "features.h5"):
        if name.endswith("h5"):
            pytest.importorskip("h5py")
        write_features(files.folder / name, rows)
        assert witness("--views", files.folder / name) == "views (36, 3) 216"


def test_meshes_are_drawn(witness, files):
    for scan in NODES:
        write_scene(files.worlds / f"{scan}.glb", room(12, 4))
    assert witness("--views", "rendered").startswith("views (36, 57) ")


def test_what_is_told_in_words_is_shown_where_the_worlds_tell_it(witness, files):
    for scan, nodes in NODES.items():
        beside = {node: [other for other in nodes if abs(nodes.index(other) - k) == 1] for k, node in enumerate(nodes)}
        ways = {n: tuple(DescribedCandidate(o, 0.0, 2.0, 0, "k", "") for o in others) for n, others in beside.items()}
        seen = {node: SceneDescription(node, "k", (), ways[node], ()) for node in nodes}
        write_descriptions(files.worlds / "scene_descriptions" / f"{scan}.json", scan, seen)
    assert witness() == "a sight"


REFUSED = {
    "--views annotations": "give --objects or --rooms for annotations",
    "--views rendered": "contains no meshes to render",
    "--views annotation": "--views must be annotations, rendered or a file of features; there is no file annotation.",
    "--rooms rooms.csv": "give --views annotations too",
    "--camera 64x64": "give --views",
    "--fov 90": "give --camera too",
    "--appearance day": "give --camera, or on graphs --views rendered, too",
    "--drive unicycle-6": "r2r is a protocol of graphs",
    "--vmax 1": "give drive (--drive) too",
    "--reply-seconds 5": "for agents in other processes",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_does_not_fit_is_refused(itinera, files, tmp_path, options):
    out = tmp_path / "predictions.jsonl"
    refused = itinera("run", "--agent", "still", *files.options, "--out", out, "--workers", 0, *options.split())
    assert refused.code == 2
    assert REFUSED[options] in refused.err


def test_annotations_must_tell_of_the_worlds_that_are_walked(itinera, files, tmp_path):
    write_table(files.folder / "rooms.csv", {"house": {"a": Room("k")}})
    command = ["run", "--agent", "still", *files.options, "--out", tmp_path / "predictions.jsonl", "--workers", 0]
    refused = itinera(*command, "--views", "annotations", "--rooms", files.folder / "rooms.csv")
    assert refused.code == 2
    assert "rooms.csv does not contain world hut of R2R_tiny." in refused.err


def test_what_is_seen_and_by_whom_decides_which_run_it_is(itinera, files, tmp_path, annotated, monkeypatch):
    """A run that is done is left alone only by a command that would make it again."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(CLIENT, "client.py")
    out = tmp_path / "predictions.jsonl"
    command = ["run", "--agent-command", f"{sys.executable} client.py", *files.options, "--out", out, "--workers", 0]
    seeing = [*command, "--views", "annotations", *annotated]
    assert itinera(*seeing).code == 0
    assert "is complete already" in itinera(*seeing).err
    told = read_predictions(out).provenance.inputs
    assert told.keys() == {"tasks", "worlds", "objects", "rooms", "agent", "agent 2"}
    assert told["agent 2"] == "client.py"
    assert itinera("reproduce", out, "--trust").code == 0
    others = [command, [*seeing, "--reply-seconds", 9], [*seeing[:-2]]]
    assert [itinera(*other).code for other in others] == [2, 2, 2]
    Path("client.py").write_text(CLIENT.read_text() + "# changed\n")
    assert itinera(*seeing).code == 2
    assert "client.py (agent 2) has changed since." in itinera("reproduce", out, "--trust").err


@pytest.fixture
def grounds(tmp_path):
    """Options for two tasks in a room with a wall across it."""
    write_scene(tmp_path / "scenes" / "house.glb", room(8, 6, boxes=[((3, 1, 0), (3.5, 5, 1.8))]))
    paths = [[[1.0, 0.0, -3.0], [6.0, 0.0, -3.0]], [[6.0, 0.0, -2.0], [1.0, 0.0, -5.0]]]  # in Habitat's frame
    episodes = [tiny.ground_episode(k, "house", path) for k, path in enumerate(paths)]
    tasks = tiny.written(tmp_path / "tasks.json", {"episodes": episodes})
    return ["--tasks", tasks, "--worlds", tmp_path / "scenes"]


def test_cameras_are_carried(witness, grounds):
    assert witness(given=grounds) == "nothing"
    assert witness("--camera", "48x32", given=grounds) == "rgb (32, 48, 3), depth (32, 48)"
    more = ["--channels", "depth,classes", "--fov", 60, "--camera-height", 0.8, "--panorama"]
    assert witness("--camera", "16x12", *more, given=grounds) == "depth (36, 12, 16), classes (36, 12, 16)"
    more = ["--channels", "rgb", "--appearance", "day:3"]
    assert witness("--camera", "16x12", *more, given=grounds) == "rgb (12, 16, 3)"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--camera 64", "--camera is WIDTHxHEIGHT in pixels"),
        ("--camera 64x64 --channels smell", "channels must be among rgb, depth"),
        ("--camera 64x64 --appearance dawn", "An appearance is one of flat, day"),
        ("--camera 64x64 --fov 200", "at most 120 degrees"),
        ("--views annotations", "give --camera"),
        ("--drive car", "drive must be one of point-turn, unicycle-6, unicycle-15, not 'car'"),
        ("--drive unicycle-6 --vmax 0", "vmax must be above 0"),
        ("--drive unicycle-15", "Use expert, still or uniform"),
    ],
)
def test_what_nobody_can_carry_or_drive_is_refused(itinera, grounds, tmp_path, options, told):
    out = tmp_path / "predictions.jsonl"
    refused = itinera("run", "--agent", "random", *grounds, "--out", out, "--workers", 0, *options.split())
    assert refused.code == 2
    assert told in refused.err


@pytest.mark.parametrize("drive", ["point-turn", "unicycle-6", "unicycle-15"])
def test_a_driven_walk_is_told_replayed_and_scored(itinera, grounds, tmp_path, drive):
    out = tmp_path / "predictions.jsonl"
    driven = ["--drive", drive, "--vmax", 0.2, "--wmax", 15]
    command = ["run", *grounds, "--protocol", "pointnav", "--out", out, "--workers", 0, "--json"]
    done = itinera(*command, "--agent", "expert", *driven)
    assert done.code == 0, done.err
    assert done.json["SR"]["mean"] == 1.0
    predictions = read_predictions(out)
    assert (predictions.protocol.drive, predictions.protocol.step_size) == (drive, 0.2)
    assert predictions.protocol.turn_angle == pytest.approx(math.radians(15))
    for trajectory in predictions.trajectories:
        np.testing.assert_array_equal(trajectory.times, np.arange(len(trajectory.places)))
        steps = np.linalg.norm(np.diff(trajectory.places, axis=0), axis=1)
        assert steps.max() == pytest.approx(0.2, abs=1e-3)
    rules = ["--protocol", "pointnav", *driven]
    assert f"--protocol pointnav --drive {drive} --vmax 0.2 --wmax 15." in itinera("replay", out, *grounds).err
    assert itinera("replay", out, *grounds, *rules).code == 0
    assert itinera("replay", out, *grounds, "--protocol", "pointnav").code == 1  # which is driven otherwise
    assert itinera("score", out, *grounds, *rules, "--json").json["metrics"]["SR"]["mean"] == 1.0
    assert itinera(*command, "--agent", "expert").code == 2  # another run


def test_a_driven_walk_is_made_again(itinera, grounds, tmp_path):
    out = tmp_path / "predictions.jsonl"
    options = ["--drive", "unicycle-15", "--camera", "16x16", "--channels", "depth", "--protocol", "pointnav"]
    assert itinera("run", "--agent", "uniform", *grounds, *options, "--out", out, "--workers", 0).code == 0
    assert max(max(t.actions) for t in read_predictions(out).trajectories) > 5
    assert itinera("reproduce", out).code == 0


def test_nobody_is_led_by_fifteen_speeds(itinera, grounds, tmp_path):
    tours = tiny.written(tmp_path / "tours.json", {"tasks": {"house": [["0", "1"]]}})
    command = ["run", "--agent", "uniform", *grounds, "--tours", tours, "--out", tmp_path / "w.jsonl", "--workers", 0]
    assert "does not support tours" in itinera(*command, "--drive", "unicycle-15").err
    assert itinera(*command, "--drive", "unicycle-6").code == 0
    rules = ["--tours", tours, "--protocol", "ivln-ce", "--drive", "unicycle-6"]
    assert itinera("replay", tmp_path / "w.jsonl", *grounds, *rules).code == 0


def test_the_maps_of_an_agent_are_recorded_checked_and_shown(itinera, grounds, tmp_path):
    out = tmp_path / "predictions.jsonl"
    command = ["run", "--agent", "scripted_agents:MapKeeper", *grounds, "--record", "maps", "--out", out]
    assert itinera(*command, "--workers", 0).code == 0
    checked = itinera("check", tmp_path / "predictions.maps.jsonl", "--json")
    assert (checked.code, checked.json["episodes"]) == (0, 2)
    page = tmp_path / "replay.html"
    assert itinera("show", out, *grounds, "--pictures", 0, "--out", page).code == 0
    assert '"maps":{"size":8,"width":400' in page.read_text()
    assert itinera("run", "--agent", "uniform", *grounds, "--record", "maps", "--out", page.with_suffix(".x")).code == 2
