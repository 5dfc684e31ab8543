"""Full disks, devices, closed streams, Ctrl-C and errors that nobody foresaw: a sentence and an exit code each."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import itinera as package
import tiny
from cli.conftest import Command
from itinera.errors import INVISIBLE

SOURCE = Path(package.__file__).parents[1]
PROGRAM = [sys.executable, "-m", "itinera"]


def run_process(
    arguments: Sequence[object], *, setup: Callable[[], object] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **options.pop("env", {})}
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(
        command, text=True, capture_output=True, env=environment, preexec_fn=setup, check=False, **options
    )


@pytest.fixture
def made(files: tiny.Files, itinera: Command) -> tiny.Files:
    assert itinera("score", files.predictions, *files.options, "--out", files.folder / "mine.jsonl").code == 0
    return files


WRITERS = [
    "score preds.json {options} --out {out}.jsonl",
    "score preds.json {options} --rows {out}.jsonl",
    "convert preds.json {out}.jsonl --to native-predictions",
    "convert connectivity {out}.zip --to connectivity",
    "report mine.jsonl --out {out}.html",
    "show preds.json {options} --out {out}.html",
    "build r4r {options} --out {out}.json",
    "build ablated --tasks R2R_tiny.json --rule none --out {out}.json",
    "run --agent still {options} --workers 0 --out {out}.jsonl",
]


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("place", ["/proc/none/out", "preds.json/out"])
def test_a_folder_that_cannot_be_written_is_named_in_a_sentence(
    made: tiny.Files,
    itinera: Command,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    place: str,
) -> None:
    monkeypatch.chdir(made.folder)
    options = "--tasks R2R_tiny.json --worlds connectivity"
    outcome = itinera(*command.format(options=options, out=place).split())
    assert outcome.code == 1
    assert re.search(rf"^itinera: {place}\S*: cannot be written", outcome.err, re.MULTILINE)


def fill_disk() -> None:
    """No file of this process can become larger than 100 bytes; the error differs from a full disk by its number."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.slow
@pytest.mark.parametrize("command", WRITERS)
def test_a_disk_that_is_full_is_named_in_a_sentence_and_nothing_is_left(made: tiny.Files, command: str) -> None:
    folder = made.folder / "out"
    folder.mkdir()
    options = "--tasks R2R_tiny.json --worlds connectivity"
    arguments = command.format(options=options, out="out/x").split()
    done = run_process(arguments, cwd=made.folder, setup=fill_disk, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 1
    assert re.search(r"^itinera: out/x\S*: cannot be written", done.stderr, re.MULTILINE)
    assert "Traceback" not in done.stderr
    assert not [file for file in folder.iterdir() if file.name.endswith(".part") or not file.name.startswith("x")]


@pytest.mark.parametrize("option", ["--out", "--rows"])
def test_a_device_that_is_full_stays_a_device(made: tiny.Files, itinera: Command, option: str) -> None:
    outcome = itinera("score", made.predictions, *made.options, option, "/dev/full")
    assert outcome.code == 1
    assert outcome.err.startswith("itinera: /dev/full: cannot be written (No space left on device).")
    assert Path("/dev/full").is_char_device()
    assert not Path("/dev/full.provenance.json").exists()


@pytest.mark.parametrize("arguments", [("--help",), ("power", "--json")])
def test_stdout_that_is_full_is_an_error_and_no_traceback(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


@pytest.mark.parametrize(
    "closed", [(1,), pytest.param((0,), marks=pytest.mark.slow), pytest.param((2,), marks=pytest.mark.slow), (0, 1, 2)]
)
def test_closed_streams_are_no_error(made: tiny.Files, closed: tuple[int, ...]) -> None:
    bundle = made.folder / "again.jsonl"
    done = run_process(
        ["score", made.predictions, *made.options, "--out", bundle], setup=lambda: [os.close(n) for n in closed]
    )
    assert done.returncode == 0
    assert bundle.read_bytes().count(b"\n") == 6


def test_a_folder_that_was_deleted_is_named_in_a_sentence(made: tiny.Files) -> None:
    gone = made.folder / "gone"
    gone.mkdir()

    def leave() -> None:
        os.chdir(gone)
        gone.rmdir()

    done = run_process(["convert", made.predictions, "out.jsonl", "--to", "native-predictions"], setup=leave)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert re.match(r"itinera: (The current folder does not exist|out.jsonl: cannot be written)", done.stderr)


@pytest.mark.slow
def test_kernels_are_loaded_where_no_folder_can_be_written(made: tiny.Files, tmp_path: Path) -> None:
    shutil.copytree(SOURCE / "itinera", tmp_path / "src" / "itinera", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [path for path in (tmp_path / "src").rglob("*") if path.is_dir()]:
        (folder / "__pycache__").write_bytes(b"")  # a file, where numba wants a folder
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {"PYTHONPATH": str(tmp_path / "src"), "HOME": "/proc/none", "TMPDIR": str(temporary)}
    environment |= {"XDG_CACHE_HOME": "/proc/none", "PYTHONDONTWRITEBYTECODE": "1"}
    done = run_process(["score", made.predictions, *made.options], env=environment)
    assert (done.returncode, done.stderr.count("fingerprint")) == (0, 1)
    assert list(temporary.iterdir()) == []
    assert [path.name for path in (tmp_path / "src").iterdir()] == ["itinera"]


IMPORTING = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
from itinera.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "itinera.cli.main", "numpy"])
def test_an_interrupt_while_importing_ends_in_one_line(made: tiny.Files, module: str) -> None:
    command = [sys.executable, "-c", IMPORTING.format(module=module), "score", made.predictions, *made.options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")


@pytest.mark.slow
def test_an_interrupt_at_any_moment_ends_without_a_traceback(made: tiny.Files) -> None:
    """Except while the interpreter itself starts, which takes longer than the import of the entry point."""
    rng = np.random.default_rng(5)
    marker = made.folder / "started"
    program = f"from itinera.__main__ import main\nopen({str(marker)!r}, 'w').close()\nmain()\n"
    command = [sys.executable, "-c", program, "score", *map(str, (made.predictions, *made.options))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    codes = []
    for delay in rng.uniform(0.005, 1.5, size=50):
        marker.unlink(missing_ok=True)
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        while not marker.exists():
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
        codes.append(process.returncode)
        assert "Traceback" not in stderr
    assert set(codes) <= {0, 130, -signal.SIGINT}
    assert 130 in codes


def test_an_unexpected_error_is_one_line_and_a_report(
    files: tiny.Files,
    itinera: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from itinera import api

    def fail(*arguments: object, **options: object) -> None:
        raise KeyError("\x1b[2J\u202e\n")

    monkeypatch.setattr(api, "score", fail)
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setattr("tempfile.tempdir", str(files.folder))
    outcome = itinera("score", files.predictions, *files.options)
    assert (outcome.code, outcome.out) == (70, "")
    assert len(outcome.err.splitlines()) == 1
    assert not INVISIBLE.search(outcome.err)
    (report,) = files.folder.glob("itinera-error-*.txt")
    assert str(report) in outcome.err
    text = report.read_text()
    assert "Traceback (most recent call last)" in text
    assert f"itinera {package.__version__}, Python 3" in text
    assert f"command: itinera score {files.predictions}" in text
    assert "hunter2" not in text
    assert report.stat().st_mode & 0o077 == 0


def test_an_unexpected_error_where_no_report_can_be_written(
    files: tiny.Files,
    itinera: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from itinera import api

    monkeypatch.setattr(api, "score", lambda *arguments, **options: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", "/proc/none")
    outcome = itinera("score", files.predictions, *files.options)
    assert outcome.code == 70
    assert "ZeroDivisionError: division by zero (its report could not be written" in outcome.err
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device", "x.json"), "x.json: cannot be read or written (No space left"),
        (OSError(5, "Input/output error"), "the output of this command: cannot be read or written (Input/output"),
        (MemoryError(), "There is not enough memory."),
        (ValueError("embedded null byte"), "A file name contains a NUL character."),
    ],
)
def test_troubles_of_the_machine_are_sentences(
    files: tiny.Files,
    itinera: Command,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    words: str,
) -> None:
    from itinera import api

    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(api, "score", fail)
    outcome = itinera("score", files.predictions, *files.options)
    assert (outcome.code, words in outcome.err) == (1, True)


SEEDED = [
    "run --agent still --tasks t --worlds w --out o",
    "compare a b",
    "report a --out o",
    "build r4r --tasks t --worlds w --out o",
    "build r8r --tasks t --worlds w --out o",
    "build tours --tasks t --worlds w --out o",
    "build ablated --tasks t --rule none --out o",
    "study design stop --tasks t --worlds w --out o",
    "study run --agent still --trials t --worlds w --out o",
    "study analyse t r",
    "fastest m --start 0,0,0 --goal 1,1",
]


@pytest.mark.parametrize("command", SEEDED)
def test_a_negative_seed_is_refused_before_anything_is_read(itinera: Command, command: str) -> None:
    outcome = itinera(*command.split(), "--seed", "-1")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--seed" in outcome.err


@pytest.mark.parametrize("command", ["view 3 --plan --out o.png", "build hearth --out o"])
def test_a_negative_season_is_refused(itinera: Command, command: str) -> None:
    outcome = itinera(*command.split(), "--season", "-1")
    assert (outcome.code, "must be ≥ 0 (got -1)" in outcome.err) == (2, True)
