"""The `itinera` command itself: help, version, exit codes, and errors in plain words."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import tiny
from cli.conftest import Command
from itinera.cli.main import app, app_for
from itinera.formats.bundles import read_scores
from itinera.records.provenance import itinera_version

VERBS = [command.name for command in app.registered_commands]


def test_the_verbs_are_those_of_the_story() -> None:
    assert {"score", "compare", "convert", "check", "audit", "conformance", "power"} <= set(VERBS)


def test_help_names_every_verb_and_a_first_command(itinera: Command) -> None:
    for arguments in (("--help",), ("-h",)):
        outcome = itinera(*arguments)
        assert outcome.code == 0
        assert all(str(verb) in outcome.out for verb in VERBS)
        text = " ".join(outcome.out.split())
        assert "itinera score predictions.json" in text
        assert "Itinera evaluates vision-and-language navigation agents" in text


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_each_verb_gives_an_example(itinera: Command, verb: str) -> None:
    outcome = itinera(verb, "--help")
    assert outcome.code == 0
    assert f"Example: itinera {verb} " in " ".join(outcome.out.split())


def test_the_version_is_printed(itinera: Command) -> None:
    outcome = itinera("--version")
    assert outcome.code == 0
    assert outcome.out == f"itinera {itinera_version()}\n"


def test_quiet_keeps_back_remarks_and_no_results(files: tiny.Files, itinera: Command) -> None:
    walks = files.write("still.json", tiny.predictions({name: walk[0] for name, walk in tiny.WALKS.items()}))
    bundles = []
    for name, predictions in (("mine", files.predictions), ("still", walks)):
        bundles.append(files.folder / f"{name}.jsonl")
        assert itinera("--quiet", "score", predictions, *files.options, "--out", bundles[-1]).code == 0
    said, hushed = itinera("compare", *bundles, "--solved"), itinera("-q", "compare", *bundles, "--solved")
    assert "No episode was solved by every agent" in said.err
    assert (hushed.code, hushed.out, hushed.err) == (0, said.out, "")
    assert itinera("-q", "check", files.folder / "nowhere.json").err != ""
    assert itinera("compare", *bundles, "--solved").err == said.err


def test_a_quiet_command_is_told_as_any_other_and_can_be_repeated(files: tiny.Files, itinera: Command) -> None:
    bundle = files.folder / "mine.jsonl"
    assert itinera("-q", "score", files.predictions, *files.options, "--out", bundle).code == 0
    told = read_scores(bundle).provenance
    assert told is not None
    assert told.command[:2] == ("itinera", "score")
    assert itinera("reproduce", bundle).code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_is_told_how_to_complete(
    itinera_process: Command, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("_ITINERA_COMPLETE", f"source_{shell}")
    told = itinera_process()
    assert told.code == 0
    assert f"complete_{shell}" in told.out


def test_verbs_and_options_are_completed(itinera_process: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ITINERA_COMPLETE", "complete_bash")
    for line, expected in (
        ("itinera do", "doctor"),
        ("itinera data ve", "verify"),
        ("itinera score --mark", "--markdown"),
    ):
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
        assert itinera_process().out.split() == [expected]


@pytest.mark.parametrize(
    "arguments", [("scroe",), ("score",), ("score", "x", "--tasks"), ("compare",), ("power", "--x")]
)
def test_a_wrong_call_exits_with_2_and_says_so_on_stderr(itinera: Command, arguments: tuple[str, ...]) -> None:
    outcome = itinera(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "Error" in outcome.err or outcome.err.startswith("itinera: ")


def test_help_needs_neither_numpy_nor_the_network_of_imports() -> None:
    program = "import sys; from itinera.cli.main import app; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}).stdout.split()  # fmt: skip
    assert not {"numpy", "scipy", "numba", "msgspec"} & set(loaded)


def test_a_command_builds_its_own_verb_only() -> None:
    assert [command.name for command in app_for(["--quiet", "score", "run"]).registered_commands] == ["score"]
    assert [group.name for group in app_for(["study", "design"]).registered_groups] == ["study"]
    for words in ([], ["--help"], ["scores", "score"]):
        assert [command.name for command in app_for(words).registered_commands] == VERBS


SCORE_AND_LIST_MODULES = """
import sys
from itinera.__main__ import main
try:
    main()
except SystemExit as ended:
    assert not ended.code
print(*sorted(sys.modules), file=sys.stderr)
"""


def test_a_cold_score_imports_no_conversions_no_other_verbs_and_no_linear_algebra(files: tiny.Files) -> None:
    """They would take longer than the score itself."""
    command = [sys.executable, "-c", SCORE_AND_LIST_MODULES, "score", files.predictions, *files.options]
    for _ in range(2):  # the first one may have to compile kernels
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "itinera.cli.score" in loaded
    assert (
        not {"pydantic", "scipy.linalg", "numba.np.arraymath", "itinera.cli.run", "itinera.formats._kernels"} & loaded
    )


def test_plain_options_are_converted_as_typer_converts_them(files: tiny.Files, itinera: Command) -> None:
    said = itinera("score", files.predictions, *files.options)
    assert said.code == 0
    odd = files.folder / "Vorhersagen für später.json"  # not ASCII: left to typer
    odd.write_bytes(files.predictions.read_bytes())
    assert itinera("score", odd, *files.options).out == said.out.replace(files.predictions.name, odd.name)
    refused = itinera("score", odd, *files.options, "--vmax", "fast")
    assert (refused.code, "--vmax" in refused.err) == (2, True)
    missing = itinera("score", files.predictions)
    assert (missing.code, "'--tasks'" in missing.err) == (2, True)


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
        [sys.executable, "-m", "itinera", *arguments],
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
