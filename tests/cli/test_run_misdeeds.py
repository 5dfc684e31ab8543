"""Whatever an agent does wrong, in a worker or in a process of its own: told in its episode, and harmless to others."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

import tiny
from itinera.formats.native_predictions import read_predictions
from itinera.records import Ending

OUTSIDER = Path(__file__).parents[1] / "support" / "scripted_process.py"
OUTSIDE = shlex.join([sys.executable, "-I", "-S", str(OUTSIDER)])
LIMIT = 8  # seconds, also on a busy machine more than an episode of the others takes

# deed -> the reason in a worker, and in a process of its own; None where it does no harm
MISDEEDS = {
    "crash": ("ValueError: <object object at 0x…> is no good", "Last line of its stderr: ZeroDivisionError"),
    "leave": ("the process ended with exit code 3.", "The agent ended (exit code 3)."),
    "exit": ("SystemExit: enough", "The agent ended (exit code 1)."),
    "kill": ("the process was ended by SIGKILL.", "The agent ended (signal SIGKILL)."),
    "hang": (f"time limit: the episode took longer than {LIMIT} s.", "The agent did not answer within 3 s."),
    "nonsense": ("The agent chose 'left' (str)", "answered act with going left"),
    "nan": ("The agent chose nan (float)", 'answered act with {"action": NaN}'),
    "far": ("the actions here are 0 to 1.", "the actions here are 0 to 1."),
    "back": ("The agent chose action -1;", "The agent chose action -1;"),
    "print": ("the agent printed more than 1048576 bytes", "answered with more than 1048576 bytes"),
    "complain": ("the agent printed more than 1048576 bytes", "wrote more than 1048576 bytes to stderr"),
    "mutter": (None, None),
    "close": (None, "The agent closed its input."),
}


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_misdeeds_are_told_and_the_run_goes_on(itinera_process, files, tmp_path, where):
    """Every other episode is one in which nothing is wrong."""
    words = [word for deed in MISDEEDS for word in (deed, "stop")]
    tiny.written(files.tasks, [tiny.path(k, "house", "abc") | {"instructions": [word]} for k, word in enumerate(words)])
    who = {
        "inside": ["--agent", "scripted_agents:Obedient"],
        "outside": ["--agent-command", OUTSIDE, "--reply-seconds", 3],
    }[where]
    out = tmp_path / "predictions.jsonl"
    done = itinera_process(
        "run", *who, *files.options, "--out", out, "--workers", 2, "--limit-seconds", LIMIT, "--json"
    )
    assert done.code == 0, done.err
    reasons = [told[where == "outside"] for told in MISDEEDS.values()]
    assert done.json["failed"] == sum(reason is not None for reason in reasons)
    found = list(read_predictions(out).trajectories)
    assert [t.ending for t in found[1::2]] == [Ending.STOPPED] * len(MISDEEDS)
    for deed, reason, trajectory in zip(MISDEEDS, reasons, found[::2], strict=True):
        assert (trajectory.ending is Ending.FAILED) == (reason is not None), deed
        assert reason is None or reason in trajectory.notes["failed"], deed
    assert itinera_process("score", out, *files.options).code == 0


def test_what_an_agent_prints_in_this_very_process_is_kept_from_the_results(itinera, files, tmp_path):
    tiny.written(files.tasks, [tiny.path(0, "house", "abc") | {"instructions": ["mutter"]}])
    out = tmp_path / "predictions.jsonl"
    done = itinera("run", "--agent", "scripted_agents:Obedient", *files.options, "--out", out, "--workers", 0, "--json")
    assert done.json["stopped"] == 1
    assert "hm\n" in done.err
