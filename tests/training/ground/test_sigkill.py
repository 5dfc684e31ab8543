"""A process that trains on the ground is killed with SIGKILL in each phase; another one ends with the same weights."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("interruptible_ground.py")
# What the process prints last before it is killed: in teacher forcing, before and after roll-outs, and in DAgger.
MOMENTS = ("2 of 8 steps", "4 of 8 steps", "Iteration 1:", "6 of 8 steps", "Iteration 2:")


def run_until(season, out, moment):
    """The exit code of a process that is killed when it prints this, or never, and what it printed."""
    tests = Path(__file__).parents[2]
    paths = (str(tests), str(tests / "support"), *filter(None, (os.environ.get("PYTHONPATH"),)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(PROGRAM), str(season), str(out)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        printed = []
        for line in process.stderr:
            printed.append(line)
            if moment is not None and moment in line:
                process.kill()
                break
        return process.wait(), "".join(printed)


@pytest.mark.slow
def test_a_process_that_is_killed_in_each_phase_is_resumed_with_the_same_weights(season, tmp_path):
    whole, out = tmp_path / "whole.safetensors", tmp_path / "killed.safetensors"
    code, printed = run_until(season, whole, None)
    assert code == 0, printed
    for moment in MOMENTS:
        code, printed = run_until(season, out, moment)
        assert code == -9, printed
        assert not out.exists()
    code, printed = run_until(season, out, None)
    assert code == 0, printed
    assert out.read_bytes() == whole.read_bytes()
