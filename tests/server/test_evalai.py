"""The bundle for EvalAI: its configuration names files that are there, and its script scores as `itinera judge`."""

from __future__ import annotations

import importlib.util
import io
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

import itinera
import tiny
from itinera.errors import BadArgument
from itinera.server.evalai import make_evalai_bundle, pack_challenge
from itinera.server.html import PhaseView
from server.boards import COLUMNS, HOSTILE, NOON

PHASE = PhaseView("test", "Test phase", NOON, NOON + timedelta(days=30), True, 3, None, "r2r", "paper")


@pytest.fixture
def files(tmp_path: Path) -> tiny.Files:
    made = tiny.on_graphs(tmp_path)
    (tmp_path / "host").mkdir()
    rules = 'name = "May"\ntasks = "../R2R_tiny.json"\nworlds = "../connectivity"\nprotocol = "r2r"\n'
    made.write("host/challenge.toml", rules)
    return made


def test_a_packed_challenge_judges_as_the_challenge(files: tiny.Files, tmp_path: Path):
    packed = pack_challenge(files.folder / "host")
    assert set(packed) >= {"challenge.toml", "tasks/R2R_tiny.json", "worlds/house_connectivity.json"}
    for name, data in packed.items():
        target = tmp_path / "elsewhere" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    itinera.run("expert", files.tasks, files.worlds, workers=0, out=tmp_path / "entry.jsonl")
    moved = itinera.judge(tmp_path / "entry.jsonl", tmp_path / "elsewhere")
    assert moved.challenge == "May"
    assert moved.scores.mean("SR") == 1.0


def test_the_bundle_judges_as_itinera_does(files: tiny.Files, tmp_path: Path):
    data = make_evalai_bundle("May", f"About.\n\n{HOSTILE}", [PHASE], {"test": files.folder / "host"}, columns=COLUMNS)
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        names = set(bundle.namelist())
        bundle.extractall(tmp_path / "bundle")
    settings = yaml.safe_load((tmp_path / "bundle" / "challenge_config.yaml").read_text())
    (phase,) = settings["challenge_phases"]
    paths = [settings[key] for key in ("description", "evaluation_details", "terms_and_conditions", "image",
                                       "submission_guidelines", "evaluation_script")]  # fmt: skip
    assert {*paths, phase["description"], phase["test_annotation_file"]} <= names
    assert settings["leaderboard"][0]["schema"]["labels"] == ["SR", "SPL", "NE"]
    assert settings["leaderboard"][0]["schema"]["metadata"]["NE"]["sort_ascending"] is True
    assert (phase["codename"], phase["max_submissions_per_day"], phase["max_submissions"]) == ("test", 3, 100_000)
    assert (phase["start_date"], phase["end_date"]) == ("2026-11-19 12:00:00", "2026-12-19 12:00:00")
    assert b"<script>" not in (tmp_path / "bundle" / "templates" / "description.html").read_bytes()
    from PIL import Image

    with Image.open(tmp_path / "bundle" / "logo.png") as logo:
        logo.load()
        assert logo.size == (64, 64)

    with zipfile.ZipFile(tmp_path / "bundle" / settings["evaluation_script"]) as script:
        script.extractall(tmp_path / "worker")
    spec = importlib.util.spec_from_file_location("main", tmp_path / "worker" / "evaluation_script" / "main.py")
    assert spec is not None
    assert spec.loader is not None
    main = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(main)
    itinera.run("uniform", files.tasks, files.worlds, workers=0, out=tmp_path / "entry.jsonl")
    annotations = str(tmp_path / "bundle" / phase["test_annotation_file"])
    answer = main.evaluate(annotations, str(tmp_path / "entry.jsonl"), phase["codename"], submission_metadata={})
    judged = itinera.judge(tmp_path / "entry.jsonl", files.folder / "host").scores
    expected = {name: judged.mean(name) for name in ("SR", "SPL", "NE")}
    assert answer["result"] == [{"test": expected}]
    assert answer["submission_result"]["badge"] == "replayed"


def test_what_evalai_needs_is_asked_for(files: tiny.Files):
    rules = {"test": files.folder / "host"}
    with pytest.raises(BadArgument, match="needs the opening and closing times of phase test"):
        make_evalai_bundle("May", "x", [PhaseView("test", opens=NOON)], rules, columns=COLUMNS)
    with pytest.raises(BadArgument, match="cannot be ordered by SCT; it has SR, SPL, NE"):
        make_evalai_bundle("May", "x", [PHASE], rules, columns=COLUMNS, metric="SCT")


def test_the_bundle_is_the_same_bytes_every_time(files: tiny.Files):
    rules = {"test": files.folder / "host"}
    first, second = (make_evalai_bundle("May", "x", [PHASE], rules, columns=COLUMNS) for _ in range(2))
    assert first == second
