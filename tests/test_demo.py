"""The demo: `itinera` understands its commands, what is done is not done again, and it shows what it says."""

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
from itinera.formats.printed import Findings, read_printed
from itinera.reports.comparison import compare

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "recipes" / "demo.py"
DEMO = runpy.run_path(str(RECIPE))
ITINERA: Any = typer.main.get_command(app)


def commands() -> list[tuple[str, ...]]:
    parts = ("houses", "on_graphs", "in_tours", "on_the_ground", "to_points", "skills", "page")
    return [*(command for part in parts for command in DEMO[part]()), *DEMO["replays"]("1_0", "2", "3", "4")]


def parse(words: list[str]) -> dict[str, Any]:
    """The options of a command line, without doing what it asks for."""
    command = ITINERA
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    return command.make_context(command.name, words).params


@pytest.mark.parametrize("command", commands(), ids=lambda command: " ".join(command[:4]))
def test_every_command_is_one_that_itinera_understands(command):
    words = list(command[: command.index(">")] if ">" in command else command)
    assert parse(words)


def test_everything_that_a_command_needs_is_made_before():
    made = {DEMO["HEARTH"], DEMO["GROUND"], DEMO["POINTS"], DEMO["GUIDE"]}
    for command in commands():
        outs = {word for before, word in pairwise(command) if before in ("--out", ">")}
        needed = [word for word in command if word.startswith("demo/") and word not in outs]
        asked = [word for word in needed if not word.startswith(DEMO["HEARTH"]) and word != "demo/replays"]
        assert made.issuperset(asked), command
        made |= outs


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
def test_the_demo_shows_what_it_says(tmp_path):
    sources = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ran = [
        subprocess.run([sys.executable, str(RECIPE)], cwd=tmp_path, env=sources, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [done.returncode for done in ran] == [0, 0], ran[0].stderr
    assert "Where to look" in ran[0].stdout
    assert "demo/report.html: " in ran[0].stderr
    assert "demo/report.html: " not in ran[1].stderr  # is there already

    def scores(kind: str, *names: str) -> list[Any]:
        return [read_scores(tmp_path / "demo" / "scores" / kind / f"{name}.jsonl") for name in names]

    for metric in compare(("random", "reader"), scores("r2r", "random", "reader")).metrics:
        if metric.column.better != "neither":
            assert metric.letters == ("b", "a"), metric.column.name
            assert metric.differences[0].p_value == 2 / 2**6
    turning, curving = scores("pointnav", "point-turn", "unicycle-6")
    assert curving["C"].mean() < turning["C"].mean()
    assert curving["PL"].mean() > turning["PL"].mean()
    found = read_printed(tmp_path / "demo" / "skills" / "found.json")
    assert isinstance(found, Findings)
    assert all("change nothing" in verdict for skill in found.agents["uniform"].values() for verdict in skill.verdicts)
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="(replays/replay-[^"#]+)', page))
    assert linked
    assert all((tmp_path / "demo" / link).is_file() for link in linked)
