"""Commands that would overwrite what they read: refused in one sentence, by whatever name the file is called."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import tiny
from cli.conftest import Command
from itinera.formats.trials import Study, write_trials


@pytest.fixture
def made(files: tiny.Files, itinera: Command) -> tiny.Files:
    assert itinera("score", files.predictions, *files.options, "--out", files.folder / "mine.jsonl").code == 0
    write_trials(files.folder / "trials.jsonl", Study(()))
    return files


@pytest.mark.parametrize(
    ("link", "command", "name"),
    [
        ("itself", "score preds.json {options} --out {out}", "preds.json"),
        ("symbolic", "score preds.json {options} --out {out}", "preds.json"),
        ("hard", "score preds.json {options} --out {out}", "preds.json"),
        ("folder", "score preds.json {options} --out {out}", "preds.json"),
        ("itself", "score preds.json {options} --rows {out}", "R2R_tiny.json"),
        ("itself", "score preds.json {options} --tours tours.json --out {out}", "tours.json"),
        ("itself", "convert preds.json {out} --to native-predictions", "preds.json"),
        ("symbolic", "build r4r {options} --out {out}", "R2R_tiny.json"),
        ("hard", "build tours {options} --out {out}", "R2R_tiny.json"),
        ("folder", "build ablated --tasks R2R_tiny.json --rule none --out {out}", "R2R_tiny.json"),
        ("itself", "run --agent still {options} --out {out}", "R2R_tiny.json"),
        ("symbolic", "run --agent still {options} --out {out} --overwrite", "R2R_tiny.json"),
        ("hard", "report mine.jsonl --out report.html --markdown {out}", "mine.jsonl"),
        ("folder", "report mine.jsonl --out {out}", "mine.jsonl"),
        ("itself", "fastest-times R2R_tiny.json --worlds connectivity --out {out}", "R2R_tiny.json"),
        ("symbolic", "study design stop --tasks R2R_tiny.json --worlds connectivity --out {out}", "R2R_tiny.json"),
        ("hard", "study export R2R_tiny.json --out {out}", "R2R_tiny.json"),
        ("folder", "study import preds.json --trials trials.jsonl --out {out}", "preds.json"),
        ("itself", "study run --agent still --trials R2R_tiny.json --worlds connectivity --out {out}", "R2R_tiny.json"),
    ],
)
def test_no_command_overwrites_its_input(
    made: tiny.Files,
    itinera: Command,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    name: str,
    link: str,
) -> None:
    monkeypatch.chdir(made.folder)
    target = Path("link.json")
    if link == "symbolic":
        target.symlink_to(name)
    elif link == "hard":
        os.link(name, target)
    else:
        target = Path(name) if link == "itself" else Path("connectivity", "..", name)
    before = Path(name).read_bytes()
    options = "--tasks R2R_tiny.json --worlds connectivity"
    outcome = itinera(*command.format(options=options, out=target).split())
    assert outcome.code == 2
    assert re.fullmatch(
        r"itinera: \S+ is an input of this command( \(as \S+\))? and would be overwritten. Write another file.\n",
        outcome.err,
    )
    assert Path(name).read_bytes() == before


def test_a_map_and_predictions_are_not_drawn_over(
    made: tiny.Files,
    itinera: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(made.folder)
    shutil.copy("preds.json", "preds.html")
    shutil.copy("preds.json", "plan.png")
    drawing = ("fastest", "plan.png", "--start", "0,0,0", "--goal", "1,1", "--figure", "plan.png")
    for arguments in (("show", "preds.html", *made.options, "--out", "preds.html"), drawing):
        outcome = itinera(*arguments)
        assert (outcome.code, "is an input of this command" in outcome.err) == (2, True)
    assert Path("preds.html").read_bytes() == Path("plan.png").read_bytes() == Path("preds.json").read_bytes()


def test_two_outputs_are_two_files(made: tiny.Files, itinera: Command) -> None:
    out = made.folder / "out.jsonl"
    outcome = itinera("score", made.predictions, *made.options, "--out", out, "--rows", out)
    assert (outcome.code, outcome.err) == (
        2,
        f"itinera: {out} would be written twice. Give each output its own name.\n",
    )
