"""`itinera train`: options, recipes, policies of one's own, resumed runs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import tiny
from cli.conftest import Command

CONFIG = ("word_dim=8", "text_dim=8", "visual_dim=8", "key_dim=8", "hidden_dim=8", "scorer_dim=8")
SMALL = tuple(word for value in CONFIG for word in ("--config", value))


def options(files: tiny.Files, name: str = "agent.safetensors") -> tuple[object, ...]:
    return (*files.options, "--batch-size", 2, "--steps", 4, "--out", files.folder / name)


def test_an_agent_is_trained_run_and_scored(files: tiny.Files, itinera: Command) -> None:
    validation = ("--validation", files.tasks, "--evaluate-every", 2, "--tensorboard", files.folder / "curves")
    done = itinera("train", "--policy", "rcm", *options(files), *SMALL, *validation)
    assert done.code == 0, done.err
    model = files.folder / "agent.safetensors"
    assert done.out.startswith(f"{model}: 4 steps, 5 episodes. Best SPL on R2R_tiny: ")
    lines = done.err.splitlines()
    assert lines[0].startswith("rcm: 4 steps on 5 episodes of R2R_tiny in 2 scenes; 0.0")
    assert lines[1] == f"Curves: tensorboard --logdir {files.folder / 'curves'}"
    assert any(line.startswith("rcm: 1 of 4 steps, loss ") and line.endswith("min left") for line in lines)
    assert any(line.startswith("rcm: 2 of 4 steps, R2R_tiny: SR ") and "–" in line for line in lines)
    assert list((files.folder / "curves").glob("events*"))
    found = itinera("train", "--policy", "rcm", *options(files), *SMALL, *validation, "--json")
    assert found.json["steps"] == 4
    assert found.json["best_step"] in (2, 4)
    assert "is complete already" in found.err
    out = files.folder / "predictions.jsonl"
    assert itinera("run", "--agent", model, *files.options, "--workers", 0, "--out", out).code == 0


def test_a_recipe_gives_the_options_and_the_command_line_replaces_them(files: tiny.Files, itinera: Command) -> None:
    keys = 'policy = "rcm"\ntasks = "R2R_tiny.json"\nworlds = "connectivity"\nsteps = 3\nbatch_size = 2\n'
    table = "[config]\n" + "\n".join(value.replace("=", " = ") for value in CONFIG) + "\n"
    recipe = files.write("recipe.toml", keys + 'out = "one.safetensors"\n' + table)
    assert itinera("train", recipe).out.startswith(f"{files.folder / 'one.safetensors'}: 3 steps")
    other = files.folder / "two.safetensors"
    assert itinera("train", recipe, "--seed", 1, "--out", other).code == 0
    typed = files.folder / "three.safetensors"
    assert itinera("train", "--policy", "rcm", *options(files, typed.name), *SMALL, "--steps", 3).code == 0
    assert (files.folder / "one.safetensors").read_bytes() == typed.read_bytes() != other.read_bytes()


def test_what_is_missing_or_wrong_is_said(files: tiny.Files, itinera: Command) -> None:
    missing = itinera("train", "--tasks", files.tasks)
    assert (missing.code, missing.out) == (2, "")
    assert "Give --policy, --worlds, --out, or a recipe that contains them." in missing.err
    wrong = itinera("train", "--policy", "rmc", *options(files))
    assert "Did you mean rcm?" in wrong.err
    recipe = itinera("train", files.write("recipe.toml", 'polcy = "rcm"\n'))
    assert recipe.code == 1
    assert "Did you mean policy?" in recipe.err
    assert "--config is NAME=VALUE" in itinera("train", "--policy", "rcm", *options(files), "--config", "8").err
    field = itinera("train", "--policy", "rcm", *options(files), "--config", "hiden_dim=8")
    assert "Did you mean hidden_dim?" in field.err


def test_a_policy_of_ones_own_is_trained_run_studied_and_never_imported_unnamed(
    files: tiny.Files, itinera: Command, itinera_process: Command
) -> None:
    named = ("--policy", "own_policy:GeometryPolicy")
    assert itinera("train", *named, *options(files)).code == 0
    model, out = files.folder / "agent.safetensors", files.folder / "predictions.jsonl"
    run = ("run", "--agent", model, *files.options, "--workers", 1, "--out", out)
    refused = itinera(*run)
    assert refused.code == 1
    assert "name it: --policy own_policy:GeometryPolicy" in refused.err
    done = itinera_process(*run, *named)
    assert done.code == 0, done.err
    assert itinera("check", "agent", model, *named).code == 0
    again = itinera("reproduce", out)
    assert again.code != 0
    assert "--trust" in again.err
    assert "does not apply to --policy" in itinera(*run, *named, "--isolate").err


def test_a_killed_training_says_where_it_resumes(files: tiny.Files, itinera: Command, monkeypatch) -> None:
    from itinera.training import train_agent, trainer

    schedule = trainer.Schedule
    monkeypatch.setattr(train_agent, "Schedule", lambda *args, **more: schedule(*args, **more, checkpoint_every=2))
    save, saved = trainer.save_checkpoint, []

    def save_then_stop(*arguments: object) -> None:
        save(*arguments)
        saved.append(arguments[2])
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "save_checkpoint", save_then_stop)
    stopped = itinera("train", "--policy", "rcm", *options(files), *SMALL)
    assert (stopped.code, saved) == (130, [2])
    assert "Interrupted after step 2 of 4. Run the same again to resume" in stopped.err
    monkeypatch.setattr(trainer, "save_checkpoint", save)
    done = itinera("train", "--policy", "rcm", *options(files), *SMALL)
    assert "rcm: resumed at step 2 of 4." in done.err
    assert itinera("train", "--policy", "rcm", *options(files, "whole.safetensors"), *SMALL).code == 0
    whole = files.folder / "whole.safetensors"
    assert (files.folder / "agent.safetensors").read_bytes() == whole.read_bytes()


def run_on_terminal(command: list[str], log: Path) -> str:
    """What a command writes to stderr if that is a terminal."""
    main, terminal = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "COLUMNS": "160"}
    with log.open("wb") as stdout:
        process = subprocess.Popen(command, stdout=stdout, stderr=terminal, env=environment)
    os.close(terminal)
    written = b""
    while True:
        try:
            part = os.read(main, 1 << 16)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        written += part
    os.close(main)
    assert process.wait() == 0, written.decode()
    return written.decode()


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_shows_a_bar_with_loss_and_scores_instead_of_lines(files: tiny.Files, quiet: bool) -> None:
    words = ["--quiet"] * quiet + ["train", "--policy", "rcm", *options(files), *SMALL]
    words += ["--validation", files.tasks, "--evaluate-every", 2]
    command = [sys.executable, "-m", "itinera", *map(str, words)]
    shown = run_on_terminal(command, files.folder / "stdout")
    if quiet:
        assert shown == ""
    else:
        assert "training  loss " in shown
        assert "  SPL " in shown
        assert "4/4" in shown
        assert "min left" not in shown
        assert "of 4 steps, R2R_tiny: SR" in shown  # scores stay on the screen
