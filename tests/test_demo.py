"""The demo: its commands parse, finished work is skipped, and its numbers are those it states."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

from itinera.cli.main import app
from itinera.formats.bundles import read_scores
from itinera.formats.report_json import StudyResults, read_report_json
from itinera.reports.comparison import compare

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "recipes" / "demo.py"
DEMO = runpy.run_path(str(RECIPE))
ITINERA: Any = typer.main.get_command(app)


def parts() -> list[list[tuple[str, ...]]]:
    """The commands of the demo, stage by stage."""
    show = DEMO["show_commands"](["1_0", "2_1"], ["2"], ["3"], "4")
    before = [DEMO[f"{stage}_commands"]() for stage in ("first_house", "house", "run", "score")]
    return [*before, show, DEMO["report_commands"]()]


def commands() -> list[tuple[str, ...]]:
    return [command for part in parts() for command in part if command[0] != "python"]


def parse(words: list[str]) -> dict[str, Any]:
    """The options of a command line, without running it."""
    command = ITINERA
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    return command.make_context(command.name, words).params


@pytest.mark.parametrize("command", commands(), ids=lambda command: " ".join(command[:4]))
def test_every_command_is_one_that_itinera_understands(command):
    words = list(command[: command.index(">")] if ">" in command else command)
    assert parse(words)


def test_the_inputs_of_a_command_are_made_in_an_earlier_stage():
    made = {DEMO["HEARTH"], DEMO["VLNCE"], DEMO["POINTNAV"], DEMO["RXR"]}
    for part in parts():
        outs = {word for command in part for before, word in pairwise(command) if before in ("--out", ">")}
        for command in part:
            own = {word for before, word in pairwise(command) if before in ("--out", ">")}
            needed = {word for word in command if word.startswith("demo/")} - own - {"demo/replays"}
            inputs = {word for word in needed if not word.startswith(DEMO["HEARTH"])}
            assert made.issuperset(inputs), command
        made |= outs


def test_a_failed_command_is_reported_and_its_output_is_not_saved(tmp_path, capsys):
    table = tmp_path / "table.txt"
    command = ("score", str(tmp_path / "none.jsonl"), "--tasks", str(tmp_path / "none.json"), ">", str(table))
    code, printed, remarks = DEMO["run_captured"](command)
    assert code == 1
    assert "itinera: " in remarks
    with pytest.raises(SystemExit, match="again to resume"):
        DEMO["finish"](command, code, printed, remarks)
    assert remarks.splitlines()[0] in capsys.readouterr().out
    assert not table.exists()


def test_what_is_made_and_newer_than_what_it_is_made_of_is_left_alone(tmp_path):
    walks, scores, table = (tmp_path / name for name in ("walks.jsonl", "scores.jsonl", "table.txt"))
    command = ("score", str(walks), "--out", str(scores), ">", str(table))
    done = DEMO["is_done"]
    for age, file in ((3, walks), (2, scores)):
        file.touch()
        os.utime(file, (100 - age, 100 - age))
    assert not done(command)
    table.touch()
    assert done(command)
    os.utime(walks, (200, 200))
    assert not done(command)
    assert not done(("compare", str(scores)))


@pytest.mark.slow
def test_the_demo_has_the_numbers_it_states(tmp_path):
    sources = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ran = [
        subprocess.run([sys.executable, str(RECIPE)], cwd=tmp_path, env=sources, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [done.returncode for done in ran] == [0, 0], ran[0].stderr
    assert "demo/predictions/" in ran[0].stdout
    assert "demo/report.html: " in ran[0].stdout
    assert "demo/report.html: " not in ran[1].stdout  # done already

    def scores(kind: str, *names: str) -> list[Any]:
        return [read_scores(tmp_path / "demo" / "scores" / kind / f"{name}.jsonl") for name in names]

    for metric in compare(("random", "reader"), scores("r2r", "random", "reader")).metrics:
        if metric.column.better != "neither":
            assert metric.letters == ("b", "a"), metric.column.name
            assert metric.differences[0].p_value == 2 / 2**6
    forward, expert = scores("vlnce", "forward", "expert")
    assert expert["nDTW"].mean() > 0.8 > forward["nDTW"].mean()
    turning, curving = scores("pointnav", "point-turn", "unicycle-6")
    assert curving["C"].mean() < turning["C"].mean()
    assert curving["PL"].mean() > turning["PL"].mean()
    found = read_report_json(tmp_path / "demo" / "skills" / "findings.json")
    assert isinstance(found, StudyResults)
    verdicts = [verdict for skill in found.agents["uniform"].values() for verdict in skill.verdicts]
    assert all("no effect in any scene" in verdict for verdict in verdicts)
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="(replays/[^"#]+)', page))
    assert linked == {f"replays/{name}.html" for name in ("r2r", "tour", "vlnce", "pointnav")}
    assert all((tmp_path / "demo" / link).is_file() for link in linked)
