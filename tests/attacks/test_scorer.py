"""Scorers as commands: their output is read, their limits hold, and nothing that they start outlives them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from itinera.attacks.scorer import CommandScorer, Reply, find_scores
from itinera.errors import BadArgument


def answer(
    tmp_path: Path, program: str, arguments: str = "{file}", *, seconds: float = 20, memory_mb: int = 1024
) -> Reply:
    script = tmp_path / "scorer.py"
    script.write_text(program)
    file = tmp_path / "entry.json"
    file.write_text("[]")
    command = f"{sys.executable} -S -I {script} {arguments}"
    return CommandScorer(command, tmp_path / "tasks.json", None, seconds, memory_mb).answer(file)


def test_scores_are_read_from_the_output_after_other_lines(tmp_path: Path):
    found = answer(tmp_path, "import sys; print('loading', sys.argv[2:]); print('{\"SR\": 0.5, \"note\": 1}')",
                   "{file} {tasks}")  # fmt: skip
    assert (found.how, found.scores) == ("scored", {"SR": 0.5})


def test_scores_are_read_from_the_file_that_the_scorer_writes(tmp_path: Path):
    program = "import sys; print('{\"SR\": 1}'); open(sys.argv[2], 'w').write('[{\"spl\": \"0.25\"}]')"
    assert answer(tmp_path, program, "{file} {out}").scores == {"SPL": 0.25}


def test_refusals_and_crashes_differ(tmp_path: Path):
    refused = answer(tmp_path, "import sys; print('no answers in it\\nwrite some', file=sys.stderr); sys.exit(1)")
    assert (refused.how, refused.reason) == ("refused", "no answers in it")
    crashed = answer(tmp_path, "{}['trajectory']")
    assert (crashed.how, crashed.reason) == ("crashed", "KeyError: 'trajectory'")
    killed = answer(tmp_path, "import os; os.kill(os.getpid(), 11)")
    assert (killed.how, killed.reason) == ("crashed", "signal SIGSEGV")
    assert answer(tmp_path, "print('done')") == Reply("scored", {}, "", pytest.approx(0, abs=20))


def test_a_scorer_that_takes_too_much_memory_is_stopped(tmp_path: Path):
    found = answer(tmp_path, "x = bytearray(1 << 30); print('{\"SR\": 1}')", memory_mb=300)
    assert (found.how, found.reason) == ("crashed", "MemoryError")


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes that leave their session are found on Linux"
)
def test_a_scorer_that_hangs_ends_with_all_that_it_started(tmp_path: Path):
    program = (
        "import os, subprocess, sys, time\n"
        "for own in (False, True):\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=own)\n"
        f"    open({str(tmp_path / 'pids')!r}, 'a').write(f'{{child.pid}} ')\n"
        "time.sleep(600)\n"
    )
    started = time.monotonic()
    found = answer(tmp_path, program, seconds=4)
    assert (found.how, found.reason) == ("timed out", "no answer within 4 s")
    assert time.monotonic() - started < 60
    for pid in (tmp_path / "pids").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes that leave their session are found on Linux"
)
def test_what_a_scorer_leaves_behind_is_ended(tmp_path: Path):
    program = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "print('{\"SR\": 0}')\n"
    )
    assert answer(tmp_path, program).scores == {"SR": 0.0}
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("score entry.json", "has no {file}: score entry.json"),
        ("score '{file}", "cannot be parsed: No closing quotation"),
        ("score {file} {worlds}", r"contains {worlds}: give worlds \(--worlds\)"),
        ("no-such-program {file}", "cannot be run: no-such-program: No such file or directory"),
    ],
)
def test_wrong_commands_are_refused(tmp_path: Path, command: str, message: str):
    with pytest.raises(BadArgument, match=message):
        CommandScorer(command, tmp_path, None).answer(tmp_path / "entry.json")


@pytest.mark.parametrize(
    ("output", "scores"),
    [
        ({"result": [{"val": {"Success Rate": 0.5}}, {"test": {"success_rate": 0.25}}]}, {"SR": 0.5}),
        ({"metrics": {"SR": {"mean": 0.5, "low": 0.25, "high": 0.75}}}, {"SR": 0.5}),
        ({"nDTW": "NaN", "SR": True, "spl": "high", "PL": 3.0}, {"nDTW": pytest.approx(float("nan"), nan_ok=True)}),
        ([1, [2, {"NE (m)": 10**400}]], {}),
        (None, {}),
    ],
)
def test_metrics_are_found_by_their_names(output: object, scores: dict[str, float]):
    assert find_scores(output) == scores
