"""No reader answers a mutated file with anything but its content or a refusal. The campaign is slow; see `fuzz.py`."""

from __future__ import annotations

import ast
import importlib.util
import signal
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import itinera
from adversary import fuzz
from adversary.readers import NOT_FUZZED, READERS

PACKAGE = Path(itinera.__file__).parent
INPUTS = 150
SLOW_READERS = ("policies.", "training.", "formats.scenes.")  # milliseconds for an input
ENGINE = "atheris" if importlib.util.find_spec("atheris") is not None else "plain"


@pytest.fixture
def alarm() -> Iterator[None]:
    earlier = signal.signal(signal.SIGALRM, fuzz.interrupt)
    yield
    signal.signal(signal.SIGALRM, earlier)


def public_readers() -> Iterator[str]:
    """The public functions of the package that are named read_…."""
    for file in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        if not file.name.startswith("_"):
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("read_"):
                    yield f"{module}.{node.name}"


def test_every_reader_is_fuzzed() -> None:
    fuzzed = {name.split(" (")[0] for name in READERS}
    found = set(public_readers())
    assert found - fuzzed - NOT_FUZZED.keys() == set()
    assert NOT_FUZZED.keys() <= found  # else an entry outlived its function
    assert not fuzzed & NOT_FUZZED.keys()
    assert len(fuzzed) >= 57


@pytest.mark.parametrize("name", READERS)
@pytest.mark.usefixtures("alarm")
def test_mutated_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    trial = fuzz.Trial(name, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trial.warm_up()
        report = fuzz.fuzz_plainly(trial, INPUTS // 5 if name.startswith(SLOW_READERS) else INPUTS, seed=0)
    assert report.findings == {}
    assert report.messages > 1 or name.endswith(("read_bytes", "read_head", "read_replay_page"))


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_campaign(name: str) -> None:
    report = fuzz.fuzz_in_process(name, 20_000, 0, ENGINE)
    assert report.findings == {}
    assert report.inputs == 20_000


@pytest.mark.usefixtures("alarm")
def test_errors_and_endless_loops_are_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> None:
        if path.read_bytes() == b"slow":
            while True:
                pass
        raise KeyError("odd")

    monkeypatch.setitem(READERS, "broken", replace(READERS["formats.io.read_bytes"], name="broken", read=read))
    monkeypatch.setattr(fuzz, "SECONDS", 0.01)
    monkeypatch.setattr(fuzz, "MEMORY", 1 << 60)  # that of other tests in this process is none of these findings
    trial = fuzz.Trial("broken", tmp_path, tmp_path / "findings")
    trial.run(b"x")
    trial.run(b"slow")
    assert [finding.split()[0] for finding in trial.finish().findings] == ["KeyError", "TooSlow"]
    assert sorted(file.read_bytes() for file in (tmp_path / "findings").iterdir()) == [b"slow", b"x"]


def test_a_process_that_ends_is_a_finding(tmp_path: Path) -> None:
    report = fuzz.fuzz_in_process("unknown", 1, 0, "plain")
    assert "ended with 1" in next(iter(report.findings))


def test_equal_seeds_give_equal_inputs() -> None:
    reader = READERS["formats.r2r.read_split"]
    first, second = ([reader.mutate(Random(7), seed) for seed in reader.seeds()] for _ in range(2))
    assert first == second
