"""`itinera reproduce`: makes a run or a score again from what its file tells, and compares."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument, BadFile, Fault, ItineraError

if TYPE_CHECKING:
    from itinera.records import Provenance

VERBS = ("run", "score")
# Options that name files to write, all replaced, and options that say nothing about the result.
WRITES = ("--out", "--rows")
SPARED = ("--workers",)
FLAGS = ("--restart", "--json", "--csv", "--markdown", "--latex")
SHOWN = 10


def reproduce(
    bundle: Annotated[Path, typer.Argument(help="Walks of `itinera run`, or a bundle of `itinera score --out`.")],
    trust: Annotated[bool, typer.Option("--trust", help="Let the command run code that is not ours.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes at work, for a run.")] = None,
    json: options.Json = False,
) -> None:
    """Repeat a run or a score with the command in its file, and compare every row.

    The inputs must still be what they were, by their digests, and lie where the command looks for them, so call this
    in the folder the command was called in. A command that runs somebody's agent is repeated only with --trust.
    Exit 1 if a row differs.

    Example: itinera reproduce walks.jsonl --trust
    """
    told = _provenance(bundle)
    command = _command(bundle, told)
    if not trust and runs_code(command):
        said = " ".join(command)
        raise BadArgument(
            f"{bundle} was made by: itinera {said}\nThat runs code which is not ours. Add --trust to allow it."
        )
    _check_inputs(bundle, told)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / bundle.name
        _repeat([*kept(command), "--out", str(made), *_workers(command, workers)])
        stored, found = _rows(bundle), _rows(made)
    different = [n for n in range(max(len(stored), len(found))) if stored[n : n + 1] != found[n : n + 1]]
    _remark_on_version(told)
    _print(bundle, len(stored), different, json=json)
    if different:
        raise typer.Exit(1)


def _provenance(bundle: Path) -> Provenance:
    from itinera.formats.native import read_header

    told = read_header(bundle).provenance
    if told is None or not told.command:
        problem = "does not tell the command it was made by."
        raise BadFile(
            str(bundle), [Fault("line 1", problem, "Only files of `itinera run` and `score` do.", "provenance")]
        )
    return told


def _command(bundle: Path, told: Provenance) -> list[str]:
    """The command without the program's name."""
    program, *command = told.command
    if program != "itinera" or not command or command[0] not in VERBS:
        problem = f"was made by {' '.join(told.command[:2])}, which cannot be repeated."
        remedy = f"What can: {', '.join(f'itinera {verb}' for verb in VERBS)}."
        raise BadFile(str(bundle), [Fault("line 1", problem, remedy, "provenance")])
    return command


def runs_code(command: Sequence[str]) -> bool:
    """Whether a command names an agent that is not one of ours, in any of the ways options can be written."""
    from itinera.cli.crews import AGENTS
    from itinera.policies.pretrained import model_file

    if command[0] != "run":
        return False
    if any(word.partition("=")[0] == "--agent-command" for word in command):
        return True
    named = [word.partition("=")[2] for word in command if word.startswith("--agent=")]
    named += [after for word, after in pairwise(command) if word == "--agent"]
    # Reading a model file runs nothing that is in it.
    return not named or any(name not in AGENTS and model_file(name) is None for name in named)


def kept(command: Sequence[str]) -> list[str]:
    """The command without options that say where to write, how to print and how many work."""
    words, skip = [], False
    for word in command:
        name, given, _ = word.partition("=")
        if skip:
            skip = False
        elif name in (*WRITES, *SPARED):
            skip = not given
        elif word not in FLAGS:
            words.append(word)
    return words


def _workers(command: Sequence[str], asked: int | None) -> list[str]:
    return ["--workers", str(asked)] if asked is not None and command[0] == "run" else []


def _check_inputs(bundle: Path, told: Provenance) -> None:
    from itinera.records.provenance import digest

    faults = []
    for role, name in told.inputs.items():
        if not Path(name).exists():
            faults.append(Fault("", f"{name} ({role}) is not here.", "Call this where the command was called."))
        elif digest(Path(name)) != told.digests.get(role):
            faults.append(Fault("", f"{name} ({role}) is not what it was.", "Find the file as it was."))
    if faults:
        raise BadFile(str(bundle), faults)


def _repeat(command: list[str]) -> None:
    # A process of its own, as it was the first time, that finds the modules this one finds.
    program = [sys.executable, "-m", "itinera.cli.main"]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([*program, *command], env=found, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ItineraError(f"The command could not be repeated: itinera {' '.join(command)}\n{done.stderr.strip()}")


def _rows(file: Path) -> list[bytes]:
    from itinera.formats.io import read_bytes

    return read_bytes(file).splitlines()[1:]


def _remark_on_version(told: Provenance) -> None:
    from itinera.records.provenance import itinera_version

    if told.version != itinera_version():
        output.remark(f"Made by itinera {told.version}, repeated by {itinera_version()}.")


def _print(bundle: Path, count: int, different: list[int], *, json: bool) -> None:
    if json:
        output.print_json({"file": str(bundle), "rows": count, "different": [n + 2 for n in different]})
    elif not different:
        typer.echo(f"{bundle}: made again; all {count} rows are the same.")
    else:
        lines = ", ".join(str(n + 2) for n in different[:SHOWN]) + (" …" if len(different) > SHOWN else "")
        typer.echo(f"{bundle}: made again; {len(different)} of {count} rows differ, in lines {lines}.")
