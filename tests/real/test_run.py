"""Real R2R walked without images: what is annotated of each view, and an agent in a process of its own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from cli.conftest import Command
from itinera.formats.native_predictions import read_predictions

pytestmark = pytest.mark.real

LANDMARKS = Path(__file__).parents[2] / "examples" / "landmarks.py"


def test_an_outsider_walks_by_annotations_and_is_scored(data: Path, itinera: Command, tmp_path: Path) -> None:
    given = ["--tasks", data / "r2r/R2R_val_unseen.json.gz", "--worlds", data / "connectivity.tar.xz"]
    seen = ["--objects", data / "reverie/BBox.tar.xz", "--rooms", data / "rooms/viewpoint_rooms.csv.gz"]
    agent = ["--agent-command", shlex.join([sys.executable, str(LANDMARKS)])]
    out = tmp_path / "walks.jsonl"
    command = ["run", *agent, *given, "--views", "annotations", *seen, "--out", out]
    done = itinera(*command, "--workers", 1, "--max-episodes", 60, "--json")
    assert done.code == 0, done.err
    assert (done.json["stopped"], done.json["failed"]) == (60, 0)
    assert done.json["SR"]["mean"] == pytest.approx(13 / 60)
    assert read_predictions(out).provenance.inputs.keys() >= {"objects", "rooms", "agent"}
    assert itinera("replay", out, *given).code == 0
    scored = itinera("score", out, *given, "--missing", "zero", "--json")
    assert scored.json["episodes"] == 2349
    assert scored.json["metrics"]["SR"]["mean"] == pytest.approx(13 / 2349)
