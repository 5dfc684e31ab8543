"""Repeats a run or a score from the provenance of its file, and compares every row."""

from __future__ import annotations

import logging
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from itinera.errors import BadArgument, BadFile, Fault, ItineraError, escape_controls, shorten
from itinera.formats.io import read_bytes
from itinera.formats.native import read_header
from itinera.policies.pretrained import model_file
from itinera.records.provenance import PACKAGE, Provenance, digest, itinera_version
from itinera.records.shards import part_path
from itinera.runs.config import agent_names

VERBS = ("run", "score")
# Options that name files to write, all replaced, and options that do not change the result.
OUTPUT_OPTIONS = ("--out", "--rows")
NEUTRAL_OPTIONS = ("--workers",)
NEUTRAL_FLAGS = ("--overwrite", "--keep-going", "--json", "--csv", "--markdown", "--latex")


@dataclass(frozen=True)
class Reproduction:
    """The comparison of a file with its repetition."""

    file: str
    rows: int
    different: tuple[int, ...]  # line numbers of the file, its header being line 1

    @property
    def identical(self) -> bool:
        return not self.different


def reproduce(file: str | os.PathLike[str], *, trust: bool = False, workers: int | None = None) -> Reproduction:
    """Repeat the command that made a file, and compare every row; see `itinera.api.reproduce`."""
    bundle = Path(file)
    provenance = _read_provenance(bundle)
    command = _find_command(bundle, provenance)
    if not trust and runs_foreign_code(command):
        raise BadArgument(
            f"{bundle} was made by: itinera {format_command(command)}\n"
            "That runs code that is not part of itinera. Add --trust (trust=True) to allow it."
        )
    _check_inputs(bundle, provenance)
    more = ["--workers", str(workers)] if workers is not None and command[0] == "run" else []
    with tempfile.TemporaryDirectory() as folder:
        repeated = Path(folder) / bundle.name
        _repeat([*strip_options(command), "--out", str(repeated), *more], trust=trust)
        part = read_header(bundle).shard
        stored, found = _read_rows(bundle), _read_rows(part_path(repeated, None if part is None else part.shard))
    if provenance.version != itinera_version():
        logging.getLogger("itinera").info("Made by itinera %s, repeated by %s.", provenance.version, itinera_version())
    different = [n + 2 for n in range(max(len(stored), len(found))) if stored[n : n + 1] != found[n : n + 1]]
    return Reproduction(str(bundle), len(stored), tuple(different))


def _read_provenance(bundle: Path) -> Provenance:
    provenance = read_header(bundle).provenance
    if provenance is None or not provenance.command:
        problem = "does not contain the command that made it."
        remedy = "Only files of `itinera run` and `itinera score` do."
        raise BadFile(str(bundle), [Fault("line 1", problem, remedy, "provenance")])
    return provenance


def _find_command(bundle: Path, provenance: Provenance) -> list[str]:
    """The command without the program's name."""
    program, *command = provenance.command
    if program != "itinera" or not command or command[0] not in VERBS:
        problem = f"was made by {format_command(provenance.command[:2])}, which cannot be repeated."
        remedy = f"These can: {', '.join(f'itinera {verb}' for verb in VERBS)}."
        raise BadFile(str(bundle), [Fault("line 1", problem, remedy, "provenance")])
    return command


def format_command(command: Sequence[str]) -> str:
    """The words of a command as a shell would take them, on one line: what is asked about is what would run."""
    return shorten(escape_controls(shlex.join(command), one_line=True), 4000)


def runs_foreign_code(command: Sequence[str]) -> bool:
    """Whether a command names an agent that is not part of itinera, in any of the ways options can be written."""
    if command[0] != "run":
        return False
    if any(word.partition("=")[0] in ("--agent-command", "--policy") for word in command):
        return True
    named = [word.partition("=")[2] for word in command if word.startswith("--agent=")]
    named += [after for word, after in pairwise(command) if word == "--agent"]
    # Reading a model file runs nothing that is in it.
    return not named or any(name not in agent_names() and model_file(name) is None for name in named)


def strip_options(command: Sequence[str]) -> list[str]:
    """The command without options for output files, printing and the number of workers."""
    words, skip = [], False
    for word in command:
        name, equals, _ = word.partition("=")
        if skip:
            skip = False
        elif name in (*OUTPUT_OPTIONS, *NEUTRAL_OPTIONS):
            skip = not equals
        elif word not in NEUTRAL_FLAGS:
            words.append(word)
    return words


def _check_inputs(bundle: Path, provenance: Provenance) -> None:
    faults = []
    for role, name in provenance.inputs.items():
        if not Path(name).exists():
            faults.append(Fault("", f"{name} ({role}) is not here.", "Run this in the folder of the original command."))
        elif digest(Path(name)) != provenance.digests.get(role):
            faults.append(Fault("", f"{name} ({role}) has changed since.", "Restore the original file."))
    if faults:
        raise BadFile(str(bundle), faults)


def _repeat(command: list[str], *, trust: bool) -> None:
    # A fresh process, as it was the first time. -P: modules in the current folder do not stand for those of Python and
    # of installed packages; the modules of an agent are found there all the same, which needs trust.
    program = [sys.executable, "-P", "-m", "itinera"]
    path = sys.path if trust else _installed_path()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    done = subprocess.run([*program, *command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ItineraError(
            f"The command could not be repeated: itinera {format_command(command)}\n{done.stderr.strip()}"
        )


def _installed_path() -> list[str]:
    """Where this process finds modules, without the current folder."""
    here, package = Path.cwd(), PACKAGE.parent  # the package may be used from a checkout
    return [name for name in sys.path if Path(name).resolve() != here or here == package]


def _read_rows(file: Path) -> list[bytes]:
    return read_bytes(file).splitlines()[1:]
