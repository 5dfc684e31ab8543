"""Hostile names, and terminals and spreadsheets that would obey them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tiny
from cli.conftest import Command
from itinera.errors import INVISIBLE

# The title of the window, a cleared screen, red by one byte, reordered text, a hidden character, and a line of its own.
HOSTILE = "x\x1b]0;pwned\x07\x1b[2J\x9b31m\u202e\u2066\u200b\ufeff\x7f\r\U000e0041\nitinera: all is well"


def is_plain(text: str) -> bool:
    """Whether a terminal shows the text as it is, and no line of it was made by a name."""
    return not INVISIBLE.search(text) and "\nitinera: all is well" not in text


def run_process(arguments: list[object], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "itinera", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        encoding=environment.get("PYTHONIOENCODING", "utf-8"),
        capture_output=True,
        check=False,
    )


# Names


def hostile_bundle(files: tiny.Files, itinera: Command) -> Path:
    bundle = files.folder / "mine.jsonl"
    assert itinera("score", files.predictions, *files.options, "--out", bundle).code == 0
    target = files.folder / f"{HOSTILE[:-21].strip()}.jsonl"
    return shutil.copy(bundle, target)


def test_names_in_errors_are_shown_as_escapes(files: tiny.Files, itinera: Command) -> None:
    unknown = files.write("unknown.json", [*tiny.predictions(), *tiny.predictions({HOSTILE: "abc"})])
    elsewhere = files.write("elsewhere.json", tiny.predictions(tiny.WALKS | {"1_0": ["a", HOSTILE]}))
    for predictions in (unknown, elsewhere):
        for verb in ("score", "check"):
            outcome = itinera(verb, predictions, *files.options)
            assert outcome.code == 1
            assert is_plain(outcome.err)
            assert r"\x1b]0;pwned" in outcome.err
            assert r"\u202e" in outcome.err


def test_names_of_files_are_shown_as_escapes(files: tiny.Files, itinera: Command) -> None:
    bundle = hostile_bundle(files, itinera)
    for arguments in (
        ("compare", bundle, files.folder / "mine.jsonl"),
        ("compare", bundle, files.folder / "mine.jsonl", "--csv"),
        ("compare", bundle, files.folder / "mine.jsonl", "--markdown"),
        ("compare", bundle, files.folder / "mine.jsonl", "--latex"),
        ("check", bundle),
        ("reproduce", bundle),
        ("data", "verify", files.folder),
        ("report", bundle, "--out", files.folder / "report.html"),
        ("check", f"{bundle}.absent"),
        (f"--{HOSTILE}",),
        (HOSTILE,),
    ):
        outcome = itinera(*arguments)
        assert is_plain(outcome.out), arguments
        assert is_plain(outcome.err), arguments
        assert "pwned" in outcome.out + outcome.err, arguments


def test_json_is_escaped_and_means_the_same(files: tiny.Files, itinera: Command) -> None:
    bundle = hostile_bundle(files, itinera)
    outcome = itinera("compare", bundle, files.folder / "mine.jsonl", "--json")
    assert is_plain(outcome.out)
    assert outcome.json["systems"] == [bundle.name.removesuffix(".jsonl"), "mine"]


def test_a_question_of_trust_shows_every_word_that_would_run(files: tiny.Files, itinera: Command) -> None:
    out = files.folder / "predictions.jsonl"
    assert itinera("run", "--agent", "still", *files.options, "--workers", 0, "--out", out).code == 0
    header, *rows = out.read_text().splitlines()
    record = json.loads(header)
    # On a terminal that obeys, the words before the carriage return would be gone.
    hidden = "sh -c 'rm -rf ~'\r\x1b[2K\x1b[1A--agent still"
    record["provenance"]["command"] = ["itinera", "run", "--agent-command", hidden, "a b", HOSTILE]
    out.write_text("\n".join([json.dumps(record), *rows]) + "\n")
    refused = itinera("reproduce", out)
    assert refused.code == 2
    assert is_plain(refused.err)
    assert "rm -rf ~" in refused.err
    assert r"\r\x1b[2K\x1b[1A--agent still" in refused.err
    assert "'a b'" in refused.err
    assert len(refused.err.splitlines()) == 2


AGENT = """
class Agent:
    def reset(self, rng): pass
    def start_episode(self, instruction):
        print({text!r} * {count})
    def act(self, observation):
        raise ValueError({text!r} * {count})
    def observe(self, observation): pass
"""


def test_what_an_agent_prints_and_why_it_failed_is_escaped_and_bounded(
    files: tiny.Files,
) -> None:
    (files.folder / "hostile_agent.py").write_text(AGENT.format(text=HOSTILE, count=8000))  # 0.4 MB, allowed
    out = files.folder / "p.jsonl"
    command = ["run", "--agent", "hostile_agent:Agent", *files.options, "--workers", 1, "--out", out]
    done = run_process(command, files.folder)
    assert not INVISIBLE.search(done.stderr)
    assert "5 failed" in done.stdout + done.stderr
    assert "\\x1b]0;pwned" in done.stderr
    assert done.stderr.count("the rest of this output is not shown") == 5
    assert len(done.stderr) < 5 * 4 * (1 << 16)  # an escape is up to four times as long as its character
    reasons = [line for line in done.stderr.splitlines() if "5 failed: ValueError" in line]
    assert len(reasons) == 1
    assert len(reasons[0]) < 3000


# Spreadsheets


def test_no_cell_of_a_csv_table_is_a_formula(files: tiny.Files, itinera: Command) -> None:
    bundle = files.folder / "mine.jsonl"
    assert itinera("score", files.predictions, *files.options, "--out", bundle).code == 0
    for name in ("=cmd|'calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1"):
        other = shutil.copy(bundle, files.folder / f"{name}.jsonl")
        table = itinera("compare", bundle, other, "--csv").out
        cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
        assert any(name.strip("\t") in cell for cell in cells)
        risky = [cell for cell in cells if cell[:1] in tuple("=+-@\t\r")]
        assert all(re.fullmatch(r"[+-][\d.]+( \[.*\])?", cell) for cell in risky), risky


# Terminals


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("latin-1", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "preds.json", "--tasks", "R2R_tiny.json", "--worlds", "connectivity"),
        ("compare", "mine.jsonl", "söt🤖.jsonl"),
        ("compare", "mine.jsonl", "söt🤖.jsonl", "--csv"),
        ("compare", "mine.jsonl", "söt🤖.jsonl", "--json"),
        ("compare", "--help"),
        ("check", "söt🤖.absent"),
    ],
)
def test_a_terminal_without_utf8_shows_everything_in_ascii(
    files: tiny.Files, itinera: Command, arguments: tuple[str, ...], encoding: str
) -> None:
    assert itinera("score", files.predictions, *files.options, "--out", files.folder / "mine.jsonl").code == 0
    shutil.copy(files.folder / "mine.jsonl", files.folder / "söt🤖.jsonl")
    done = run_process([*arguments], files.folder, PYTHONIOENCODING=encoding)
    assert done.returncode == (1 if "check" in arguments else 0)
    assert "Traceback" not in done.stderr
    if "--json" in arguments:
        assert "söt🤖" in json.dumps(json.loads(done.stdout), ensure_ascii=False)
    if arguments[0] == "score":
        assert "| SR % ^" in done.stdout.replace("│", "|")
