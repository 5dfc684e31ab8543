"""The `itinera` command itself: help, version, exit codes, and errors in plain words."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import tiny
from cli.conftest import Command
from itinera.cli.main import app

VERBS = [command.name for command in app.registered_commands]


def test_the_verbs_are_those_of_the_story() -> None:
    assert {"score", "compare", "convert", "check", "audit", "conformance", "power"} <= set(VERBS)


def test_help_names_every_verb_and_a_first_command(itinera: Command) -> None:
    for arguments in (("--help",), ("-h",)):
        outcome = itinera(*arguments)
        assert outcome.code == 0
        assert all(str(verb) in outcome.out for verb in VERBS)
        assert "itinera score predictions.json" in " ".join(outcome.out.split())


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_each_verb_gives_an_example(itinera: Command, verb: str) -> None:
    outcome = itinera(verb, "--help")
    assert outcome.code == 0
    assert f"Example: itinera {verb} " in " ".join(outcome.out.split())


def test_the_version_is_printed(itinera: Command) -> None:
    outcome = itinera("--version")
    assert outcome.code == 0
    assert outcome.out.startswith("itinera ")


@pytest.mark.parametrize(
    "arguments", [("scroe",), ("score",), ("score", "x", "--tasks"), ("compare",), ("power", "--x")]
)
def test_a_wrong_call_exits_with_2_and_says_so_on_stderr(itinera: Command, arguments: tuple[str, ...]) -> None:
    outcome = itinera(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "Error" in outcome.err


def test_help_needs_neither_numpy_nor_the_network_of_imports() -> None:
    program = "import sys; from itinera.cli.main import app; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}).stdout.split()  # fmt: skip
    assert not {"numpy", "scipy", "numba", "msgspec"} & set(loaded)


def test_exit_codes_and_messages_of_a_real_process(files: tiny.Files, itinera_process: Command) -> None:
    bad = itinera_process("check", files.folder / "nowhere.json")
    assert (bad.code, bad.out) == (1, "")
    assert bad.err == f"itinera: {files.folder / 'nowhere.json'}: there is no such file.\n  Check the path.\n"
    wrong = itinera_process("score", files.predictions, *files.options, "--suite", "papers")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.endswith("not 'papers'. Did you mean paper?\n")


@pytest.mark.parametrize("arguments", [("convert", "--list"), ("power", "--json")])
def test_a_reader_that_leaves_early_hears_nothing(arguments: tuple[str, ...]) -> None:
    """As in `itinera convert --list | head -1`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "itinera.cli.main", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as stream:
        assert stream.read() == b""
    process.wait()
