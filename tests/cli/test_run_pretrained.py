"""Trained agents on the command line: model files and pretrained models."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import crossing
import itinera as package
import tiny
from itinera.formats import matterport, native_tasks
from itinera.formats.native_predictions import read_predictions
from itinera.formats.reverie import write_objects
from itinera.formats.rooms import write_table
from itinera.policies import pretrained
from itinera.policies.checkpoint import encode_model
from itinera.runs.config import agent_names
from itinera.runs.observations import ANNOTATIONS
from itinera.simulators.view_features import annotated_views
from itinera.tasks import Alignment, Episode, Instruction, Split
from itinera.worlds import Pose, Room, VisibleObject
from training.small_models import tiny_model

NODES = {scan: drawing[::2] for scan, drawing in tiny.SCANS.items()}
SEEN = ("sofa", "gong")  # a name that no house here has is a column of zeros


def seen_object(name):
    return VisibleObject(name[0], name, np.array([3, 4]), np.array([[0.0, 0.0, 320.0, 240.0]] * 2))


@pytest.fixture
def annotated(files):
    """Options for objects and rooms of the tiny scans."""
    things = (seen_object("sofa"), seen_object("lamp"))
    write_objects(files.folder / "boxes", {s: dict.fromkeys(nodes, things) for s, nodes in NODES.items()})
    write_table(files.folder / "rooms.csv", {s: {node: Room("k") for node in nodes} for s, nodes in NODES.items()})
    return ["--objects", files.folder / "boxes", "--rooms", files.folder / "rooms.csv"]


@pytest.fixture
def model(files):
    """A model file of an agent that sees by annotations."""

    def write(name="model", columns=None, views=ANNOTATIONS, reach=10.0, **more):
        columns = annotated_views({}, SEEN, reach=10.0).columns if columns is None else columns
        path = files.folder / f"{name}.safetensors"
        path.write_bytes(encode_model(tiny_model(columns=columns, views=views, reach=reach, **more)))
        return path

    return write


@pytest.fixture
def run(itinera, files):
    def call(agent, *options, out="predictions.jsonl", workers=0):
        given = ["--agent", agent, *files.options, "--out", files.folder / out, "--workers", workers, *options]
        return itinera("run", *given)

    return call


def rows(path):
    return path.read_bytes().splitlines()[1:]


def test_a_model_file_is_given_as_a_path_or_as_its_name(files, model):
    path = model(columns=(), views="")
    tasks, worlds = files.folder / files.options[1], files.folder / files.options[3]
    assert isinstance(path, Path)
    given = [package.run(agent, tasks, worlds, workers=0).to_dicts() for agent in (path, str(path))]
    assert given[0] == given[1]


def test_a_model_walks_and_is_shown_what_it_learned_with(run, files, model, annotated):
    path = model()
    done = run(path, *annotated, "--record-probabilities")
    assert done.code == 0, done.err
    predictions = read_predictions(files.folder / "predictions.jsonl")
    assert [t.ending.value for t in predictions.trajectories] != []
    assert all(t.ending.value != "failed" for t in predictions.trajectories), next(iter(predictions.trajectories)).notes
    assert predictions.provenance.inputs["agent"] == str(path)
    assert next(iter(predictions.trajectories)).action_log is not None
    assert (
        run(path, *annotated, "--record-probabilities", "--views", "annotations").err.count("is complete already") == 1
    )


def test_walks_do_not_depend_on_who_works(run, files, model, annotated):
    path = model()
    for workers in (0, 1, 2):
        assert run(path, *annotated, "--record-probabilities", out=f"{workers}.jsonl", workers=workers).code == 0
    assert rows(files.folder / "0.jsonl") == rows(files.folder / "1.jsonl") == rows(files.folder / "2.jsonl")


def test_another_model_is_another_run_and_the_same_is_made_again(run, itinera, files, model, annotated):
    path = model()
    assert run(path, *annotated).code == 0
    assert itinera("reproduce", files.folder / "predictions.jsonl").code == 0  # without trust: a model runs no code
    path.write_bytes(encode_model(tiny_model(1, columns=("sofa",), views=ANNOTATIONS)))
    assert run(path, *annotated).code == 2


def test_one_that_sees_nothing_needs_no_views(run, model):
    path = model(columns=(), views="", reach=0.0)
    assert run(path).code == 0


@pytest.mark.parametrize("columns", [("sofa", "in kitchen"), ()])
def test_a_model_keeps_its_promises_with_views_as_wide_as_its_own(itinera, model, columns):
    done = itinera("check", "agent", model(columns=columns))
    assert (done.code, "keeps the contract" in done.out) == (0, True), done.err


REFUSED = {
    "--views rendered": (2, "contains no meshes to render"),
    "": (2, "give --objects or --rooms for annotations"),
}


@pytest.mark.parametrize("options", REFUSED)
def test_views_it_cannot_be_shown_are_told(run, model, options):
    code, said = REFUSED[options]
    done = run(model(), *options.split())
    assert (done.code, said in done.err) == (code, True), done.err


def test_columns_that_are_missing_are_named(run, model, annotated):
    done = run(model(columns=("sofa", "in kitchen", "share of gold")), *annotated)
    assert done.code == 2
    assert 'trained with the view feature "share of gold"' in done.err


def test_features_of_a_file_must_be_given(run, model):
    done = run(model(columns=("",) * 4, views="ResNet of Places"))
    assert done.code == 2
    assert 'trained with features from a file ("ResNet of Places"): give yours as --views' in done.err


def test_on_the_ground_no_model_walks(itinera, files, model, tmp_path):
    tasks = tiny.written(tmp_path / "ground.json", tiny.GROUND)
    done = itinera("run", "--agent", model(), "--tasks", tasks, "--worlds", files.worlds, "--out", tmp_path / "w.jsonl")
    assert done.code == 2
    assert "was trained on navigation graphs; ground has continuous episodes" in done.err


def test_what_is_no_model_is_told_so(run, files):
    assert "there is no such file" in run("nothing.safetensors").err
    (files.folder / "bad.safetensors").write_bytes(b"no model")
    done = run(files.folder / "bad.safetensors")
    assert (done.code, "is not a safetensors file" in done.err) == (1, True)


def test_a_speaker_does_not_walk(run, files):
    from itinera.policies import speaker
    from itinera.policies.checkpoint import build_model, make_card
    from itinera.policies.tokenizer import Tokenizer

    sizes = speaker.SMALL
    model = build_model(make_card("speaker", sizes, ("sofa",), Tokenizer(("go",))))
    (files.folder / "speaker.safetensors").write_bytes(encode_model(model))
    done = run(files.folder / "speaker.safetensors")
    assert (done.code, "which cannot act as an agent" in done.err) == (1, True), done.err


def test_agents_in_the_box_go_by_their_names(run, files, model, annotated, monkeypatch):
    path = model("boxed-one")
    monkeypatch.setattr(pretrained, "FOLDER", path.parent)
    assert list(pretrained.pretrained_models()) == ["boxed-one"]
    done = run("boxed-one", *annotated)
    assert done.code == 0, done.err
    told = read_predictions(files.folder / "predictions.jsonl").provenance
    assert "agent" not in told.inputs  # it lies where Itinera lies, on any machine
    assert "is complete already" in run("boxed-one", *annotated).err
    model("boxed-one", max_words=9)
    assert run("boxed-one", *annotated).code == 2  # it has learned something else


def test_every_agent_in_the_box_can_be_named():
    assert set(pretrained.pretrained_models()) <= set(agent_names())


BLOCKED = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "safetensors", "tensorboard"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refusing())
from itinera.__main__ import main
main()
"""


def without_torch(folder, *arguments):
    found = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    command = [sys.executable, "-W", "error", "-c", BLOCKED, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=found, capture_output=True, text=True, check=False)


def test_without_torch_all_the_rest_works(files, model):
    """Running, scoring and reporting, and what to install for the one thing that does not."""
    path = model()
    given = [*files.options]
    walked = without_torch(
        files.folder, "run", "--agent", "random", *given, "--out", "predictions.jsonl", "--workers", "0", "--json"
    )
    assert walked.returncode == 0, walked.stderr
    scored = without_torch(files.folder, "score", "predictions.jsonl", *given, "--out", "scores.jsonl")
    assert scored.returncode == 0, scored.stderr
    reported = without_torch(files.folder, "report", "scores.jsonl", "--out", "report.html")
    assert reported.returncode == 0, reported.stderr
    refused = without_torch(files.folder, "run", "--agent", path, *given, "--out", "other.jsonl", "--workers", "0")
    assert refused.returncode == 1
    remedy = 'Trained agents need safetensors. Install it with: pip install "itinera[neural]"'
    assert refused.stderr.strip().endswith(remedy)


def test_a_study_asks_a_model(itinera, tmp_path):
    """Trials of a crossing, asked of an agent that learned nothing yet."""
    matterport.write_worlds(tmp_path / "connectivity", crossing.WORLDS)
    write_table(tmp_path / "rooms.csv", {name: world.rooms for name, world in crossing.WORLDS.items()})
    nodes = ("a", "b", "c", "f")
    asked = Episode(
        "1_0", next(iter(crossing.WORLDS)), Pose("a", 0.0), nodes[-1:], nodes, Instruction(TURNS), "1", alignment()
    )
    native_tasks.write_split(tmp_path / "tasks.jsonl", Split("val", (asked,), protocol="rxr"))
    where, trials = ["--worlds", tmp_path / "connectivity", "--rooms", tmp_path / "rooms.csv"], tmp_path / "t.jsonl"
    done = itinera(
        "study", "design", "stop", "--tasks", tmp_path / "tasks.jsonl", *where, "--out", tmp_path / "t.jsonl"
    )
    assert done.code == 0, done.err
    columns = annotated_views({}, (), reach=10.0).columns
    (tmp_path / "m.safetensors").write_bytes(encode_model(tiny_model(columns=columns, views=ANNOTATIONS, reach=10.0)))
    asked = ["--agent", tmp_path / "m.safetensors", "--trials", trials, *where, "--workers", 0, "--json"]
    done = itinera("study", "run", *asked, "--out", tmp_path / "leanings.jsonl")
    assert done.code == 0, done.err
    assert done.json["completed"] == done.json["trials"] > 0


TURNS = "Go straight . Go straight . Go straight ."


def alignment():
    edge, times = np.repeat(np.arange(3), 3), np.arange(9.0)
    return Alignment(tuple(TURNS.split()), edge, edge, times, times + 0.5)
